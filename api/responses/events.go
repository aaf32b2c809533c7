package responses

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// beginEvent appends the start of an event. Its other fields follow, then eventEnd.
func (w *Writer) beginEvent(dst []byte, name string) []byte {
	dst = append(append(dst, "event: "...), name...)
	dst = append(append(dst, "\ndata: {\"type\":\""...), name...)
	dst = strconv.AppendInt(append(dst, `","sequence_number":`...), int64(w.sequence), 10)
	w.sequence++

	return dst
}

// eventEnd ends an event: its JSON object and the blank line after it.
const eventEnd = "}\n\n"

// appendLifecycle appends an event about the whole answer.
func (w *Writer) appendLifecycle(dst []byte, name, status string, e *inference.Error) []byte {
	dst = append(w.beginEvent(dst, name), `,"response":`...)
	return append(w.appendResponse(dst, status, e), eventEnd...)
}

// appendResponse appends the answer as it is now.
func (w *Writer) appendResponse(dst []byte, status string, e *inference.Error) []byte {
	f := w.format
	dst = append(append(append(dst, `{"id":"resp_`...), w.id...), `","object":"response","created_at":`...)
	dst = strconv.AppendInt(dst, f.Created.Unix(), 10)
	dst = appendString(append(dst, `,"status":`...), status)
	dst = append(dst, `,"completed_at":`...)

	if status == "completed" && w.usage != nil {
		took := time.Duration((w.usage.QueueTime + w.usage.TotalTime) * float64(time.Second))
		dst = strconv.AppendInt(dst, f.Created.Add(took).Unix(), 10)
	} else {
		dst = append(dst, "null"...)
	}
	dst = appendFailure(append(dst, `,"error":`...), e)
	dst = append(dst, `,"incomplete_details":`...)

	switch {
	case status != "incomplete":
		dst = append(dst, "null,"...)
	case w.finish == "content_filter":
		dst = append(dst, `{"reason":"content_filter"},`...)
	default:
		dst = append(dst, `{"reason":"max_output_tokens"},`...)
	}
	dst = append(dst, f.options...)
	dst = appendString(append(dst, `"model":`...), f.Model)
	dst = append(dst, `,"output":[`...)

	for i, it := range w.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = it.append(dst)
	}

	return append(appendUsage(append(dst, `],"usage":`...), w.usage), '}')
}

// appendUsage appends the counts of tokens. Clients need all fields, so unknown details are 0.
func appendUsage(dst []byte, u *inference.Usage) []byte {
	if u == nil {
		return append(dst, "null"...)
	}
	var cached, written, reasoning int

	if u.CachedTokens != nil {
		cached = *u.CachedTokens
	}

	if u.WrittenTokens != nil {
		written = *u.WrittenTokens
	}

	if u.ReasoningTokens != nil {
		reasoning = *u.ReasoningTokens
	}
	dst = strconv.AppendInt(append(dst, `{"input_tokens":`...), int64(u.PromptTokens), 10)
	dst = strconv.AppendInt(append(dst, `,"input_tokens_details":{"cached_tokens":`...), int64(cached), 10)
	dst = strconv.AppendInt(append(dst, `,"cache_write_tokens":`...), int64(written), 10)
	dst = strconv.AppendInt(append(dst, `},"output_tokens":`...), int64(u.CompletionTokens), 10)
	dst = strconv.AppendInt(append(dst, `,"output_tokens_details":{"reasoning_tokens":`...), int64(reasoning), 10)
	dst = strconv.AppendInt(append(dst, `},"total_tokens":`...), int64(u.TotalTokens), 10)

	return append(dst, '}')
}

// appendAdded appends the events that open an item.
func (w *Writer) appendAdded(dst []byte, it *item) []byte {
	dst = w.appendItemEvent(dst, "response.output_item.added", it)
	if it.kind.part == "" {
		return dst
	}
	dst = it.appendPlace(w.beginEvent(dst, it.kind.partEvent+".added"))
	dst = it.appendPart(append(dst, `,"part":`...), "")

	return append(dst, eventEnd...)
}

