package wire

import (
	"cmp"
	"encoding/json"
	"strconv"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// Collector gathers the chunks of an answer into one response. It is not safe for concurrent use.
type Collector struct {
	head    Head
	choices []collected
	usage   *inference.Usage
}

// collected holds the parts of one answer.
type collected struct {
	content, reasoning []byte
	calls              []inference.ToolDelta
	arguments          [][]byte                 // of each call
	executed           []inference.ExecutedTool // built-in calls
	extra, logprobs    []json.RawMessage
	finish             string
}

// NewCollector returns an empty Collector.
func NewCollector(h Head) *Collector {
	return &Collector{head: h, choices: make([]collected, max(1, h.Choices))}
}

// Add adds the chunk of the next frame.
func (c *Collector) Add(f *inference.Frame) {
	chunk := f.Chunk
	if chunk == nil {
		return
	}

	if chunk.First {
		c.head.Fingerprint, c.head.Model = chunk.Fingerprint, cmp.Or(chunk.Model, c.head.Model)
	}

	if chunk.Usage != nil {
		c.usage = chunk.Usage
	}

	if chunk.Choice < len(c.choices) {
		c.choices[chunk.Choice].addChunk(chunk)
	}
}

// addChunk adds the part of a chunk that belongs to this answer.
func (c *collected) addChunk(chunk *inference.Chunk) {
	c.content = append(c.content, chunk.Content...)

	c.reasoning = append(c.reasoning, chunk.Reasoning...)
	for _, d := range chunk.ToolCalls {
		if d.Index == len(c.calls) {
			c.calls, c.arguments = append(c.calls, d), append(c.arguments, nil)
		}

		if d.Index < len(c.calls) {
			c.arguments[d.Index] = append(c.arguments[d.Index], d.Arguments...)
		}
	}
	c.executed = append(c.executed, chunk.Executed...)
	c.extra = append(c.extra, chunk.Extra)

	c.logprobs = append(c.logprobs, chunk.Logprobs)
	if chunk.Finish != "" {
		c.finish = chunk.Finish
	}
}

// Failed returns a copy of e that lists the built-in tools that ran before the failure.
func (c *Collector) Failed(e *inference.Error) *inference.Error {
	failed := *e
	failed.Executed = c.choices[0].executed

	return &failed
}

// Append appends the response, a JSON object, to dst. Call it after the last frame.
func (c *Collector) Append(dst []byte) []byte {
	h := &c.head

	object := "chat.completion"
	if h.Text {
		object = "text_completion"
	}
	dst = jsonbody.AppendString(append(dst, `{"id":`...), h.ID)
	dst = jsonbody.AppendString(append(dst, `,"object":`...), object)
	dst = strconv.AppendInt(append(dst, `,"created":`...), h.Created.Unix(), 10)
	dst = jsonbody.AppendString(append(dst, `,"model":`...), h.Model)
	dst = append(dst, `,"choices":[`...)

	for i := range c.choices {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, `{"index":`...), int64(i), 10)
		dst = c.choices[i].appendChoice(dst, h)
	}

	dst = append(dst, `],"usage":`...)
	if c.usage != nil {
		dst = appendUsage(dst, c.usage)
	} else {
		dst = append(dst, "null"...)
	}
	dst = jsonbody.AppendStringOrNull(append(dst, `,"usage_breakdown":null,"system_fingerprint":`...), h.Fingerprint)
	dst = append(append(dst, `,"x_`...), h.Vendor...)

	dst = jsonbody.AppendString(append(dst, `":{"id":`...), h.RequestID)
	if h.Seed != nil {
		dst = strconv.AppendInt(append(dst, `,"seed":`...), *h.Seed, 10)
	}
	dst = jsonbody.AppendString(append(dst, `},"service_tier":`...), h.ServiceTier)

	return append(dst, '}')
}

// appendChoice writes a choice, starting after its index.
func (c *collected) appendChoice(dst []byte, h *Head) []byte {
	if h.Text {
		dst = jsonbody.AppendString(append(dst, `,"text":`...), string(c.content))
	} else {
		dst = append(c.appendMessage(append(dst, `,"message":{`...), h), '}')
	}
	dst = appendLogprobs(dst, inference.JoinFields(c.logprobs...))
	dst = jsonbody.AppendString(append(dst, `,"finish_reason":`...), (&Writer{head: *h}).finishReason(c.finish))

	return append(dst, '}')
}

// appendMessage writes the fields of a message without the braces around them.
func (c *collected) appendMessage(dst []byte, h *Head) []byte {
	dst = append(dst, `"role":"assistant","content":`...)
	if len(c.content) == 0 && len(c.calls) > 0 {
		dst = append(dst, "null"...)
	} else {
		dst = jsonbody.AppendString(dst, string(c.content))
	}

	if len(c.reasoning) > 0 {
		dst = jsonbody.AppendString(append(dst, `,"reasoning":`...), string(c.reasoning))
	}
	dst = c.appendCalls(dst, h)
	var extra map[string]json.RawMessage

	_ = json.Unmarshal(inference.JoinFields(c.extra...), &extra) // without pieces, extra stays empty
	if len(c.executed) > 0 {
		dst = appendExecuted(append(dst, ','), c.executed)
		delete(extra, "executed_tools") // tools that the upstream itself ran
	}

	if len(extra) > 0 {
		b, _ := json.Marshal(extra)
		dst = append(append(dst, ','), b[1:len(b)-1]...)
	}

	return dst
}

// appendCalls writes tool_calls, or function_call for a request with functions. Without calls it writes nothing.
func (c *collected) appendCalls(dst []byte, h *Head) []byte {
	if len(c.calls) == 0 {
		return dst
	}

	if h.LegacyFunctions {
		call := c.calls[0]
		call.Arguments = string(c.arguments[0])

		return appendFunction(append(dst, `,"function_call":`...), call)
	}
	dst = append(dst, `,"tool_calls":[`...)

	for i, call := range c.calls {
		call.Arguments = string(c.arguments[i])
		dst = append(jsonbody.AppendString(append(dst, `{"id":`...), call.ID), `,"type":"function","function":`...)
		dst = append(appendFunction(dst, call), `},`...)
	}
	// It replaces the last comma.
	dst[len(dst)-1] = ']'

	return dst
}
