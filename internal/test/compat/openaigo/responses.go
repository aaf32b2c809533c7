package main

import (
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// input returns a request with a text.
func input(scenario, text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: model(scenario), Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)},
	}
}

// both returns a whole response, and the response in the last event of a stream.
func both(p responses.ResponseNewParams, options ...option.RequestOption) []*responses.Response {
	whole := must(sdk.Responses.New(ctx, p, options...))
	streamed := lastEvent(p, options...).Response

	return []*responses.Response{whole, &streamed}
}

// lastEvent returns the last event of a stream, whose events must be in order.
func lastEvent(
	p responses.ResponseNewParams,
	options ...option.RequestOption,
) (last responses.ResponseStreamEventUnion) {
	stream := sdk.Responses.NewStreaming(ctx, p, options...)
	defer stream.Close()

	for n := int64(0); stream.Next(); n++ {
		last = stream.Current()
		check(last.SequenceNumber == n, "event %d: %s", n, last.RawJSON())
	}
	must(0, stream.Err())

	return last
}

// kinds returns the types of the items of a response.
func kinds(r *responses.Response) string {
	var list []string
	for _, item := range r.Output {
		list = append(list, item.Type)
	}

	return strings.Join(list, " ")
}

// function returns a function without parameters.
func function(name string) map[string]any {
	return map[string]any{"type": "function", "name": name, "parameters": map[string]any{"type": "object"}}
}

// items sets the items of a conversation as the input of a request.
func items(list ...any) option.RequestOption { return option.WithJSONSet("input", list) }

// itemsOf returns the output of a response as the client received it.
func itemsOf(r *responses.Response) (list []any) {
	for _, item := range r.Output {
		list = append(list, json.RawMessage(item.RawJSON()))
	}

	return list
}

// responding has the cases of the Responses API.
var responding = map[string]func(){
	"R1": func() {
		p := input("hello", "Hi")

		p.Instructions, p.Store, p.MaxOutputTokens = openai.String("Be brief."), openai.Bool(true), openai.Int(50)
		for _, r := range both(p) {
			check(r.OutputText() == hello && r.Status == "completed", "%s", r.RawJSON())
			check(r.Usage.TotalTokens == r.Usage.InputTokens+r.Usage.OutputTokens, "%s", r.RawJSON())
		}
	},
	"R2": func() {
		plan := "think Which city? | weather {\"city\": \"Oslo\"}"

		options := []option.RequestOption{
			option.WithJSONSet("tools", []any{function("weather")}),
			option.WithJSONSet("include", []string{"reasoning.encrypted_content"}),
		}
		for _, r := range both(input("tools-plan", plan), options...) {
			check(kinds(r) == "reasoning function_call", "%s", r.RawJSON())
			said := append([]any{map[string]string{"role": "user", "content": plan}}, itemsOf(r)...)
			said = append(said, map[string]string{
				"type": "function_call_output", "call_id": r.Output[1].CallID, "output": "rain",
			})
			after := must(sdk.Responses.New(ctx, input("tools-plan", ""), append(options, items(said...))...))
			check(after.OutputText() == "The tool says: rain", "%s", after.RawJSON())
		}
	},
	"R3": func() {
		offered := option.WithJSONSet("tools", []any{
			map[string]string{"type": "custom", "name": "apply_patch"},
			map[string]any{"type": "namespace", "name": "agents", "tools": []any{function("wait")}},
		})
		for _, r := range both(input("tools-plan", `apply_patch {"input": "***"} | agents__wait {"ms": 1}`), offered) {
			check(kinds(r) == "custom_tool_call function_call" && r.Output[0].Input == "***" &&
				r.Output[1].Name == "wait" && r.Output[1].AsFunctionCall().Namespace == "agents", "%s", r.RawJSON())
		}
	},
	"R4": func() {
		for _, r := range both(input("json", "Hi"), option.WithJSONSet("text.format.type", "json_object")) {
			check(r.OutputText() == `{"name":"Ada","age":36}`, "%s", r.RawJSON())
		}
	},
	"R5": func() {
		at := option.WithBaseURL(toolsBase)
		for _, r := range both(input("tools-plan", finding), at, offer("web_search")) {
			check(kinds(r) == "web_search_call web_search_call message" &&
				strings.HasSuffix(r.Output[2].Content[0].Annotations[0].URL, "/page"), "%s", r.RawJSON())
		}

		for _, r := range both(input("tools-plan", counting), at, offer("code_interpreter"),
			option.WithJSONSet("include", []string{"code_interpreter_call.outputs"})) {
			check(kinds(r) == "message code_interpreter_call message" &&
				strings.TrimSpace(r.Output[1].Outputs[0].Logs) == "42", "%s", r.RawJSON())
		}
	},
	"R6": func() {
		for _, r := range both(input("length", "Hi")) {
			check(r.Status == "incomplete" && r.IncompleteDetails.Reason == "max_output_tokens", "%s", r.RawJSON())
		}
		last := lastEvent(input("error-frame", "Hi"))
		check(last.Type == "response.failed" && last.Response.Error.Code == "server_error", "%s", last.RawJSON())
		_, err := sdk.Responses.New(ctx, input("hello", "Hi"), option.WithJSONSet("background", true))
		check(rejected(err).StatusCode == 400 && rejected(err).Param == "background", "%v", err)
	},
}
