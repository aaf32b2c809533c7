package inferencetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// call is one request that a scenario answers.
type call struct {
	w        http.ResponseWriter
	r        *http.Request
	body     Body
	argument string           // the text after the colon of the model name
	index    int              // earlier requests for this model
	heldBack *strings.Builder // what was written since holdBack; nil if it was not called
	complete bool             // the answer was sent to its end
}

// beginStream sends the headers of a stream.
func (c *call) beginStream() {
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.WriteHeader(http.StatusOK)
	c.flush()
}

// flush sends what was written, so that the client sees each piece at once.
func (c *call) flush() { c.w.(http.Flusher).Flush() }

// holdBack keeps back what is written from here until sendDone, which sends it as one packet. A client waits only a
// short time for the usage after the finish reason.
func (c *call) holdBack() { c.heldBack = new(strings.Builder) }

// sendRaw sends bytes unchanged and without a delay.
func (c *call) sendRaw(s string) {
	if c.heldBack != nil {
		c.heldBack.WriteString(s)
		return
	}
	io.WriteString(c.w, s)
	c.flush()
}

// sendChunk sends one chunk.
func (c *call) sendChunk(chunk string) { c.sendRaw("data: " + chunk + "\n\n") }

// sendDelta sends a chunk of the first choice with the given fields.
func (c *call) sendDelta(fields string) { c.sendChunk(c.choiceChunk(fields)) }

// choiceChunk returns a chunk of the first choice with the given fields of its delta.
func (c *call) choiceChunk(fields string) string {
	return c.chunk(fmt.Sprintf(`"choices":[{"index":0,"delta":{%s},"logprobs":null,"finish_reason":null}]`, fields))
}

// contentChunk returns a chunk with a piece of content.
func (c *call) contentChunk(content string) string {
	return c.choiceChunk(`"content":` + quote(content))
}

// chunk returns a chunk of a stream. fields is the rest of its JSON object.
func (c *call) chunk(fields string) string {
	return fmt.Sprintf(
		`{"id":"chatcmpl-scripted","object":"chat.completion.chunk","created":1770770843,"model":%q,`+
			`"system_fingerprint":"fp_scripted01",%s}`,
		c.body.Model,
		fields,
	)
}

// sendRole sends the first chunk, which has the role and no content.
func (c *call) sendRole() { c.sendDelta(`"role":"assistant","content":""`) }

// sendContent sends each text as a chunk of its own.
func (c *call) sendContent(texts ...string) {
	for _, t := range texts {
		c.sendChunk(c.contentChunk(t))
	}
}

// sendFinish sends the finish reason of the first choice.
func (c *call) sendFinish(reason string) {
	c.sendChunk(c.chunk(fmt.Sprintf(`"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":%q}]`, reason)))
}

// sendUsage sends the last chunk of a stream, which has the usage.
func (c *call) sendUsage(prompt, completion int) {
	c.sendChunk(c.chunk(fmt.Sprintf(
		`"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`,
		prompt,
		completion,
		prompt+completion,
	)))
}

// sendDone ends the stream, after the output that was held back.
func (c *call) sendDone() {
	c.complete = true

	before := ""
	if c.heldBack != nil {
		before, c.heldBack = c.heldBack.String(), nil
	}
	c.sendRaw(before + "data: [DONE]\n\n")
}

// answer streams the texts, one token each. If the request asks for no stream, it sends one object.
func (c *call) answer(texts ...string) {
	if !c.body.Stream {
		c.sendJSON(fmt.Sprintf(
			`{"id":"chatcmpl-scripted","object":"chat.completion","created":1770770843,"model":%q,`+
				`"choices":[{"index":0,"message":{"role":"assistant","content":%s},"logprobs":null,"finish_reason":"stop"}],`+
				`"usage":{"prompt_tokens":11,"completion_tokens":%d,"total_tokens":%d}}`,
			c.body.Model,
			quote(strings.Join(texts, "")),
			len(texts),
			11+len(texts),
		))

		return
	}
	c.beginStream()
	c.sendRole()
	c.sendContent(texts...)
	c.endStream("stop", len(texts))
}

// endStream sends the finish reason, the usage and the end of the stream in one packet.
func (c *call) endStream(reason string, tokens int) {
	c.holdBack()
	c.sendFinish(reason)
	c.sendUsage(11, tokens)
	c.sendDone()
}

// hang waits until the client disconnects.
func (c *call) hang() { <-c.r.Context().Done() }

// pause waits for d. It reports false, at once, if the client disconnects.
func (c *call) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-c.r.Context().Done():
		return false
	}
}

// prompt returns the text of the last user message.
func (c *call) prompt() string {
	for _, m := range slices.Backward(c.body.Messages) {
		if m.Role == "user" {
			if s, ok := m.Content.(string); ok {
				return s
			}
		}
	}

	return ""
}

// toolCall returns a complete call of the first tool, an element of tool_calls. arguments is its JSON text.
func (c *call) toolCall(index int, id, arguments string) string {
	return fmt.Sprintf(`{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`,
		index, id, c.firstTool(), quote(arguments))
}

// firstTool returns the name of the first tool in the request, or "weather".
func (c *call) firstTool() string {
	if len(c.body.Tools) == 0 {
		return "weather"
	}

	return c.body.Tools[0].Function.Name
}

// quote returns s as a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}

	return string(b)
}

// words splits a text before each space: "a b" becomes "a" and " b".
func words(text string) []string {
	var out []string

	for i, w := range strings.Split(text, " ") {
		if i > 0 {
			w = " " + w
		}
		out = append(out, w)
	}

	return out
}
