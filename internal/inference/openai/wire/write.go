package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// Head holds the common fields of all chunks or of the response.
type Head struct {
	// ID is that of the completion; RequestID is the x-request-id.
	ID, RequestID string
	// Created is when the API accepted the request; clients see whole seconds.
	Created time.Time
	// Model is the model's id.
	Model string
	// Fingerprint is that of the first chunk.
	Fingerprint string
	// Seed and ServiceTier are those of the request.
	Seed        *int64
	ServiceTier string
	// Vendor names the field x_<vendor>, which has the id of the request (Groq: x_groq).
	Vendor string
	// IncludeUsage adds the usage chunk of stream_options. LegacyFunctions writes function_call instead of
	// tool_calls.
	IncludeUsage, LegacyFunctions bool
	// Text writes a text completion. Choices is the number of answers; 0 is one.
	Text    bool
	Choices int
}

// HeadOf returns the head of the answer to an accepted request. The caller sets the other fields.
func HeadOf(r *inference.Request) Head {
	return Head{
		Model: r.Model, Seed: r.Seed, ServiceTier: r.ServiceTier,
		IncludeUsage: r.IncludeUsage, LegacyFunctions: r.LegacyFunctions, Text: r.Text != nil, Choices: r.Choices(),
	}
}

// SetID gives all answers to a call the same id: "chatcmpl-", or "cmpl-" for a text, and a UUID.
func (h *Head) SetID(call string) {
	b := sha256.Sum256([]byte(call))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // the version and variant bits of a UUID

	kind := "chatcmpl"
	if h.Text {
		kind = "cmpl"
	}
	h.ID = fmt.Sprintf("%s-%x-%x-%x-%x-%x", kind, b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// Writer writes the chunks of one answer as server-sent events. It is not safe for concurrent use.
type Writer struct {
	head   Head
	prefix []byte // the start of an event, up to its choices
	vendor []byte // "x_vendor":{"id":"…"
}

// NewWriter returns a Writer.
func NewWriter(h Head) *Writer {
	w := &Writer{head: h}
	w.vendor = append(w.vendor, `"x_`...)
	w.vendor = append(w.vendor, h.Vendor...)
	w.vendor = jsonbody.AppendString(append(w.vendor, `":{"id":`...), h.RequestID)
	w.setPrefix(h.Fingerprint)

	return w
}

// setPrefix prepares the start of each event.
func (w *Writer) setPrefix(fingerprint string) {
	b := append(w.prefix[:0], `data: {"id":`...)
	b = jsonbody.AppendString(b, w.head.ID)

	object := "chat.completion.chunk"
	if w.head.Text {
		object = "text_completion"
	}
	b = jsonbody.AppendString(append(b, `,"object":`...), object)
	b = append(b, `,"created":`...)
	b = strconv.AppendInt(b, w.head.Created.Unix(), 10)
	b = jsonbody.AppendString(append(b, `,"model":`...), w.head.Model)
	b = append(b, `,"system_fingerprint":`...)
	b = jsonbody.AppendStringOrNull(b, fingerprint)
	w.prefix = append(b, `,"choices":[`...)
}

// Begin appends nothing: the first chunk begins the stream.
func (w *Writer) Begin(dst []byte) []byte { return dst }

// Idle appends a comment that every client ignores. It has no empty line after it: with one, some SDKs would report an
// event without data.
func (w *Writer) Idle(dst []byte) []byte { return append(dst, ": ping\n"...) }

// End appends the last event of a complete stream.
func (w *Writer) End(dst []byte) []byte { return append(dst, "data: [DONE]\n\n"...) }

// Fail appends the last event of a stream that fails after its first chunk. End must not follow it.
func (w *Writer) Fail(dst []byte, e *inference.Error) []byte {
	return append(AppendError(append(dst, "data: "...), e), "\n\n"...)
}

// Append appends the events of a chunk to dst. After the chunk with the last finish reason, call End.
func (w *Writer) Append(dst []byte, c *inference.Chunk) []byte {
	if c.First {
		w.head.Model = cmp.Or(c.Model, w.head.Model)
		w.setPrefix(c.Fingerprint)

		for choice := 0; choice < max(1, w.head.Choices) && !w.head.Text; choice++ {
			dst = w.beginEvent(dst, choice)
			dst = append(dst, `,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],`...)

			dst = append(dst, w.vendor...)
			if w.head.Seed != nil {
				dst = strconv.AppendInt(append(dst, `,"seed":`...), *w.head.Seed, 10)
			}
			dst = w.endEvent(append(dst, '}'))
		}
	}

	// An Extra of two bytes is an empty object.
	hasDelta := c.Content != "" || c.Reasoning != "" || len(c.ToolCalls) > 0 || len(c.Executed) > 0 ||
		len(c.Extra) > 2 || c.Logprobs != nil
	switch {
	case w.head.Text && (c.Content != "" || c.Logprobs != nil):
		dst = jsonbody.AppendString(append(w.beginEvent(dst, c.Choice), `,"text":`...), c.Content)
		dst = appendLogprobs(dst, c.Logprobs)
		dst = w.endEvent(append(dst, `,"finish_reason":null}]`...))
	case !w.head.Text && hasDelta:
		dst = append(w.beginEvent(dst, c.Choice), `,"delta":{`...)
		dst = w.appendDelta(dst, c)
		dst = appendLogprobs(append(dst, '}'), c.Logprobs)
		dst = w.endEvent(append(dst, `,"finish_reason":null}]`...))
	}

	if c.Finish != "" {
		dst = w.appendFinish(dst, c)
	}

	return dst
}

// beginEvent begins an event about one answer.
func (w *Writer) beginEvent(dst []byte, choice int) []byte {
	return strconv.AppendInt(append(append(dst, w.prefix...), `{"index":`...), int64(choice), 10)
}

// appendLogprobs writes the field. The JSON of engines was compacted before and has no line breaks.
func appendLogprobs(dst []byte, logprobs json.RawMessage) []byte {
	if logprobs == nil {
		return append(dst, `,"logprobs":null`...)
	}

	return append(append(dst, `,"logprobs":`...), logprobs...)
}

// endEvent closes the event. With include_usage every chunk but the last has usage null.
func (w *Writer) endEvent(dst []byte) []byte {
	if w.head.IncludeUsage {
		dst = append(dst, `,"usage":null`...)
	}

	return append(dst, "}\n\n"...)
}

// appendDelta writes the fields of a delta without the braces around them.
func (w *Writer) appendDelta(dst []byte, c *inference.Chunk) []byte {
	if c.Reasoning != "" {
		dst = append(jsonbody.AppendString(append(dst, `"reasoning":`...), c.Reasoning), ',')
	}

	if c.Content != "" {
		dst = append(jsonbody.AppendString(append(dst, `"content":`...), c.Content), ',')
	}

	switch {
	case len(c.ToolCalls) == 0:
	case w.head.LegacyFunctions:
		if c.ToolCalls[0].Index == 0 {
			dst = append(appendFunction(append(dst, `"function_call":`...), c.ToolCalls[0]), ',')
		}
	default:
		dst = append(dst, `"tool_calls":[`...)
		for _, call := range c.ToolCalls {
			dst = append(appendCall(dst, call), ',')
		}
		dst[len(dst)-1] = ']'
		dst = append(dst, ',')
	}

	if len(c.Executed) > 0 {
		dst = append(appendExecuted(dst, c.Executed), ',')
	}

	if len(c.Extra) > 2 {
		dst = append(append(dst, c.Extra[1:len(c.Extra)-1]...), ',')
	}

	// Each field above has written a comma after it.
	if dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}

	return dst
}

// appendCall writes a delta of a call. Only the first piece has id, type and name, because clients treat a second
// one as another call.
func appendCall(dst []byte, call inference.ToolDelta) []byte {
	dst = strconv.AppendInt(append(dst, `{"index":`...), int64(call.Index), 10)
	if call.ID != "" {
		dst = append(jsonbody.AppendString(append(dst, `,"id":`...), call.ID), `,"type":"function"`...)
	}

	return append(appendFunction(append(dst, `,"function":`...), call), '}')
}

// appendFunction writes the function of a call, without a name if the piece has none.
func appendFunction(dst []byte, call inference.ToolDelta) []byte {
	dst = append(dst, '{')
	if call.Name != "" {
		dst = append(jsonbody.AppendString(append(dst, `"name":`...), call.Name), ',')
	}

	return append(jsonbody.AppendString(append(dst, `"arguments":`...), call.Arguments), '}')
}

// appendFinish writes the last event of an answer, and after the last answer also the usage.
func (w *Writer) appendFinish(dst []byte, c *inference.Chunk) []byte {
	dst = w.beginEvent(dst, c.Choice)
	if w.head.Text {
		dst = append(dst, `,"text":""`...)
	} else {
		dst = append(dst, `,"delta":{}`...)
	}
	dst = jsonbody.AppendString(append(dst, `,"logprobs":null,"finish_reason":`...), w.finishReason(c.Finish))

	dst = append(append(dst, `}],`...), w.vendor...)
	if c.Usage == nil {
		return w.endEvent(append(dst, '}'))
	}
	dst = appendUsage(append(dst, `,"usage":`...), c.Usage)

	dst = append(dst, '}')
	if w.head.IncludeUsage {
		dst = append(dst, `,"usage":null}`+"\n\n"...)
		dst = append(dst, w.prefix...)
		dst = append(dst, ']')
	}
	dst = appendUsage(append(dst, `,"usage":`...), c.Usage)

	return append(dst, "}\n\n"...)
}

// finishReason returns the finish reason that the caller expects.
func (w *Writer) finishReason(finish string) string {
	if finish == "tool_calls" && w.head.LegacyFunctions {
		return "function_call"
	}

	return finish
}
