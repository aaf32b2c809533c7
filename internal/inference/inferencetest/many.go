package inferencetest

import "fmt"

// answerChoices answers a chat or continues texts with n choices, and with log probabilities if the request asks for
// them.
func (c *call) answerChoices() {
	n := max(1, c.body.N)
	if list, ok := c.body.Prompt.([]any); ok {
		n *= len(list)
	}
	choice := func(i int, text, finish string) {
		said := fmt.Sprintf(`"delta":{"content":%s}`, quote(text))

		logprobs := fmt.Sprintf(
			`{"content":[{"token":%s,"logprob":-0.5,"bytes":null,"top_logprobs":[]}],"refusal":null}`,
			quote(text),
		)
		if c.body.Prompt != nil {
			said = `"text":` + quote(text)
			logprobs = fmt.Sprintf(
				`{"tokens":[%s],"token_logprobs":[-0.5],"top_logprobs":null,"text_offset":[0]}`,
				quote(text),
			)
		}

		if asked, _ := c.body.Logprobs.(bool); text == "" || c.body.Logprobs == nil || c.body.Prompt == nil && !asked {
			logprobs = "null"
		}
		c.sendChunk(
			c.chunk(
				fmt.Sprintf(`"choices":[{"index":%d,%s,"logprobs":%s,"finish_reason":%s}]`, i, said, logprobs, finish),
			),
		)
	}
	c.beginStream()

	for _, text := range []string{"Answer", " number"} {
		for i := range n {
			choice(i, text, "null")
		}
	}

	for i := n - 1; i >= 0; i-- {
		choice(i, fmt.Sprintf(" %d", i), "null")

		if i == 0 {
			c.holdBack()
		}
		choice(i, "", `"stop"`)
	}
	c.sendUsage(11, 3*n)
	c.sendDone()
}
