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
	turn     int              // earlier requests for this model
	kept     *strings.Builder // text that hold keeps back, or nil
	complete bool             // the answer was sent to its end
}

// begin sends the headers of a stream.
func (c *call) begin() {
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.WriteHeader(http.StatusOK)
	c.flush()
}

func (c *call) flush() { c.w.(http.Flusher).Flush() }

// hold keeps back what is written from here until done, which sends it as one packet. A client waits only a short
// time for the usage after the finish reason.
func (c *call) hold() { c.kept = new(strings.Builder) }

// raw sends bytes unchanged and without a delay.
func (c *call) raw(s string) {
	if c.kept != nil {
		c.kept.WriteString(s)
		return
	}
	io.WriteString(c.w, s)
	c.flush()
}

// event sends one chunk.
func (c *call) event(chunk string) { c.raw("data: " + chunk + "\n\n") }

// delta sends a chunk of the first choice with the given fields.
func (c *call) delta(fields string) { c.event(c.choice(fields)) }

func (c *call) choice(fields string) string {
	return c.chunk(fmt.Sprintf(`"choices":[{"index":0,"delta":{%s},"logprobs":null,"finish_reason":null}]`, fields))
}

// text returns a chunk with a piece of content.
func (c *call) text(content string) string { return c.choice(`"content":` + quote(content)) }

func (c *call) chunk(fields string) string {
	return fmt.Sprintf(
		`{"id":"chatcmpl-scripted","object":"chat.completion.chunk","created":1770770843,"model":%q,`+
			`"system_fingerprint":"fp_scripted01",%s}`,
		c.body.Model,
		fields,
	)
}

func (c *call) role() { c.delta(`"role":"assistant","content":""`) }

func (c *call) say(texts ...string) {
	for _, t := range texts {
		c.event(c.text(t))
	}
}

func (c *call) finish(reason string) {
	c.event(c.chunk(fmt.Sprintf(`"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":%q}]`, reason)))
}

func (c *call) usage(prompt, completion int) {
	c.event(
		c.chunk(
			fmt.Sprintf(
				`"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`,
				prompt,
				completion,
				prompt+completion,
			),
		),
	)
}

func (c *call) done() {
	c.complete = true

	before := ""
	if c.kept != nil {
		before, c.kept = c.kept.String(), nil
	}
	c.raw(before + "data: [DONE]\n\n")
}

// answer streams the texts, one token each. If the request asks for no stream, it sends one object.
func (c *call) answer(texts ...string) {
	if !c.body.Stream {
		c.json(
			fmt.Sprintf(
				`{"id":"chatcmpl-scripted","object":"chat.completion","created":1770770843,"model":%q,`+
					`"choices":[{"index":0,"message":{"role":"assistant","content":%s},"logprobs":null,"finish_reason":"stop"}],`+
					`"usage":{"prompt_tokens":11,"completion_tokens":%d,"total_tokens":%d}}`,
				c.body.Model,
				quote(strings.Join(texts, "")),
				len(texts),
				11+len(texts),
			),
		)

		return
	}
	c.begin()
	c.role()
	c.say(texts...)
	c.end("stop", len(texts))
}

func (c *call) end(reason string, tokens int) {
	c.hold()
	c.finish(reason)
	c.usage(11, tokens)
	c.done()
}

// hang waits until the client disconnects.
func (c *call) hang() { <-c.r.Context().Done() }

// pause waits. It reports false if the client has disconnected.
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

// tool returns the name of the first tool in the request, or "weather".
func (c *call) tool() string {
	if len(c.body.Tools) == 0 {
		return "weather"
	}

	return c.body.Tools[0].Function.Name
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}

	return string(b)
}

// words splits a text before each space.
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
