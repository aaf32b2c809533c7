package inferencetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// sendJSON answers with one JSON object instead of a stream.
func (c *call) sendJSON(body string) {
	c.w.Header().Set("Content-Type", "application/json")
	c.sendRaw(body)
}

// answerWithReasoning streams Thought in a field of the delta, then Answer as content.
func (c *call) answerWithReasoning(field string) {
	c.beginStream()
	c.sendRole()

	for _, t := range words(Thought) {
		c.sendDelta(fmt.Sprintf("%q:%s", field, quote(t)))
	}
	c.sendContent(words(Answer)...)
	c.endStream("stop", 12)
}

// answerWithCalls streams tool calls. Each delta is an element of tool_calls.
func (c *call) answerWithCalls(deltas ...string) {
	c.beginStream()
	c.sendRole()

	for _, d := range deltas {
		c.sendDelta(`"tool_calls":[` + d + `]`)
	}
	c.endStream("tool_calls", 9)
}

// answerPaced streams the tokens at the rate of the argument, in tokens per second. Default: 30.
func (c *call) answerPaced(tokens []string) {
	rate, err := strconv.Atoi(c.argument)
	if err != nil || rate <= 0 {
		rate = 30
	}
	c.beginStream()
	c.sendRole()

	for _, t := range tokens {
		c.sendContent(t)

		if !c.pause(time.Second / time.Duration(rate)) {
			return
		}
	}
	c.endStream("stop", len(tokens))
}

// sendTokens sends n tokens at a rate per second; the argument is "n@rate". Tokens must need no JSON escapes. The text
// around them is built once, because the server shares the CPU with the code that it measures.
func (c *call) sendTokens(token func(i int) string) {
	var n, rate int
	fmt.Sscanf(c.argument, "%d@%d", &n, &rate)
	c.beginStream()
	c.sendRole()
	before, after, _ := strings.Cut(c.contentChunk("\n"), `\n`)
	began := time.Now()

	for i := range n {
		c.sendChunk(before + token(i) + after)

		if rate > 0 && !c.pause(time.Until(began.Add(time.Duration(i+1)*time.Second/time.Duration(rate)))) {
			return
		}
	}
	c.endStream("stop", n)
}

// sendRewritten sends "Grüße, 世界!" with these line ends, and with prefix before the JSON of each event. without is
// "no-done" if the event [DONE] is missing, and "no-end" if the last event is also cut.
func (c *call) sendRewritten(newline, prefix, without string) {
	c.beginStream()

	for _, t := range []string{"Grüße", ", ", "世界!"} {
		chunk := c.chunk(`"choices":[{"index":0,"delta":{"content":` + quote(t) + `}}]`)
		c.sendRaw(strings.ReplaceAll(prefix, "\n", newline) + chunk + newline + newline)
	}

	last := prefix + c.chunk(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]`)
	if without == "no-end" {
		c.sendRaw(last)
		return
	}
	c.sendRaw(strings.ReplaceAll(last, "\n", newline) + newline + newline)

	if without == "" {
		c.sendRaw("data: [DONE]" + newline + newline)
	}
}

// sendBytewise sends every byte in its own packet, so that characters are split.
func (c *call) sendBytewise() {
	c.beginStream()

	for _, b := range []byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße, 世界!\"}}]}\n\n") {
		c.w.Write([]byte{b})
		c.flush()
	}
	c.endStream("stop", 3)
}

// sendFlood sends one line of up to 64 MiB, or until the client disconnects.
func (c *call) sendFlood() {
	block := strings.Repeat("x", 1<<20)
	for range 64 {
		if _, err := c.w.Write([]byte(block)); err != nil {
			return
		}
	}
}
