package gateway

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"presswork/internal/inference"
	"presswork/internal/inference/reasoning"
)

// maxAnswer is the largest answer in bytes, with reasoning, arguments and other fields.
const maxAnswer = 16 << 20

// normaliser turns the deltas of one upstream into chunks. It puts reasoning where the format wants it and brings
// tool calls into one form. It is not safe for concurrent use.
type normaliser struct {
	format inference.ReasoningFormat
	split  reasoning.Splitter
	calls  calls
	emit   func(*inference.Chunk) error

	// keepText reports that the text is needed at the end, for JSON or for a failed_generation. holdContent reports that
	// the content is not emitted.
	keepText, holdContent bool
	text                  []byte
	// correction reports that the caller has received an earlier try of the answer. Reasoning, and content next to calls,
	// are not emitted a second time.
	correction bool
	// keepReasoning reports that reasoningText is needed as well, for the next round of an answer with built-in
	// tools.
	keepReasoning bool
	reasoningText []byte
	// thoughts are the signed parts of the reasoning, for the next round.
	thoughts []inference.Thought
	// thinkOpen reports that a <think> tag is open in raw format.
	thinkOpen bool
	// logprobs are the log probabilities of text that has not been emitted yet.
	logprobs json.RawMessage
	// separate reports that the upstream separates reasoning itself, so the content is not searched for it.
	separate bool
	answer   counts
	pieces   reasoning.Pieces
	finish   string
	// stops are the texts that may end the answer, stop is the one that did.
	stops []string
	stop  string
	usage *inference.RawUsage
}

// counts holds the size of an answer, for estimates: a number of deltas, and bytes in the other fields.
type counts struct {
	deltas, content, reasoning, arguments, extra int
}

// newNormaliser makes a normaliser for one answer to r. builtin lists the functions of built-in tools.
func newNormaliser(
	m *inference.Model,
	r *inference.Request,
	builtin []string,
	emit func(*inference.Chunk) error,
) *normaliser {
	n := &normaliser{
		format:   r.ReasoningFormat,
		split:    reasoning.New(m.Reasoning.Parser, r.ReasoningEffort != "none"),
		emit:     emit,
		stops:    r.Stop,
		keepText: r.Format.JSON() || len(r.Tools) > 0,
		// The continuation of a text has no marks that separate reasoning.
		separate: r.Text != nil,
	}
	if r.Logprobs || r.Text != nil {
		n.emit = n.withLogprobs(emit)
	}
	n.calls.single = r.ParallelToolCalls != nil && !*r.ParallelToolCalls
	n.calls.unchecked = r.DisableToolValidation
	n.calls.validation = m.ToolValidation
	n.calls.builtin, n.keepReasoning = builtin, len(builtin) > 0

	n.calls.held = m.ToolValidation == inference.ValidateFeedBack && !r.DisableToolValidation
	for _, t := range r.Offered() {
		n.calls.known = append(n.calls.known, t.Name)
	}

	return n
}

// push takes the next delta and emits the part of the answer that is certain.
func (n *normaliser) push(d *inference.Delta) error {
	n.count(d)

	if n.answer.content+n.answer.reasoning+n.answer.arguments+n.answer.extra > maxAnswer {
		return inference.Errorf(http.StatusBadGateway, inference.UpstreamError,
			"the model's answer has more than %d bytes", maxAnswer)
	}

	// Text that is held back is emitted later, in one chunk. Its log probabilities are emitted now, without text.
	if n.logprobs = inference.JoinFields(n.logprobs, d.Logprobs); n.holdContent && !n.correction && n.logprobs != nil {
		if err := n.emit(&inference.Chunk{}); err != nil {
			return err
		}
	}

	if d.Reasoning != "" {
		n.separate = true
		if err := n.emitReasoning(d.Reasoning); err != nil {
			return err
		}
	}

	if d.Thought != nil {
		if err := n.pushThought(d.Thought); err != nil {
			return err
		}
	}

	if d.Content != "" {
		if err := n.pushContent(d.Content); err != nil {
			return err
		}
	}

	for _, raw := range d.ToolCalls {
		if err := n.pushCall(raw); err != nil {
			return err
		}
	}

	if extra := n.publicFields(d.Extra); extra != nil && !n.correction {
		return n.emit(&inference.Chunk{Extra: extra})
	}

	return nil
}

// count adds a delta to the size of the answer, and keeps its finish reason and usage.
func (n *normaliser) count(d *inference.Delta) {
	if d.Content != "" || d.Reasoning != "" || len(d.ToolCalls) > 0 {
		n.answer.deltas++
	}

	n.answer.reasoning += len(d.Reasoning)
	for _, c := range d.ToolCalls {
		n.answer.arguments += len(c.Arguments)
	}
	n.answer.content += len(d.Content)

	n.answer.extra += len(d.Extra)
	if d.Finish != "" {
		n.finish = d.Finish
	}

	if slices.Contains(n.stops, d.StopSequence) {
		n.stop = d.StopSequence
	}

	if d.Usage != nil {
		n.usage = d.Usage
	}
}

