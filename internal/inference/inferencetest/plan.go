package inferencetest

import (
	"fmt"
	"strings"
)

// Plan returns the user message that the model "tools-plan" follows, with one line for each round. A line has
// steps with " | " between them. "think TEXT" reasons, "say TEXT" answers, and "length" ends the round because of
// its length. Any other step is a call: the name of a function, a space and its arguments. After the last line the
// model answers with the result of the last call.
func Plan(rounds ...string) string { return strings.Join(rounds, "\n") }

// followPlan answers one round.
func (c *call) followPlan() {
	var lines []string
	round, last := 0, ""

	for _, m := range c.body.Messages {
		switch text := fmt.Sprint(m.Content); {
		case m.Role == "user" && lines == nil:
			lines = strings.Split(text, "\n")
		case m.Role == "assistant" && lines != nil:
			round++
		case m.Role == "tool":
			last = text
		}
	}

	if round >= len(lines) {
		c.answer("The tool says: ", last)
		return
	}
	c.beginStream()
	c.sendRole()
	finish, tokens, calls := "stop", 0, 0

	for step := range strings.SplitSeq(lines[round], " | ") {
		what, text, _ := strings.Cut(step, " ")
		switch what {
		case "think", "say":
			field := map[string]string{"think": "reasoning", "say": "content"}[what]
			for _, w := range words(text) {
				c.sendDelta(fmt.Sprintf("%q:%s", field, quote(w)))
				tokens++
			}
		case "length":
			finish = what
		default:
			// The arguments are sent in two pieces, as real servers do.
			half := len(text) / 2
			id := fmt.Sprintf("call_%d_%d", round, calls)
			c.sendDelta(fmt.Sprintf(
				`"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]`,
				calls,
				id,
				what,
			))

			for _, piece := range []string{text[:half], text[half:]} {
				c.sendDelta(fmt.Sprintf(`"tool_calls":[{"index":%d,"function":{"arguments":%s}}]`, calls, quote(piece)))
			}
			tokens += 3
			calls++

			if finish == "stop" {
				finish = "tool_calls"
			}
		}
	}
	c.endStream(finish, tokens)
}

// withoutReminders returns the text after the reminders that agents put before the words of their user.
func withoutReminders(text string) string {
	const end = "</system-reminder>"
	if i := strings.LastIndex(text, end); i >= 0 {
		text = text[i+len(end):]
	}

	return strings.TrimSpace(text)
}
