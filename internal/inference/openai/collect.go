package openai

import (
	"encoding/json"
	"strconv"

	"presswork/internal/inference"
)

// Collector gathers the chunks of an answer into one response. It is for one
// goroutine.
type Collector struct {
	head               Head
	content, reasoning []byte
	calls              []inference.ToolDelta
	arguments          [][]byte
	executed           []inference.ExecutedTool
	extra              map[string]json.RawMessage
	finish             string
	usage              *inference.Usage
}

// NewCollector makes a Collector.
func NewCollector(h Head) *Collector { return &Collector{head: h} }

// Add takes the next chunk.
func (c *Collector) Add(chunk *inference.Chunk) {
	if chunk.First {
		c.head.Fingerprint = chunk.Fingerprint
	}
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
	if chunk.Extra != nil {
		c.addExtra(chunk.Extra)
	}
	if chunk.Finish != "" {
		c.finish, c.usage = chunk.Finish, chunk.Usage
	}
}

// addExtra joins fields it does not know: strings and lists grow, of anything
// else the last one stays.
func (c *Collector) addExtra(object []byte) {
	if c.extra == nil {
		c.extra = map[string]json.RawMessage{}
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(object, &fields) // it is JSON that was written here
	for name, value := range fields {
		before := c.extra[name]
		switch {
		case len(before) > 2 && before[0] == '"' && value[0] == '"':
			value = appendString(nil, unquoted(before)+unquoted(value))
		case len(before) > 2 && len(value) > 2 && before[0] == '[' && value[0] == '[':
			value = append(append(append([]byte{}, before[:len(before)-1]...), ','), value[1:]...)
		}
		c.extra[name] = value
	}
}

// unquoted decodes a JSON string.
func unquoted(value []byte) (s string) {
	_ = json.Unmarshal(value, &s) // anything else is ""
	return s
}

// Append appends the response, a JSON object, to dst.
func (c *Collector) Append(dst []byte) []byte {
	h := &c.head
	dst = appendString(append(dst, `{"id":`...), h.ID)
	dst = strconv.AppendInt(append(dst, `,"object":"chat.completion","created":`...), h.Created.Unix(), 10)
	dst = appendString(append(dst, `,"model":`...), h.Model)
	dst = append(dst, `,"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	if len(c.content) == 0 && len(c.calls) > 0 {
		dst = append(dst, "null"...)
	} else {
		dst = appendString(dst, string(c.content))
	}
	if len(c.reasoning) > 0 {
		dst = appendString(append(dst, `,"reasoning":`...), string(c.reasoning))
	}
	dst = c.appendCalls(dst)
	if len(c.executed) > 0 {
		dst = appendExecuted(append(dst, ','), c.executed)
		delete(c.extra, "executed_tools") // those of an upstream's own
	}
	if len(c.extra) > 0 {
		b, _ := json.Marshal(c.extra)
		dst = append(append(dst, ','), b[1:len(b)-1]...)
	}
	dst = append(dst, `},"logprobs":null,"finish_reason":`...)
	dst = appendString(dst, (&Writer{head: *h}).reason(c.finish))
	dst = append(dst, `}],"usage":`...)
	if c.usage != nil {
		dst = appendUsage(dst, c.usage)
	} else {
		dst = append(dst, "null"...)
	}
	dst = appendStringOrNull(append(dst, `,"usage_breakdown":null,"system_fingerprint":`...), h.Fingerprint)
	dst = append(append(dst, `,"x_`...), h.Vendor...)
	dst = appendString(append(dst, `":{"id":`...), h.RequestID)
	if h.Seed != nil {
		dst = strconv.AppendInt(append(dst, `,"seed":`...), *h.Seed, 10)
	}
	dst = appendString(append(dst, `},"service_tier":`...), h.ServiceTier)
	return append(dst, '}')
}

func (c *Collector) appendCalls(dst []byte) []byte {
	if len(c.calls) == 0 {
		return dst
	}
	if c.head.LegacyFunctions {
		call := c.calls[0]
		call.Arguments = string(c.arguments[0])
		return appendFunction(append(dst, `,"function_call":`...), call)
	}
	dst = append(dst, `,"tool_calls":[`...)
	for i, call := range c.calls {
		call.Arguments = string(c.arguments[i])
		dst = append(appendString(append(dst, `{"id":`...), call.ID), `,"type":"function","function":`...)
		dst = append(appendFunction(dst, call), `},`...)
	}
	dst[len(dst)-1] = ']'
	return dst
}
