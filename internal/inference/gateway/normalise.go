package gateway

import (
	"encoding/json"
	"maps"
	"net/http"

	"presswork/internal/inference"
	"presswork/internal/inference/reasoning"
)

// maxAnswer is the largest answer, reasoning, arguments and other fields
// included, in bytes.
const maxAnswer = 16 << 20

// normaliser makes chunks of one upstream's deltas: reasoning where the format
// wants it, tool calls in one form. It is for one goroutine.
type normaliser struct {
	format inference.ReasoningFormat
	split  reasoning.Splitter
	calls  calls
	emit   func(*inference.Chunk) error

	// keep is whether the text is needed at the end, for JSON or for a
	// failed_generation; hold keeps the content from being emitted at all.
	keep, hold bool
	text       []byte
	// quiet is whether the caller has read an earlier try of the same answer: reasoning,
	// and content next to calls, are not emitted a second time.
	quiet bool
	// recall is whether the reasoning is needed, too: for the next round of an
	// answer with built-in tools.
	recall  bool
	thought []byte
	// thinking is whether a <think> tag is open in raw format.
	thinking bool
	// logprobs are those of text that was not emitted yet.
	logprobs json.RawMessage
	fieldEnd bool // the reasoning field has spoken: content is not searched
	answer   counts
	pieces   reasoning.Pieces
	finish   string
	usage    *inference.RawUsage
}

// counts is what came of an answer, for estimates.
type counts struct {
	deltas, content, reasoning, arguments, extra int // deltas; bytes
}

// newNormaliser makes a normaliser for one answer to r. builtin lists the functions of
// built-in tools.
func newNormaliser(
	m *inference.Model,
	r *inference.Request,
	builtin []string,
	emit func(*inference.Chunk) error,
) *normaliser {
	n := &normaliser{
		format: r.ReasoningFormat,
		split:  reasoning.New(m.Reasoning.Parser, r.ReasoningEffort != "none"),
		emit:   emit,
		keep:   r.Format.JSON() || len(r.Tools) > 0,
		// A text has no form that reasoning could be found by.
		fieldEnd: r.Text != nil,
	}
	if r.Logprobs || r.Text != nil {
		n.emit = n.withLogprobs(emit)
	}
	n.calls.single = r.ParallelToolCalls != nil && !*r.ParallelToolCalls
	n.calls.unchecked = r.DisableToolValidation
	n.calls.validation = m.ToolValidation
	n.calls.builtin, n.recall = builtin, len(builtin) > 0

	n.calls.held = m.ToolValidation == inference.ValidateFeedBack && !r.DisableToolValidation
	for _, t := range r.Offered() {
		n.calls.known = append(n.calls.known, t.Name)
	}

	return n
}

// push takes the next delta and emits what is certain by now.
func (n *normaliser) push(d *inference.Delta) error {
	n.count(d)

	if n.answer.content+n.answer.reasoning+n.answer.arguments+n.answer.extra > maxAnswer {
		return inference.Errorf(
			http.StatusBadGateway,
			inference.UpstreamError,
			"the model's answer has more than %d bytes",
			maxAnswer,
		)
	}

	if n.logprobs = inference.JoinFields(n.logprobs, d.Logprobs); n.hold && !n.quiet && n.logprobs != nil {
		if err := n.emit(&inference.Chunk{}); err != nil {
			return err
		}
	}

	if d.Reasoning != "" {
		n.fieldEnd = true
		if err := n.reason(d.Reasoning); err != nil {
			return err
		}
	}

	if d.Content != "" {
		if err := n.content(d.Content); err != nil {
			return err
		}
	}

	for _, raw := range d.ToolCalls {
		if err := n.call(raw); err != nil {
			return err
		}
	}

	if extra := n.extra(d.Extra); extra != nil && !n.quiet {
		return n.emit(&inference.Chunk{Extra: extra})
	}

	return nil
}

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

	if d.Usage != nil {
		n.usage = d.Usage
	}
}

func (n *normaliser) content(text string) error {
	if n.fieldEnd {
		return n.say(text)
	}
	n.split.Feed(text, &n.pieces)

	return n.flush()
}

// flush emits what the splitter made.
func (n *normaliser) flush() error {
	list := n.pieces

	n.pieces = list[:0]
	for _, p := range list {
		var err error

		switch p.Kind {
		case reasoning.Reasoning:
			n.answer.reasoning += len(p.Text)
			n.answer.content -= len(p.Text)
			err = n.reason(p.Text)
		case reasoning.Call:
			raw := inference.RawToolDelta{Index: len(n.calls.list), Name: p.Name, Arguments: p.Text}
			if p.Name == "" {
				raw.Index--
			}
			err = n.call(raw)
		default:
			err = n.say(p.Text)
		}

		if err != nil {
			return err
		}
	}

	return nil
}

func (n *normaliser) reason(text string) error {
	if n.recall {
		n.thought = append(n.thought, text...)
	}

	switch {
	case n.quiet:
	case n.format == inference.Parsed:
		return n.emit(&inference.Chunk{Reasoning: text})
	case n.format == inference.Raw:
		if !n.thinking {
			n.thinking = true
			text = reasoning.OpenTag + text
		}

		return n.emit(&inference.Chunk{Content: text})
	}
	n.logprobs = nil // they would show it

	return nil
}

// withLogprobs puts log probabilities on the chunk with their text.
func (n *normaliser) withLogprobs(emit func(*inference.Chunk) error) func(*inference.Chunk) error {
	return func(c *inference.Chunk) error {
		c.Logprobs, n.logprobs = n.logprobs, nil
		return emit(c)
	}
}

// say emits answer text.
func (n *normaliser) say(text string) error {
	if n.keep {
		n.text = append(n.text, text...)
	}

	if n.hold {
		return nil
	}

	return n.emit(&inference.Chunk{Content: n.closeThink() + text})
}

func (n *normaliser) closeThink() string {
	if !n.thinking {
		return ""
	}
	n.thinking = false

	return reasoning.CloseTag
}

func (n *normaliser) call(raw inference.RawToolDelta) error {
	d, ok := n.calls.push(raw)
	if !ok {
		return nil
	}

	return n.emit(&inference.Chunk{Content: n.closeThink(), ToolCalls: []inference.ToolDelta{d}})
}

// extra leaves out what would show reasoning that is hidden or shown elsewhere.
func (n *normaliser) extra(raw json.RawMessage) json.RawMessage {
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
	out, _ := json.Marshal(fields)

	return out
}

// reveals reports whether a field of a delta may hold reasoning that the caller must not
// get there. Every vendor has names of its own for such fields, so hidden lets only
// fields pass that are known to hold none.
func (n *normaliser) reveals(field string) bool {
	if n.format == inference.Raw {
		return field == "reasoning_details" // what it holds is in the content
	}

	switch field {
	case "annotations", "audio", "citations", "executed_tools", "images", "refusal":
		return false
	}

	return true
}

// end emits what is left when the upstream has finished.
func (n *normaliser) end() error {
	n.split.End(&n.pieces)

	if err := n.flush(); err != nil {
		return err
	}

	if tag := n.closeThink(); tag != "" {
		if err := n.emit(&inference.Chunk{Content: tag}); err != nil {
			return err
		}
	}

	if more := n.calls.end(); len(more) > 0 {
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
