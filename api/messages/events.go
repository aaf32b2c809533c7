package messages

import (
	"strconv"
)

// beginEvent appends the start of an event. Its other fields follow, then eventEnd.
func beginEvent(dst []byte, name string) []byte {
	dst = append(append(dst, "event: "...), name...)
	dst = append(append(dst, "\ndata: {\"type\":\""...), name...)

	return append(dst, '"')
}

// eventEnd ends an event: its JSON object and the blank line after it.
const eventEnd = "}\n\n"

// appendMessage appends the answer with some of its blocks.
func (w *Writer) appendMessage(dst []byte, blocks []*block) []byte {
	dst = append(append(append(dst, `{"id":"msg_`...), w.id...), `","type":"message","role":"assistant","model":`...)
	dst = append(appendString(dst, w.format.Model), `,"content":[`...)

	for i, b := range blocks {
		if i > 0 {
			dst = append(dst, ',')
		}
		text := b.text

		if b.kind == thoughtBlock && w.format.omit {
			text = nil
		}
		dst = b.append(dst, text)
	}
	dst = w.appendStop(append(dst, `],"stop_reason":`...))

	return append(w.appendUsage(append(dst, `,"usage":`...)), '}')
}

// appendStop appends the reason for the end of the answer, which is null before it, and the stop sequence.
func (w *Writer) appendStop(dst []byte) []byte {
	reason := `"end_turn"`

	switch {
	case w.finish == "" && w.usage == nil:
		reason = "null"
	case w.finish == "length":
		reason = `"max_tokens"`
	case w.finish == "content_filter":
		reason = `"refusal"`
	case len(w.calls) > 0:
		reason = `"tool_use"`
	case w.stop != "":
		reason = `"stop_sequence"`
	}
	dst = append(append(dst, reason...), `,"stop_sequence":`...)

	return appendStringOrNull(dst, w.stop)
}

// appendUsage appends the counts of tokens: those of the cache are not in input_tokens. Before the end of the answer
// the input is an estimate.
func (w *Writer) appendUsage(dst []byte) []byte {
	input, cached, written, output := w.format.Tokens, 0, 0, 0

	if u := w.usage; u != nil {
		if u.CachedTokens != nil {
			cached = min(*u.CachedTokens, u.PromptTokens)
		}

		if u.WrittenTokens != nil {
			written = min(*u.WrittenTokens, u.PromptTokens-cached)
		}
		input, output = u.PromptTokens-cached-written, u.CompletionTokens
	}
	dst = appendNumber(dst, `{"input_tokens":`, input)
	dst = appendNumber(dst, `,"cache_creation_input_tokens":`, written)
	dst = appendNumber(dst, `,"cache_read_input_tokens":`, cached)
	dst = appendNumber(dst, `,"output_tokens":`, output)

	if w.usage != nil && w.usage.ReasoningTokens != nil {
		dst = appendNumber(dst, `,"output_tokens_details":{"thinking_tokens":`, *w.usage.ReasoningTokens)
		dst = append(dst, '}')
	}

	if w.searches+w.fetches > 0 {
		dst = appendNumber(dst, `,"server_tool_use":{"web_search_requests":`, w.searches)
		dst = append(appendNumber(dst, `,"web_fetch_requests":`, w.fetches), '}')
	}

	return append(dst, `,"service_tier":"standard"}`...)
}

// appendNumber appends a member of a JSON object. field is what precedes the number, with its colon.
func appendNumber(dst []byte, field string, n int) []byte {
	return strconv.AppendInt(append(dst, field...), int64(n), 10)
}
