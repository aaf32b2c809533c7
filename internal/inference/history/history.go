// Package history collects the messages of a request in whose format calls, their results and reasoning stand apart.
// The formats are Responses and Messages. Upstreams need the form of chats: one message of the model with its reasoning
// and its calls, followed by the results. A [History] is filled in the order of the request; [History.Messages] returns
// the messages.
package history

import (
	"maps"
	"slices"
	"strings"

	"presswork/internal/inference"
)

// History collects messages. Pieces of the model between two messages of others become one message, because chat
// templates need that form. The zero value is not usable; New returns an empty History.
type History struct {
	messages []inference.Message
	// thoughts is the reasoning of a message by its index.
	thoughts map[int][]string
	// open has the ids of the calls without a result. All are in the message with the index calls.
	open  map[string]bool
	calls int
	// later are the messages that follow the results, although they were added before some of them.
	later []inference.Message
	// pictures are those of results. They follow the results in a message of the user, because a result is a text.
	pictures []inference.Part
}

// New returns an empty History.
func New() *History { return &History{thoughts: map[int][]string{}, open: map[string]bool{}} }

// Len returns the number of messages.
func (h *History) Len() int { return len(h.messages) }

// Messages returns the messages. Nothing may be added after it. Reasoning that nothing follows is left out, because it
// has no use.
func (h *History) Messages() []inference.Message {
	h.addPictures()

	for i, texts := range h.thoughts {
		h.messages[i].Reasoning = strings.Join(texts, "\n\n")
	}

	return slices.DeleteFunc(h.messages, func(m inference.Message) bool {
		return m.Role == inference.Assistant && len(m.Parts) == 0 && len(m.ToolCalls) == 0
	})
}

// Unanswered returns the id of a call without a result, "" if every call has one.
func (h *History) Unanswered() string {
	if len(h.open) == 0 {
		return ""
	}

	return slices.Sorted(maps.Keys(h.open))[0]
}

// Waits reports whether the call with this id has no result yet.
func (h *History) Waits(id string) bool { return h.open[id] }

// Add adds a message that is not the model's. Upstreams need the results of calls before it.
func (h *History) Add(m inference.Message) {
	if len(h.open) > 0 {
		h.later = append(h.later, m)
		return
	}
	h.addPictures()
	h.messages = append(h.messages, m)
}

// addPictures adds the pictures of results as a message of the user.
func (h *History) addPictures() {
	if len(h.pictures) > 0 {
		h.messages = append(h.messages, inference.Message{Role: inference.User, Parts: h.pictures})
		h.pictures = nil
	}
}

// Assistant returns the message to which the next piece of the model belongs. That is the message whose calls have no
// results yet, or the last one. The pointer is valid until the next call of a method.
func (h *History) Assistant() *inference.Message { return &h.messages[h.assistant()] }

// assistant returns the index of the assistant's message to which further parts belong. It adds a message if there is
// none.
func (h *History) assistant() int {
	if len(h.open) > 0 {
		return h.calls
	}

	if last := len(h.messages) - 1; last >= 0 && h.messages[last].Role == inference.Assistant {
		return last
	}
	h.Add(inference.Message{Role: inference.Assistant})

	return len(h.messages) - 1
}

// AddThought adds reasoning of the model.
func (h *History) AddThought(texts ...string) {
	i := h.assistant()
	h.thoughts[i] = append(h.thoughts[i], texts...)
}

// AddCall adds a call of the model. No other call with its id may wait for a result.
func (h *History) AddCall(call inference.ToolCall) {
	h.calls = h.assistant()
	h.open[call.ID] = true
	m := &h.messages[h.calls]
	m.ToolCalls = append(m.ToolCalls, call)
}

// AddSigned adds reasoning of the model that its upstream has signed.
func (h *History) AddSigned(t inference.Thought) {
	if t.Text != "" {
		h.AddThought(t.Text)
	}
	m := h.Assistant()
	m.Thoughts = append(m.Thoughts, t)
}

// AddResult adds the result of a call that waits for it.
func (h *History) AddResult(m inference.Message) {
	delete(h.open, m.ToolCallID)
	parts := m.Parts
	m.Role, m.Parts = inference.ToolRole, nil

	for _, part := range parts {
		if part.Image != nil {
			h.pictures = append(h.pictures, part)
		} else {
			m.Parts = append(m.Parts, part)
		}
	}

	// Servers reject a result without content, so an empty one gets an empty text.
	if len(m.Parts) == 0 {
		m.Parts = []inference.Part{{Text: ""}}
	}
	h.messages = append(h.messages, m)

	if len(h.open) == 0 {
		for _, m := range h.later {
			h.Add(m)
		}
		h.later = nil
	}
}
