package responses

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// Writer writes one answer as server-sent events. It is not safe for concurrent use.
type Writer struct {
	format *Format
	// id is the part of all ids that is the same for every answer to a call.
	id string
	// sequence is the number of the next event. items are those of the output, in order.
	sequence int
	items    []*item
	// thought and text are the open items of reasoning and of text, nil for none. calls are the open calls by their
	// index.
	thought, text *item
	calls         []*item
	// texts counts the items of text, chars the characters before the open one.
	texts, chars int

	// finish is the reason for the end, "" before it. usage is nil until the chunk that has it.
	finish string
	usage  *inference.Usage
}

// Events returns the writer of the answer to a call. call is the id of the call: a repeated answer has the same item
// ids.
func (f *Format) Events(call string) *Writer {
	sum := sha256.Sum256([]byte(call))
	return &Writer{format: f, id: hex.EncodeToString(sum[:16])}
}

// Begin appends the events before the first chunk.
func (w *Writer) Begin(dst []byte) []byte {
	dst = w.appendLifecycle(dst, "response.created", "in_progress", nil)
	return w.Idle(dst)
}

// Idle appends the event that shows clients that the answer goes on. Some close a stream that has only comments.
func (w *Writer) Idle(dst []byte) []byte {
	return w.appendLifecycle(dst, "response.in_progress", "in_progress", nil)
}

// Append appends the events of a chunk. It ignores all answers but the first, because the API has only one.
func (w *Writer) Append(dst []byte, c *inference.Chunk) []byte {
	if c.Choice != 0 {
		return dst
	}

	if c.First && c.Model != "" {
		w.format.Model = c.Model
	}

	for i := range c.Listings {
		dst = w.addListing(dst, &c.Listings[i])
	}

	if c.Reasoning != "" {
		dst = w.addThought(dst, c.Reasoning)
	}

	switch {
	case c.Thought == nil:
	case c.Thought.Redacted != "":
		dst = w.addRedacted(dst, c.Thought)
	case w.thought != nil:
		w.thought.thought = c.Thought
		dst = w.closeThought(dst, "completed")
	}

	content, annotations := c.Content, []annotation(nil)
	if len(c.Extra) > 2 { // not an empty object
		refusal, cited := readExtra(c.Extra)
		content, annotations = content+refusal, cited
	}

	if content != "" || c.Logprobs != nil && w.format.logprobs {
		dst = w.addText(dst, content, c.Logprobs)
	}

	for _, a := range annotations {
		dst = w.addAnnotation(dst, a)
	}

	for _, call := range c.ToolCalls {
		dst = w.addCall(dst, call)
	}

	for i := range c.Executed {
		dst = w.addExecuted(dst, &c.Executed[i])
	}

	for i := range c.Approvals {
		dst = w.addApproval(dst, &c.Approvals[i])
	}

	if c.Finish != "" {
		w.finish = c.Finish
	}

	if c.Usage != nil {
		w.usage = c.Usage
	}

	return dst
}

// End appends the last events of a complete answer.
func (w *Writer) End(dst []byte) []byte {
	dst, status := w.closeAll(dst)
	return w.appendLifecycle(dst, "response."+status, status, nil)
}

// Fail appends the last event of an answer that fails. Open items stay as they are, marked as incomplete.
func (w *Writer) Fail(dst []byte, e *inference.Error) []byte {
	for _, it := range w.items {
		it.markIncomplete()
	}

	return w.appendLifecycle(dst, "response.failed", "failed", e)
}

// addThought adds a piece of reasoning.
func (w *Writer) addThought(dst []byte, text string) []byte {
	kind := reasoningText
	if w.format.summary {
		kind = reasoningSummary
	}

	if w.thought == nil {
		dst = w.closeText(dst, "completed")
		w.thought = w.newItem(kind, "rs_")
		text = strings.TrimPrefix(text, "\n\n") // the gateway separates the texts of rounds
		dst = w.appendAdded(dst, w.thought)
	}

	return w.appendDelta(dst, w.thought, text)
}

// redactedThought is reasoning that only the upstream can read.
type redactedThought struct {
	ID        string   `json:"id"`
	Type      string   `json:"type"`
	Status    string   `json:"status"`
	Summary   []string `json:"summary"` // empty
	Encrypted string   `json:"encrypted_content"`
}

