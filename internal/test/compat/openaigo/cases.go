package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

// cases has the cases of requests, answers, tools, JSON and reasoning. main adds those of the other files.
var cases = map[string]func(){
	"A1": func() {
		a := must(complete(ask("hello")))
		check(a.Choices[0].Message.Content == hello && a.Choices[0].FinishReason == "stop", "%s", a.RawJSON())
		check(a.Usage.TotalTokens == a.Usage.PromptTokens+a.Usage.CompletionTokens, "%s", a.RawJSON())
	},
	"A2": func() {
		lax := open(option.WithBaseURL(laxBase))
		p := withTool("hello")
		p.FrequencyPenalty, p.PresencePenalty = openai.Float(-2), openai.Float(2)
		p.Logprobs, p.TopLogprobs, p.LogitBias = openai.Bool(true), openai.Int(0), map[string]int64{"foo": 0}
		p.MaxCompletionTokens, p.MaxTokens, p.N, p.Seed = openai.Int(0), openai.Int(0), openai.Int(1), openai.Int(0)
		p.Metadata, p.Store, p.User = shared.Metadata{"foo": "string"}, openai.Bool(true), openai.String("user")
		p.Modalities, p.ReasoningEffort, p.ServiceTier = []string{"text"}, "none", "auto"
		p.Stop.OfString = openai.String("\n")
		p.Temperature, p.TopP, p.Verbosity = openai.Float(1), openai.Float(1), "low"
		p.ToolChoice.OfAuto = openai.String("none")
		p.ResponseFormat.OfText = &shared.ResponseFormatTextParam{}
		p.PromptCacheKey, p.SafetyIdentifier = openai.String("x"), openai.String("x")
		a := must(
			lax.Chat.Completions.New(ctx, p, option.WithJSONSet("include_reasoning", true),
				option.WithJSONSet("reasoning_format", "hidden")),
		)
		check(a.Choices[0].Message.Content == hello, "%s", a.RawJSON())
	},
	"A3": func() {
		var res *http.Response
		must(complete(ask("hello"), option.WithAPIKey("small-"+client), option.WithResponseInto(&res)))
		check(regexp.MustCompile(`^req_[0-9a-z]{26}$`).MatchString(res.Header.Get("X-Request-Id")), "%v", res.Header)
		_, err := strconv.Atoi(res.Header.Get("X-Ratelimit-Limit-Tokens"))
		check(err == nil, "%v", res.Header)
		must(time.ParseDuration(res.Header.Get("X-Ratelimit-Reset-Tokens")))
	},
	"A4": func() {
		var body []byte
		must(0, sdk.Post(ctx, "chat/completions", ask("hello"), &body))
		check(bytes.Contains(body, []byte(hello)), "%s", body)
	},
	"A5": func() {
		chunks := must(read(say("echo", "one two three")))
		check(contentOf(chunks) == "one two three", "%q", contentOf(chunks))
		check(
			chunks[0].Choices[0].Delta.Role == "assistant" && chunks[len(chunks)-1].Choices[0].FinishReason == "stop",
			"roles or reasons",
		)
	},
	"A6": func() {
		stream := sdk.Chat.Completions.NewStreaming(ctx, ask("hang-middle"))
		for stream.Next() && stream.Current().Choices[0].Delta.Content == "" {
		}
		must(0, stream.Close())
		left("hang-middle")
	},
	"A7": func() {
		p := ask("hello")
		p.StreamOptions.IncludeUsage = openai.Bool(true)
		chunks := must(read(p))
		last := chunks[len(chunks)-1]
		check(len(last.Choices) == 0 && last.Usage.CompletionTokens > 0, "%s", last.RawJSON())
		check(gather(p).Usage.CompletionTokens == last.Usage.CompletionTokens, "the accumulator has another usage")
	},
	"A8": func() {
		chunks := must(read(ask("hello")))
		has := func(c openai.ChatCompletionChunk) bool { return c.JSON.ExtraFields["x_groq"].Raw() != "" }
		check(
			has(chunks[0]) && has(chunks[len(chunks)-1]) && !has(chunks[1]),
			"x_groq is not on the first and the last chunk alone",
		)
		check(strings.Contains(chunks[len(chunks)-1].RawJSON(), "queue_time"), "%s", chunks[len(chunks)-1].RawJSON())
	},
	"A9": func() {
		must(
			complete(ask("hello"), option.WithJSONSet("never_heard_of.deep", []int{1}),
				option.WithJSONSet("cache_control", nil)),
		)
	},
	"A10": func() {
		call := openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{
			{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID: "call_1",
					Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
						Name:      "weather",
						Arguments: oslo,
					},
				},
			},
		}}
		p := ask("whole")
		p.Messages = []openai.ChatCompletionMessageParamUnion{
			openai.DeveloperMessage("Be brief."),
			openai.UserMessage(
				[]openai.ChatCompletionContentPartUnionParam{
					openai.TextContentPart("What is it?"),
					openai.ImageContentPart(
						openai.ChatCompletionContentPartImageImageURLParam{URL: pixel, Detail: "low"},
					),
				},
			),
			{OfAssistant: &call},
			openai.ToolMessage("rain", "call_1"),
			openai.AssistantMessage("A pixel."),
			openai.UserMessage("Sure?"),
		}
		must(complete(p))
		sent := asked("whole")[0]["messages"].([]any)
		raw := string(must(json.Marshal(sent)))
		check(len(sent) == 6 && strings.Contains(raw, pixel) && strings.Contains(raw, `"tool_call_id":"call_1"`),
			"%s", raw)
	},
	"A11": func() {
		found := false
		for _, m := range must(sdk.Models.List(ctx)).Data {
			found = found || m.ID == model("hello")
		}
		check(found, "the model is not listed")
		check(must(sdk.Models.Get(ctx, model("hello"))).ID == model("hello"), "Models.Get returned another model")
	},
	"A12": func() {
		_, err := sdk.Models.Delete(ctx, model("hello"))
		check(rejected(err).StatusCode == http.StatusMethodNotAllowed && rejected(err).Code == "method_not_allowed",
			"%v", err)
	},

	"B13": func() {
		a := must(complete(withTool("tool-whole"))).Choices[0]
		check(a.FinishReason == "tool_calls" && a.Message.ToolCalls[0].Function.Arguments == oslo, "%s", a.RawJSON())
		check(gather(withTool("tool-whole")).Choices[0].Message.ToolCalls[0].Function.Arguments == oslo, "streamed")
	},
	"B14": func() {
		for _, scenario := range []string{"tool-split", "tool-repeated"} {
			calls := gather(withTool(scenario)).Choices[0].Message.ToolCalls
			check(len(calls) == 1 && calls[0].Function.Arguments == oslo && calls[0].ID != "", "%s: %+v", scenario,
				calls)
		}
	},
	"B15": func() {
		for _, scenario := range []string{"tool-parallel", "tool-zero-index"} {
			calls := gather(withTool(scenario)).Choices[0].Message.ToolCalls
			check(
				len(calls) == 2 && calls[0].Function.Arguments == oslo && calls[1].Function.Arguments == `{"city":"Rome"}` &&
					calls[0].ID != calls[1].ID,
				"%s: %+v",
				scenario,
				calls,
			)
		}
	},
	"B16": func() {
		p := withTool("tool-loop")
		first := must(complete(p)).Choices[0].Message
		p.Messages = append(p.Messages, first.ToParam(), openai.ToolMessage("rain in Oslo", first.ToolCalls[0].ID))
		second := must(complete(p)).Choices[0].Message.Content
		check(second == "The tool says: rain in Oslo", "%q", second)
	},
	"B17": func() {
		of := func(choice openai.ChatCompletionToolChoiceOptionUnionParam) string {
			p := withTool("tool-choice")

			p.Tools, p.ToolChoice = append(p.Tools, weather("tides")), choice
			if calls := must(complete(p)).Choices[0].Message.ToolCalls; len(calls) > 0 {
				return calls[0].Function.Name
			}

			return ""
		}
		word := func(s string) openai.ChatCompletionToolChoiceOptionUnionParam {
			return openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: param.NewOpt(s)}
		}
		named := openai.ToolChoiceOptionFunctionToolChoice(
			openai.ChatCompletionNamedToolChoiceFunctionParam{Name: "tides"},
		)
		check(
			of(word("none")) == "" && of(word("auto")) == "" && of(word("required")) == "weather" &&
				of(named) == "tides",
			"another choice",
		)
	},
	"B18": func() {
		calls := gather(withTool("tool-trailing")).Choices[0].Message.ToolCalls
		check(len(calls) == 1 && calls[0].Function.Arguments == oslo, "%+v", calls)
	},
	"B19": func() {
		_, err := complete(withTool("tool-unlisted"))
		check(rejected(err).StatusCode == 400 && strings.Contains(rejected(err).Message, "was not in request.tools"),
			"%v", err)
		a := must(complete(withTool("tool-unlisted"), option.WithJSONSet("disable_tool_validation", true)))
		check(a.Choices[0].Message.ToolCalls[0].Function.Name == "launch_rocket", "%s", a.RawJSON())
	},
	"B20": func() {
		_, err := complete(withTool("tool-malformed"))
		e := rejected(err)
		check(
			e.StatusCode == 400 && e.Code == "tool_use_failed" &&
				strings.Contains(e.JSON.ExtraFields["failed_generation"].Raw(), "city"),
			"%s",
			e.RawJSON(),
		)
	},
	"B21": func() {
		for _, kind := range []string{"code_interpreter", "browser_search"} {
			_, err := complete(ask("hello"), option.WithJSONSet("tools", []any{map[string]any{"type": kind}}))
			check(rejected(err).StatusCode == 400 && rejected(err).Code == "tool_unavailable", "%v", err)
		}
	},

	"C22": func() {
		a := must(complete(anyJSON("json"))).Choices[0].Message.Content
		check(a == `{"name":"Ada","age":36}`, "%s", a)
	},
	"C23": func() {
		for _, scenario := range []string{"json", "json-fenced", "json-second"} {
			var p struct{ Age int }
			must(0, json.Unmarshal([]byte(must(complete(person(scenario))).Choices[0].Message.Content), &p))
			check(p.Age == 36, "%s: %d", scenario, p.Age)
		}
	},
	"C24": func() {
		for _, p := range []openai.ChatCompletionNewParams{anyJSON("json-broken"), person("json-wrong")} {
			_, err := complete(p)
			e := rejected(err)
			check(
				e.StatusCode == 400 && e.Code == "json_validate_failed" &&
					strings.Contains(e.JSON.ExtraFields["failed_generation"].Raw(), "name"),
				"%s",
				e.RawJSON(),
			)
		}
	},
	"C25": func() {
		_, err := complete(anyJSON("json"), option.WithJSONSet("reasoning_format", "raw"))
		check(rejected(err).StatusCode == 400 && strings.Contains(rejected(err).Message, "raw"), "%v",
			rejected(err).Message)
	},
	"C26": func() {
		a := gather(person("json")).Choices[0].Message.Content
		check(a == `{"name":"Ada","age":36}`, "%s", a)
	},

	"D27": func() {
		reasoned(func(p openai.ChatCompletionNewParams, format option.RequestOption) (string, string) {
			m := must(complete(p, format)).Choices[0].Message
			return m.Content, reasoningOf(m.RawJSON())
		})
	},
	"D28": func() {
		reasoned(func(p openai.ChatCompletionNewParams, format option.RequestOption) (content, reasoning string) {
			for _, c := range must(read(p, format)) {
				content += c.Choices[0].Delta.Content
				reasoning += reasoningOf(c.Choices[0].Delta.RawJSON())
			}

			return content, reasoning
		})
	},
	"D29": func() {
		_, err := complete(ask("reason-field"), option.WithJSONSet("reasoning_format", "parsed"),
			option.WithJSONSet("include_reasoning", true))
		check(rejected(err).StatusCode == 400 && strings.Contains(rejected(err).Message, "reasoning_format"), "%v",
			rejected(err).Message)
	},
	"D30": func() {
		a := must(complete(ask("reason-field"), option.WithJSONSet("include_reasoning", false)))
		check(
			reasoningOf(a.Choices[0].Message.RawJSON()) == "" && a.Usage.CompletionTokensDetails.ReasoningTokens > 0,
			"%s",
			a.RawJSON(),
		)
	},
	"D31": func() {
		p := ask("reason-field")
		p.ReasoningEffort = "high"
		must(complete(p))

		found := false
		for _, r := range asked("reason-field") {
			found = found || r["reasoning_effort"] == "high"
		}
		check(found, "the model received no reasoning_effort")
		p.ReasoningEffort = "max"
		_, err := complete(p)
		check(
			rejected(err).StatusCode == 400 &&
				regexp.MustCompile("low.*medium.*high").MatchString(rejected(err).Message),
			"%v",
			rejected(err).Message,
		)
	},
}