// appendItemEvent appends an event with the item as it is now.
func (w *Writer) appendItemEvent(dst []byte, name string, it *item) []byte {
	dst = strconv.AppendInt(append(w.beginEvent(dst, name), `,"output_index":`...), int64(it.index), 10)
	dst = it.append(append(dst, `,"item":`...))

	return append(dst, eventEnd...)
}

// appendDelta adds a piece of text to an item. The input of a custom call is sent when the call ends,
// because it must first be taken out of its JSON.
func (w *Writer) appendDelta(dst []byte, it *item, text string) []byte {
	if text == "" {
		return dst
	}

	it.text = append(it.text, text...)
	if it.kind == customCall {
		return dst
	}

	return w.appendPiece(dst, it, text)
}

// appendPiece appends the event about a piece of text.
func (w *Writer) appendPiece(dst []byte, it *item, text string) []byte {
	return append(w.beginPiece(dst, it, text), eventEnd...)
}

// beginPiece appends the event about a piece of text without its end.
func (w *Writer) beginPiece(dst []byte, it *item, text string) []byte {
	if it.piece == nil {
		name := it.kind.event + ".delta"
		it.piece = append(it.piece, "event: "+name+"\ndata: {\"type\":\""+name+`"`...)
		it.piece = append(it.appendPlace(it.piece), `,"sequence_number":`...)
	}
	dst = strconv.AppendInt(append(dst, it.piece...), int64(w.sequence), 10)
	w.sequence++

	return appendString(append(dst, `,"delta":`...), text)
}

// appendTextDelta adds a piece to the open text.
func (w *Writer) appendTextDelta(dst []byte, text string, logprobs json.RawMessage) []byte {
	it := w.text

	it.text = append(it.text, text...)
	if len(logprobs) > 0 {
		it.logprobs = append(it.logprobs, logprobs)
	}
	dst = append(w.beginPiece(dst, it, text), `,"logprobs":[`...)

	return append(append(append(dst, logprobs...), ']'), eventEnd...)
}

// addAnnotation adds a citation to the open text. Citations of earlier texts are left out, because those
// texts are closed.
func (w *Writer) addAnnotation(dst []byte, a annotation) []byte {
	it := w.text
	if it == nil || a.Start < it.from || a.End > it.from+utf8.RuneCount(it.text) {
		return dst
	}
	a.Start, a.End = a.Start-it.from, a.End-it.from
	b, _ := json.Marshal(a) // a struct of strings and numbers
	b = oneLine(b)

	it.annotations = append(it.annotations, b)
	dst = it.appendPlace(w.beginEvent(dst, "response.output_text.annotation.added"))
	dst = strconv.AppendInt(append(dst, `,"annotation_index":`...), int64(len(it.annotations)-1), 10)
	dst = append(append(dst, `,"annotation":`...), b...)

	return append(dst, eventEnd...)
}

// appendDone appends the events that close an item.
func (w *Writer) appendDone(dst []byte, it *item, status string) []byte {
	it.status = status
	if it.kind == customCall {
		dst = w.appendPiece(dst, it, it.value())
	}
	dst = it.appendPlace(w.beginEvent(dst, it.kind.event+".done"))
	dst = append(appendString(append(dst, ','), it.kind.field), ':')
	dst = appendString(dst, it.value())

	if it.kind == messageText {
		dst = jsonbody.AppendList(append(dst, `,"logprobs":`...), it.logprobs)
	}
	dst = append(dst, eventEnd...)

	if it.kind.part != "" {
		dst = it.appendPlace(w.beginEvent(dst, it.kind.partEvent+".done"))
		dst = it.appendPart(append(dst, `,"part":`...), string(it.text))
		dst = append(dst, eventEnd...)
	}

	return w.appendItemEvent(dst, "response.output_item.done", it)
}