// addRedacted adds a thought that only the upstream can read. Nothing of it can be shown, so clients receive it only
// if they ask for encrypted reasoning.
func (w *Writer) addRedacted(dst []byte, t *inference.Thought) []byte {
	if !w.format.encrypt {
		return dst
	}
	dst = w.closeText(w.closeThought(dst, "completed"), "completed")
	it := w.newItem(wholeItem, "rs_")
	it.thought = t
	it.setWhole(redactedThought{it.id, "reasoning", "completed", []string{}, w.seal(it)})
	dst = w.appendItemEvent(dst, "response.output_item.added", it)

	return w.appendItemEvent(dst, "response.output_item.done", it)
}

// addText adds a piece of the answer and the probabilities of its tokens.
func (w *Writer) addText(dst []byte, text string, logprobs json.RawMessage) []byte {
	if w.text == nil {
		dst = w.closeThought(dst, "completed")
		w.text = w.newItem(messageText, "msg_")

		// The gateway begins the text of a later round with a blank line. An item needs none, but the positions of
		// citations count it.
		if w.texts++; w.texts > 1 {
			whole := text
			text = strings.TrimPrefix(text, "\n\n")
			w.chars += len(whole) - len(text)
		}
		w.text.from = w.chars
		dst = w.appendAdded(dst, w.text)
	}
	w.chars += utf8.RuneCountInString(text)

	if logprobs != nil && w.format.logprobs {
		logprobs = tokensOf(logprobs)
	} else {
		logprobs = nil
	}

	return w.appendTextDelta(dst, text, logprobs)
}

// tokensOf returns the list of tokens in the probabilities of a chunk, without brackets.
func tokensOf(logprobs json.RawMessage) json.RawMessage {
	var lists struct {
		Content json.RawMessage `json:"content"`
	}

	if json.Unmarshal(logprobs, &lists) != nil || len(lists.Content) < 2 || lists.Content[0] != '[' {
		return nil
	}

	return lists.Content[1 : len(lists.Content)-1]
}

// addCall adds a piece of a call. Pieces of several calls may alternate.
func (w *Writer) addCall(dst []byte, d inference.ToolDelta) []byte {
	if d.Index == len(w.calls) {
		dst = w.closeText(w.closeThought(dst, "completed"), "completed")
		name := w.format.original(d.Name)

		kind, prefix := functionCall, "fc_"
		if name.custom {
			kind, prefix = customCall, "ctc_"
		}
		it := w.newItem(kind, prefix)
		it.callID, it.tool = d.ID, name
		w.calls = append(w.calls, it)
		dst = w.appendAdded(dst, it)
	}

	// A piece of a call whose beginning was not received cannot be used.
	if d.Index >= len(w.calls) || d.Arguments == "" {
		return dst
	}

	return w.appendDelta(dst, w.calls[d.Index], d.Arguments)
}

// newItem adds an open item to the answer.
func (w *Writer) newItem(kind *itemKind, prefix string) *item {
	n := strconv.Itoa(len(w.items))
	it := &item{kind: kind, id: prefix + w.id + n, index: len(w.items)}
	w.items = append(w.items, it)

	return it
}

// closeThought ends the open reasoning item, if there is one. It seals the reasoning if the client asked for that.
func (w *Writer) closeThought(dst []byte, status string) []byte {
	it := w.thought
	if it == nil {
		return dst
	}
	w.thought = nil

	if w.format.encrypt {
		it.sealed = w.seal(it)
	}

	return w.appendDone(dst, it, status)
}

// sealedThought begins encrypted reasoning that holds an inference.Thought. Other encrypted reasoning holds a text.
const sealedThought = "signed."

// seal returns the encrypted reasoning of an item, with the signature of the upstream if it has one.
func (w *Writer) seal(it *item) string {
	if it.thought == nil {
		return w.format.sealer.Seal(w.format.owner, string(it.text))
	}
	b, _ := json.Marshal(it.thought) // a struct of strings

	return sealedThought + w.format.sealer.Seal(w.format.owner, string(b))
}

// closeText ends the open message item, if there is one.
func (w *Writer) closeText(dst []byte, status string) []byte {
	it := w.text
	if it == nil {
		return dst
	}
	w.text = nil

	return w.appendDone(dst, it, status)
}

// closeAll closes the open items and returns the status of the answer.
func (w *Writer) closeAll(dst []byte) (_ []byte, status string) {
	status = "completed"
	if w.finish == "length" || w.finish == "content_filter" {
		status = "incomplete"
	}

	dst = w.closeText(w.closeThought(dst, status), status)
	for _, it := range w.calls {
		dst = w.appendDone(dst, it, status)
	}
	w.calls = nil

	return dst, status
}

// appendString is short for the function of package jsonbody.
func appendString(dst []byte, s string) []byte { return jsonbody.AppendString(dst, s) }
