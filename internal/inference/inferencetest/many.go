package inferencetest

import "fmt"

// answerChoices answers a chat or continues texts with n choices, and with log probabilities if the request asks for
// them.
func (c *call) answerChoices() {
	n := max(1, c.body.N)
	if list, ok := c.body.Prompt.([]any); ok {
		n *= len(list)
	}
	// sendChoice sends a piece of choice i. finish is JSON.
	sendChoice := func(i int, text, finish string) {
		content := fmt.Sprintf(`"delta":{"content":%s}`, quote(text))

		logprobs := fmt.Sprintf(
			`{"content":[{"token":%s,"logprob":-0.5,"bytes":null,"top_logprobs":[]}],"refusal":null}`,
			quote(text),
		)
		if c.body.Prompt != nil {
			content = `"text":` + quote(text)
			logprobs = fmt.Sprintf(
				`{"tokens":[%s],"token_logprobs":[-0.5],"top_logprobs":null,"text_offset":[0]}`,
				quote(text),
			)
		}

		// A chat asks for log probabilities with true, a text completion with a number.
		wanted, _ := c.body.Logprobs.(bool)
		if text == "" || c.body.Logprobs == nil || c.body.Prompt == nil && !wanted {
			logprobs = "null"
		}
		c.sendChunk(c.chunk(fmt.Sprintf(`"choices":[{"index":%d,%s,"logprobs":%s,"finish_reason":%s}]`, i, content,
			logprobs, finish)))
	}
	c.beginStream()

	for _, text := range []string{"Answer", " number"} {
		for i := range n {
			sendChoice(i, text, "null")
		}
	}

	// The choices end in reverse order, so that a client cannot rely on their order.
	for i := n - 1; i >= 0; i-- {
		sendChoice(i, fmt.Sprintf(" %d", i), "null")

		if i == 0 {
			c.holdBack()
		}
		sendChoice(i, "", `"stop"`)
	}
	c.sendUsage(11, 3*n)
	c.sendDone()
}
