package inferencetest

import (
	"fmt"
	"slices"
)

// toolScenarios are the models that call tools, by name. They call the first tool that is offered.
var toolScenarios = map[string]func(*call){
	"tool-whole": func(c *call) {
		c.answerWithCalls(c.toolCall(0, "tk85n1k4m", `{"city":"Oslo"}`))
	},
	"tool-split": func(c *call) {
		c.answerWithCalls(
			c.toolCall(0, "call_1", ""),
			`{"index":0,"function":{"arguments":"{\"city\""}}`,
			`{"index":0,"function":{"arguments":":\"Oslo\"}"}}`,
		)
	},
	"tool-repeated": func(c *call) {
		c.answerWithCalls(c.toolCall(0, "call_1", `{"city"`), c.toolCall(0, "call_1", `:"Oslo"}`))
	},
	"tool-parallel": func(c *call) {
		c.answerWithCalls(c.toolCall(0, "call_1", ""), c.toolCall(1, "call_2", ""),
			`{"index":1,"function":{"arguments":"{\"city\":\"Rome\"}"}}`,
			`{"index":0,"function":{"arguments":"{\"city\":\"Oslo\"}"}}`)
	},
	"tool-zero-index": func(c *call) {
		c.answerWithCalls(c.toolCall(0, "call_1", `{"city":"Oslo"}`), c.toolCall(0, "call_2", `{"city":"Rome"}`))
	},
	"tool-no-arguments": func(c *call) {
		c.answerWithCalls(c.toolCall(0, "call_1", ""))
	},
	"tool-object": func(c *call) {
		c.answerWithCalls(
			fmt.Sprintf(`{"id":"call_1","function":{"name":%q,"arguments":{"city":"Oslo"}}}`, c.firstTool()),
		)
	},
	"tool-unlisted": func(c *call) {
		c.answerWithCalls(
			`{"index":0,"id":"call_1","type":"function","function":{"name":"launch_rocket","arguments":"{}"}}`,
		)
	},
	"tool-malformed": func(c *call) {
		c.answerWithCalls(c.toolCall(0, "call_1", `{"city":`))
	},
	// Some engines send empty pieces after a call.
	"tool-trailing": func(c *call) {
		c.answerWithCalls(
			c.toolCall(0, "call_1", `{"city":"Oslo"}`),
			`{"index":0,"function":{"arguments":""}}`,
			`{"index":0,"id":"","type":"function","function":{"name":"","arguments":""}}`,
		)
	},
	// tool-loop calls a tool, and answers with its result.
	"tool-loop": func(c *call) {
		if last := c.body.Messages[len(c.body.Messages)-1]; last.Role == "tool" {
			c.answer("The tool says: ", fmt.Sprint(last.Content))
			return
		}
		c.answerWithCalls(c.toolCall(0, "call_1", `{"city":"Oslo"}`))
	},
	// tools-plan follows the first user message, one line for each round: see Plan.
	"tools-plan": func(c *call) { c.followPlan() },
	// agent-plan follows the last user message: agents send messages and reminders of their own before it.
	"agent-plan": func(c *call) {
		for i, m := range slices.Backward(c.body.Messages) {
			text, _ := m.Content.(string)
			if plan := withoutReminders(text); m.Role == "user" && plan != "" {
				c.body.Messages = c.body.Messages[i:]
				c.body.Messages[0].Content = plan

				break
			}
		}
		c.followPlan()
	},
	// tools-endless calls the first tool as long as the request offers one. tools-stubborn always calls.
	"tools-endless": func(c *call) {
		if len(c.body.Tools) == 0 {
			c.answer("I give up.")
			return
		}
		c.answerWithCalls(c.toolCall(0, "call_1", `{"code":"1"}`))
	},
	"tools-stubborn": func(c *call) {
		c.answerWithCalls(
			`{"index":0,"id":"call_1","type":"function","function":{"name":"python","arguments":"{\"code\":\"1\"}"}}`,
		)
	},
	// tool-choice calls a tool only if tool_choice requires one.
	"tool-choice": func(c *call) {
		name := c.firstTool()
		switch choice := c.body.ToolChoice.(type) {
		case map[string]any:
			function, _ := choice["function"].(map[string]any)
			name, _ = function["name"].(string)
		case string:
			if choice != "required" {
				c.answer("Hello")
				return
			}
		default:
			c.answer("Hello")
			return
		}
		c.answerWithCalls(fmt.Sprintf(
			`{"index":0,"id":"call_1","type":"function","function":{"name":%q,"arguments":"{\"city\":\"Oslo\"}"}}`,
			name,
		))
	},
	"tool-harmony": func(c *call) {
		c.answer(
			"<|channel|>analysis<|message|>"+Thought+"<|end|><|start|>assistant<|channel|>commentary to=functions."+
				c.firstTool()+" <|constrain|>json<|message|>{\"city\":",
			"\"Oslo\"}<|call|>",
		)
	},
}
