package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// Plans for the model "tools-plan", one line for each round.
const (
	counting = "say Counting. | python {\"code\": \"print(6 * 7)\"}\nsay It is 42."
	finding  = "browser_search {\"query\": \"paper\"}\nbrowser_open {\"id\": 0}\nsay Cai Lun 【1†L0-L3】 made it."
	mixed    = "python {\"code\": \"1\"}\nweather {\"city\": \"Oslo\"} | python {\"code\": \"2\"}"
)

// executed is a call of a built-in tool, for which the SDK has no type.
type executed struct {
	Index                         int
	Type, Name, Arguments, Output string
	Search                        struct{ Results []struct{ Title string } } `json:"search_results"`
	Pages                         []struct{ URL string }                     `json:"browser_results"`
}

// executedOf returns the calls of built-in tools in a message.
func executedOf(raw string) (list []executed) {
	var m struct {
		Executed []executed `json:"executed_tools"`
	}
	must(0, json.Unmarshal([]byte(raw), &m))

	return m.Executed
}

// runTools requests an answer from the server with built-in tools. The model follows plan.
func runTools(plan string, options ...option.RequestOption) *openai.ChatCompletion {
	tools := open(option.WithBaseURL(toolsBase))
	return must(tools.Chat.Completions.New(ctx, say("tools-plan", plan), options...))
}

// offer sets the tools of a request. The SDK has no types for built-in tools.
func offer(types ...string) option.RequestOption {
	var list []any
	for _, t := range types {
		list = append(list, map[string]any{"type": t})
	}

	return option.WithJSONSet("tools", list)
}

// builtin has the cases of built-in tools, several answers and text completions.
var builtin = map[string]func(){
	"T1": func() {
		a := runTools(counting, offer("code_interpreter"))
		check(a.Choices[0].Message.Content == "Counting.\n\nIt is 42.", "%s", a.RawJSON())
		var streamed []executed

		chunks := must(read(say("tools-plan", counting), option.WithBaseURL(toolsBase), offer("code_interpreter")))
		for _, c := range chunks {
			streamed = append(streamed, executedOf(c.Choices[0].Delta.RawJSON())...)
		}
		check(contentOf(chunks) == a.Choices[0].Message.Content, "%q", contentOf(chunks))

		for _, list := range [][]executed{executedOf(a.Choices[0].Message.RawJSON()), streamed} {
			check(
				len(list) == 1 && list[0].Name == "python" && list[0].Type == "function" &&
					strings.TrimSpace(list[0].Output) == "42",
				"%+v",
				list,
			)
		}
	},
	"T2": func() {
		choice := option.WithJSONSet("tool_choice", map[string]any{"type": "browser_search"})
		m := runTools(finding, offer("browser_search"), choice).Choices[0].Message
		list := executedOf(m.RawJSON())
		check(
			len(list) == 2 && list[0].Search.Results[0].Title == "Paper" && strings.Contains(list[1].Output, "Cai Lun"),
			"%s",
			m.RawJSON(),
		)
		check(len(m.Annotations) == 1 && strings.HasSuffix(m.Annotations[0].URLCitation.URL, "/page"), "%s",
			m.RawJSON())
	},
	"T3": func() {
		var function map[string]any
		must(0, json.Unmarshal(must(json.Marshal(weather("weather"))), &function))
		a := runTools(mixed, option.WithJSONSet("tools", []any{map[string]any{"type": "code_interpreter"}, function}))
		calls := a.Choices[0].Message.ToolCalls
		check(
			len(calls) == 1 && calls[0].Function.Name == "weather" &&
				len(executedOf(a.Choices[0].Message.RawJSON())) == 1,
			"%s",
			a.RawJSON(),
		)
	},
	"T4": func() {
		p := ask("many")

		p.N, p.Logprobs, p.TopLogprobs = openai.Int(2), openai.Bool(true), openai.Int(1)
		for _, choices := range [][]openai.ChatCompletionChoice{must(complete(p)).Choices, gather(p).Choices} {
			for i, c := range choices {
				check(c.Message.Content == fmt.Sprintf("Answer number %d", i), "%s", c.RawJSON())
				check(len(c.Logprobs.Content) == 3 && c.Logprobs.Content[0].Token == "Answer", "%+v", c.Logprobs)
			}
			check(len(choices) == 2, "%d answers", len(choices))
		}
	},
	"T5": func() {
		p := openai.CompletionNewParams{
			Model:    openai.CompletionNewParamsModel(model("many")),
			Prompt:   openai.CompletionNewParamsPromptUnion{OfArrayOfStrings: []string{"One", "Two"}},
			Logprobs: openai.Int(1),
		}
		a := must(sdk.Completions.New(ctx, p))
		check(len(a.Choices) == 2 && a.Choices[1].Text == "Answer number 1" && len(a.Choices[1].Logprobs.Tokens) == 3,
			"%s", a.RawJSON())

		stream := sdk.Completions.NewStreaming(
			ctx,
			openai.CompletionNewParams{
				Model:  p.Model,
				Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("One")},
			},
		)
		defer stream.Close()

		var text strings.Builder
		for stream.Next() {
			text.WriteString(stream.Current().Choices[0].Text)
		}
		check(stream.Err() == nil && text.String() == "Answer number 0", "%q, %v", text.String(), stream.Err())
	},
}
