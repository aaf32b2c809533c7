package anthropic

import (
	"encoding/json"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/lazyregexp"
)

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type imageBlock struct {
	Type   string `json:"type"`
	Source source `json:"source"`
}

type source struct {
	Type  string `json:"type"`
	Media string `json:"media_type,omitempty"`
	Data  string `json:"data,omitempty"`
	URL   string `json:"url,omitempty"`
}

type thoughtBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type redactedBlock struct {
	Type string `json:"type"`
	Data string `json:"data"`
}

type callBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type resultBlock struct {
	Type    string `json:"type"`
	ID      string `json:"tool_use_id"`
	Content []any  `json:"content,omitempty"`
	Failed  bool   `json:"is_error,omitempty"`
}

// isBlank reports whether a text has only white space. The API rejects such blocks.
func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// addMessages adds the system prompt and the conversation. The API wants the messages of users and of the model in
// turn, a user's first, so neighbours of one role become one message. Later system messages become the user's.
func (b *body) addMessages(r *inference.Request) error {
	for i, m := range r.Messages {
		blocks, err := blocksOf(m)
		if err != nil {
			return err
		}

		switch instructs := m.Role == inference.System || m.Role == inference.Developer; {
		case len(blocks) == 0:
		// A system message at the end becomes the user's: the API rejects a request with instructions alone.
		case instructs && len(b.Messages) == 0 && i < len(r.Messages)-1:
			b.System = append(b.System, blocks...)
		case m.Role == inference.Assistant:
			// The API rejects a conversation that begins with the model, so a short message of the user precedes it.
			if len(b.Messages) == 0 {
				b.add(inference.User, textBlock{"text", "Continue."})
			}
			b.add(inference.Assistant, blocks...)
		default:
			b.add(inference.User, blocks...)
		}
	}

	if b.Messages == nil {
		b.add(inference.User, textBlock{"text", "Continue."})
	}

	return nil
}

// add adds blocks to the last message if it has the role, else to a new one.
func (b *body) add(role string, blocks ...any) {
	last := len(b.Messages) - 1
	if last < 0 || b.Messages[last].Role != role {
		b.Messages, last = append(b.Messages, message{Role: role}), last+1
	}
	b.Messages[last].Content = append(b.Messages[last].Content, blocks...)
}

// blocksOf returns the blocks of a message: thoughts, content, calls. A message with the result of a call is one block.
func blocksOf(m inference.Message) ([]any, error) {
	var blocks []any

	for _, t := range m.Thoughts {
		blocks = append(blocks, blockOfThought(t))
	}

	for _, p := range m.Parts {
		block, err := blockOf(p)
		if err != nil {
			return nil, err
		}

		if block != nil {
			blocks = append(blocks, block)
		}
	}

	for _, c := range m.ToolCalls {
		block, err := withFields(callBlock{"tool_use", validID(c.ID), c.Name, inputOf(c.Arguments)}, c.Fields)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, block)
	}

	if m.Role == inference.ToolRole {
		block, err := withFields(resultBlock{"tool_result", validID(m.ToolCallID), blocks, m.Failed}, m.Fields)
		return []any{block}, err
	}

	return blocks, nil
}

func blockOfThought(t inference.Thought) any {
	if t.Redacted != "" {
		return redactedBlock{"redacted_thinking", t.Redacted}
	}

	return thoughtBlock{"thinking", t.Text, t.Signature}
}

// blockOf returns the block of a part, nil for a blank text.
func blockOf(p inference.Part) (any, error) {
	switch {
	case p.Block != nil:
		return p.Block, nil
	case p.Image != nil:
		return withFields(imageBlock{"image", sourceOf(p.Image.URL)}, p.Fields)
	case isBlank(p.Text):
		return nil, nil
	}

	return withFields(textBlock{"text", p.Text}, p.Fields)
}

// sourceOf returns where an image is: in a data URI, or at an address.
func sourceOf(uri string) source {
	head, data, inline := strings.Cut(uri, ";base64,")
	if media, isData := strings.CutPrefix(head, "data:"); inline && isData {
		return source{Type: "base64", Media: media, Data: data}
	}

	return source{Type: "url", URL: uri}
}

// inputOf returns the arguments of a call as an object, because the API accepts nothing else. Text that is not a JSON
// object becomes the member "arguments".
func inputOf(arguments string) json.RawMessage {
	var object map[string]json.RawMessage

	switch err := json.Unmarshal([]byte(arguments), &object); {
	case isBlank(arguments), err == nil && object == nil:
		return json.RawMessage("{}")
	case err != nil:
		b, _ := json.Marshal(map[string]string{"arguments": arguments}) // a map of strings
		return b
	}

	return json.RawMessage(arguments)
}

// invalidID matches what ids of calls may not have.
var invalidID = lazyregexp.New(`[^A-Za-z0-9_-]`)

// validID replaces the characters that the API rejects. Chat completions allow any id. A call and its result have the
// same id, so they still match.
func validID(id string) string { return invalidID().ReplaceAllString(id, "_") }
