package inferencetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func (c *call) json(body string) {
	c.w.Header().Set("Content-Type", "application/json")
	c.raw(body)
}

func (c *call) reasoned(field string) {
	c.begin()
	c.role()

	for _, t := range words(Thought) {
		c.delta(fmt.Sprintf("%q:%s", field, quote(t)))
	}
	c.say(words(Answer)...)
	c.end("stop", 12)
}

func (c *call) called(deltas ...string) {
	c.begin()
	c.role()

	for _, d := range deltas {
		c.delta(`"tool_calls":[` + d + `]`)
	}
	c.end("tool_calls", 9)
}

func (c *call) paced(tokens []string) {
	rate, err := strconv.Atoi(c.argument)
	if err != nil || rate <= 0 {
		rate = 30
	}
	c.begin()
	c.role()

	for _, t := range tokens {
		c.say(t)

		if !c.pause(time.Second / time.Duration(rate)) {
			return
		}
	}
	c.end("stop", len(tokens))
}

// each sends n tokens at a rate per second; the argument is "n@rate". Tokens must need no JSON escapes. The text
// around them is built once, because the server shares the CPU with the code that it measures.
func (c *call) each(token func(i int) string) {
	var n, rate int
	fmt.Sscanf(c.argument, "%d@%d", &n, &rate)
	c.begin()
	c.role()
	before, after, _ := strings.Cut(c.text("\n"), `\n`)
	begun := time.Now()

	for i := range n {
		c.event(before + token(i) + after)

		if rate > 0 && !c.pause(time.Until(begun.Add(time.Duration(i+1)*time.Second/time.Duration(rate)))) {
			return
		}
	}
	c.end("stop", n)
}

// rewritten sends a stream with other line ends and other SSE fields than usual.
func (c *call) rewritten(newline, prefix, without string) {
	c.begin()

	for _, t := range []string{"Grüße", ", ", "世界!"} {
		c.raw(
			strings.ReplaceAll(
				prefix,
				"\n",
				newline,
			) + c.chunk(
				`"choices":[{"index":0,"delta":{"content":`+quote(t)+`}}]`,
			) + newline + newline,
		)
	}

	last := prefix + c.chunk(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]`)
	if without == "no-end" {
		c.raw(last)
		return
	}
	c.raw(strings.ReplaceAll(last, "\n", newline) + newline + newline)

	if without == "" {
		c.raw("data: [DONE]" + newline + newline)
	}
}

// bytewise sends every byte in its own packet, so that characters are split.
func (c *call) bytewise() {
	c.begin()

	for _, b := range []byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße, 世界!\"}}]}\n\n") {
		c.w.Write([]byte{b})
		c.flush()
	}
	c.end("stop", 3)
}

// flood sends one line of up to 64 MiB, or until the client disconnects.
func (c *call) flood() {
	block := strings.Repeat("x", 1<<20)
	for range 64 {
		if _, err := c.w.Write([]byte(block)); err != nil {
			return
		}
	}
}