// pushContent takes content of the upstream, which may have reasoning and tool calls in it.
func (n *normaliser) pushContent(text string) error {
	if n.separate {
		return n.emitContent(text)
	}
	n.split.Feed(text, &n.pieces)

	return n.emitPieces()
}

// emitPieces emits the pieces that the splitter has returned.
func (n *normaliser) emitPieces() error {
	list := n.pieces

	n.pieces = list[:0]
	for _, p := range list {
		var err error

		switch p.Kind {
		case reasoning.Reasoning:
			n.answer.reasoning += len(p.Text)
			n.answer.content -= len(p.Text)
			err = n.emitReasoning(p.Text)
		case reasoning.Call:
			raw := inference.RawToolDelta{Index: len(n.calls.list), Name: p.Name, Arguments: p.Text}
			if p.Name == "" {
				raw.Index-- // it continues the last call
			}
			err = n.pushCall(raw)
		default:
			err = n.emitContent(p.Text)
		}

		if err != nil {
			return err
		}
	}

	return nil
}

// emitReasoning emits reasoning in the place that the format asks for, or drops it.
func (n *normaliser) emitReasoning(text string) error {
	if n.keepReasoning {
		n.reasoningText = append(n.reasoningText, text...)
	}

	switch {
	case n.correction: // the caller has the reasoning of the first answer
	case n.format == inference.Parsed:
		return n.emit(&inference.Chunk{Reasoning: text})
	case n.format == inference.Raw:
		if !n.thinkOpen {
			n.thinkOpen = true
			text = reasoning.OpenTag + text
		}

		return n.emit(&inference.Chunk{Content: text})
	}
	n.logprobs = nil // they would reveal the reasoning

	return nil
}

// pushThought takes the signature of the reasoning before it. Callers get it only with the reasoning.
func (n *normaliser) pushThought(t *inference.Thought) error {
	n.separate = true
	n.thoughts = append(n.thoughts, *t)

	if n.format != inference.Parsed || n.correction {
		return nil
	}

	return n.emit(&inference.Chunk{Thought: t})
}

// withLogprobs adds the log probabilities to the chunk with their text.
func (n *normaliser) withLogprobs(emit func(*inference.Chunk) error) func(*inference.Chunk) error {
	return func(c *inference.Chunk) error {
		c.Logprobs, n.logprobs = n.logprobs, nil
		return emit(c)
	}
}

// emitContent emits text of the answer, unless it is held back.
func (n *normaliser) emitContent(text string) error {
	if n.keepText {
		n.text = append(n.text, text...)
	}

	if n.holdContent {
		return nil
	}

	return n.emit(&inference.Chunk{Content: n.closeThink() + text})
}

// closeThink returns the closing tag of reasoning in raw format, if a tag is open.
func (n *normaliser) closeThink() string {
	if !n.thinkOpen {
		return ""
	}
	n.thinkOpen = false

	return reasoning.CloseTag
}

// pushCall takes a piece of a tool call and emits what may be emitted of it.
func (n *normaliser) pushCall(raw inference.RawToolDelta) error {
	d, ok := n.calls.push(raw)
	if !ok {
		return nil
	}

	return n.emit(&inference.Chunk{Content: n.closeThink(), ToolCalls: []inference.ToolDelta{d}})
}

// publicFields returns the other fields of a delta without those that may hold reasoning which is hidden or shown
// elsewhere.
func (n *normaliser) publicFields(raw json.RawMessage) json.RawMessage {
	if raw == nil || n.format == inference.Parsed {
		return raw
	}

	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return n.reveals(name) })

	if len(fields) == 0 {
		return nil
	}
	out, _ := json.Marshal(fields) // the values are valid JSON

	return out
}

// reveals reports whether a field of a delta may hold reasoning that the caller must not see there. Every vendor has
// its own names for such fields, so the hidden format passes only fields that are known to be free of reasoning.
func (n *normaliser) reveals(field string) bool {
	if n.format == inference.Raw {
		return field == "reasoning_details" // the content holds the same text
	}

	switch field {
	case "annotations", "audio", "citations", "executed_tools", "images", "refusal":
		return false
	}

	return true
}

// finishAnswer emits the rest of the answer when the upstream has finished.
func (n *normaliser) finishAnswer() error {
	n.split.End(&n.pieces)

	if err := n.emitPieces(); err != nil {
		return err
	}

	if tag := n.closeThink(); tag != "" {
		if err := n.emit(&inference.Chunk{Content: tag}); err != nil {
			return err
		}
	}

	if more := n.calls.finish(); len(more) > 0 {
		if err := n.emit(&inference.Chunk{ToolCalls: more}); err != nil {
			return err
		}
	}

	if len(n.calls.list) > 0 && (n.finish == "stop" || n.finish == "") {
		n.finish = "tool_calls"
	}

	if n.finish == "" {
		n.finish = "stop"
	}

	return nil
}
