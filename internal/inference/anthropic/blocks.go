package anthropic

import (
	"encoding/json"

	"presswork/internal/inference"
	"presswork/internal/inference/upstream"
)

// maxBlocks bounds the blocks of an answer. The decoder keeps the state of each until the answer ends.
const maxBlocks = 4096

// begin opens a block and emits what it has already.
func (d *decoder) begin(index int, b contentBlock) error {
	if len(d.open) == maxBlocks {
		return upstream.Unreadable("it has too many blocks")
	}
	open := &openBlock{contentBlock: b}
	d.open[index] = open

	switch b.Type {
	case "text":
		if err := d.emit(&inference.Delta{Content: b.Text}); err != nil {
			return err
		}

		for _, c := range b.Citations {
			if err := d.cite(c); err != nil {
				return err
			}
		}

		return nil
	case "thinking":
		open.thought.WriteString(b.Thinking)
		return d.emit(&inference.Delta{Reasoning: b.Thinking})
	case "redacted_thinking":
		t := &inference.Thought{Redacted: b.Data}
		return d.emit(&inference.Delta{Thought: t, Extra: thinkingBlocks(t)})
	case "tool_use":
		open.call = d.calls
		d.calls++

		return d.emit(&inference.Delta{
			ToolCalls: []inference.RawToolDelta{{Index: open.call, ID: b.ID, Name: b.Name}},
		})
	}

	// A block of another type, such as a server's own tool, only shows that the upstream is alive.
	return d.emit(&inference.Delta{})
}

// extend emits a piece of a block.
func (d *decoder) extend(b *openBlock, piece *delta) error {
	switch piece.Type {
	case "text_delta":
		return d.emit(&inference.Delta{Content: piece.Text})
	case "thinking_delta":
		b.thought.WriteString(piece.Thinking)
		return d.emit(&inference.Delta{Reasoning: piece.Thinking})
	case "signature_delta":
		b.Signature += piece.Signature
	case "input_json_delta":
		if b.Type == "tool_use" && piece.Partial != "" {
			b.hasInput = true

			return d.emit(&inference.Delta{
				ToolCalls: []inference.RawToolDelta{{Index: b.call, Arguments: piece.Partial}},
			})
		}
	case "citations_delta":
		if upstream.IsSet(piece.Citation) {
			return d.cite(piece.Citation)
		}
	}
	// A delta without content shows the gateway that the upstream is alive.

	return d.emit(&inference.Delta{})
}

// cite emits a citation of the last text.
func (d *decoder) cite(citation json.RawMessage) error {
	extra, err := json.Marshal(map[string][]json.RawMessage{"citations": {citation}})
	if err != nil {
		return err
	}

	return d.emit(&inference.Delta{Extra: extra})
}

// end closes a block. A thought then has its signature, and a call without pieces its arguments.
func (d *decoder) end(index int) error {
	b := d.open[index]
	if b == nil {
		return nil
	}

	switch {
	case b.Type == "thinking" && b.Signature != "":
		// Emit a thought once, even if the upstream ends its block twice.
		t := &inference.Thought{Text: b.thought.String(), Signature: b.Signature}
		d.open[index] = &openBlock{}

		return d.emit(&inference.Delta{Thought: t, Extra: thinkingBlocks(t)})
	// The input of a streamed call begins as {} and follows in pieces. A longer one is complete.
	case b.Type == "tool_use" && !b.hasInput && len(b.Input) > 2:
		b.hasInput = true

		return d.emit(&inference.Delta{
			ToolCalls: []inference.RawToolDelta{{Index: b.call, Arguments: string(b.Input)}},
		})
	}

	return nil
}

// thinkingBlocks returns the field in which clients of chat completions receive a signed thought, and send it back.
func thinkingBlocks(t *inference.Thought) json.RawMessage {
	b, _ := json.Marshal(map[string][]any{"thinking_blocks": {blockOfThought(*t)}}) // structs of strings

	return b
}

// finish emits the reason for the end and the usage. An event without a reason only updates the usage.
func (d *decoder) finish(stop, sequence string, u usage) error {
	d.usage.replace(u)

	if stop == "" {
		return d.emit(&inference.Delta{})
	}
	reason := upstream.FinishReason(stop)

	if reason == "" {
		return upstream.EndedEarly(stop)
	}
	d.finished = true

	return d.emit(&inference.Delta{Finish: reason, StopSequence: sequence, Usage: d.usage.raw()})
}

// replace takes the counts that another event has.
func (u *usage) replace(o usage) {
	for _, count := range []struct{ own, other **float64 }{
		{&u.Input, &o.Input},
		{&u.Written, &o.Written},
		{&u.Read, &o.Read},
		{&u.Output, &o.Output},
		{&u.Details.Thinking, &o.Details.Thinking},
	} {
		if *count.other != nil {
			*count.own = *count.other
		}
	}
}

// raw returns the usage, nil without counts. The upstream's input excludes what it read from its cache or wrote to it.
func (u *usage) raw() *inference.RawUsage {
	total := func(counts ...*float64) (sum int) {
		for _, n := range counts {
			if n != nil {
				sum += upstream.Count(*n)
			}
		}

		return sum
	}
	r := &inference.RawUsage{
		PromptTokens: total(u.Input, u.Written, u.Read), CompletionTokens: total(u.Output),
		CachedTokens: upstream.CountOrNil(u.Read), WrittenTokens: upstream.CountOrNil(u.Written),
		ReasoningTokens: upstream.CountOrNil(u.Details.Thinking),
	}

	if r.PromptTokens+r.CompletionTokens == 0 {
		return nil
	}

	return r
}
