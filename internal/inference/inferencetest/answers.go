package inferencetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func (c *call) sendJSON(body string) {
	c.w.Header().Set("Content-Type", "application/json")
	c.sendRaw(body)
}

func (c *call) answerWithReasoning(field string) {
	c.beginStream()
	c.sendRole()

	for _, t := range words(Thought) {
		c.sendDelta(fmt.Sprintf("%q:%s", field, quote(t)))
	}
	c.sendContent(words(Answer)...)
	c.endStream("stop", 12)
}

func (c *call) answerWithCalls(deltas ...string) {
	c.beginStream()
	c.sendRole()

	for _, d := range deltas {
		c.sendDelta(`"tool_calls":[` + d + `]`)
	}
	c.endStream("tool_calls", 9)
}

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
	begun := time.Now()

	for i := range n {
		c.sendChunk(before + token(i) + after)

		if rate > 0 && !c.pause(time.Until(begun.Add(time.Duration(i+1)*time.Second/time.Duration(rate)))) {
			return
		}
	}
	c.endStream("stop", n)
}

// sendRewritten sends a stream with other line ends and other SSE fields than usual.
func (c *call) sendRewritten(newline, prefix, without string) {
	c.beginStream()

	for _, t := range []string{"Grüße", ", ", "世界!"} {
		c.sendRaw(
			strings.ReplaceAll(prefix, "\n", newline) + c.chunk(
				`"choices":[{"index":0,"delta":{"content":`+quote(t)+`}}]`,
			) + newline + newline,
		)
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
