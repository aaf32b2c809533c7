package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

var ctx = context.Background()

var sdk = open()

func complete(p openai.ChatCompletionNewParams, options ...option.RequestOption) (*openai.ChatCompletion, error) {
	return sdk.Chat.Completions.New(ctx, p, options...)
}

// read reads a stream to its end.
func read(p openai.ChatCompletionNewParams, options ...option.RequestOption) (chunks []openai.ChatCompletionChunk, err error) {
	stream := sdk.Chat.Completions.NewStreaming(ctx, p, options...)
	defer stream.Close()
	for stream.Next() {
		chunks = append(chunks, stream.Current())
	}
	return chunks, stream.Err()
}

// gather joins a stream by the SDK's own accumulator.
func gather(p openai.ChatCompletionNewParams, options ...option.RequestOption) openai.ChatCompletion {
	var all openai.ChatCompletionAccumulator
	for _, c := range must(read(p, options...)) {
		check(all.AddChunk(c), "the accumulator refuses %s", c.RawJSON())
	}
	return all.ChatCompletion
}

func contentOf(chunks []openai.ChatCompletionChunk) string {
	var b strings.Builder
	for _, c := range chunks {
		if len(c.Choices) > 0 {
			b.WriteString(c.Choices[0].Delta.Content)
		}
	}
	return b.String()
}

func refused(err error) *openai.Error {
	var e *openai.Error
	check(errors.As(err, &e), "not the SDK's error: %v", err)
	return e
}

func weather(name string) openai.ChatCompletionToolUnionParam {
	return openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: name, Parameters: shared.FunctionParameters{
		"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"},
	}})
}

func withTool(scenario string) openai.ChatCompletionNewParams {
	p := ask(scenario)
	p.Tools = []openai.ChatCompletionToolUnionParam{weather("weather")}
	return p
}

func person(scenario string) openai.ChatCompletionNewParams {
	p := ask(scenario)
	p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: "person", Strict: openai.Bool(true), Schema: map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"name", "age"},
			"properties": map[string]any{"name": map[string]any{"type": "string"}, "age": map[string]any{"type": "integer"}},
		},
	}}
	return p
}

func anyJSON(scenario string) openai.ChatCompletionNewParams {
	p := ask(scenario)
	p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	return p
}

const (
	hello   = "Hello, world!"
	oslo    = `{"city":"Oslo"}`
	thought = "Okay, the user asks for a fruit. 🍎"
	answer  = "An apple – naturally."
	pixel   = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

var opening, closing = regexp.MustCompile(`<think>\s*`), regexp.MustCompile(`\s*</think>\s*`)

func normal(content string) string {
	return closing.ReplaceAllString(opening.ReplaceAllString(content, "<think>"), "</think>")
}

// reasoned runs the six forms of reasoning through the three formats.
func reasoned(run func(p openai.ChatCompletionNewParams, format option.RequestOption) (content, reasoning string)) {
	for _, scenario := range []string{"reason-field", "reason-content", "reason-think", "reason-letters", "reason-prefilled", "reason-harmony"} {
		for format, want := range map[string][2]string{
			"raw": {"<think>" + thought + "</think>" + answer, ""}, "parsed": {answer, thought}, "hidden": {answer, ""},
		} {
			content, reasoning := run(ask(scenario), option.WithJSONSet("reasoning_format", format))
			check(normal(content) == want[0] && reasoning == want[1], "%s %s: %q %q", scenario, format, content, reasoning)
		}
	}
}

// reasoningOf is a field that the SDK has no name for.
func reasoningOf(raw string) string {
	var m struct{ Reasoning string }
	must(0, json.Unmarshal([]byte(raw), &m))
	return m.Reasoning
}

// tries counts the attempts of a client that retries.
func tries(counts *[]string) option.RequestOption {
	var mu sync.Mutex
	return option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		mu.Lock()
		*counts = append(*counts, r.Header.Get("X-Stainless-Retry-Count"))
		mu.Unlock()
		return next(r)
	})
}

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
		a := must(lax.Chat.Completions.New(ctx, p, option.WithJSONSet("include_reasoning", true), option.WithJSONSet("reasoning_format", "hidden")))
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
		check(chunks[0].Choices[0].Delta.Role == "assistant" && chunks[len(chunks)-1].Choices[0].FinishReason == "stop", "roles or reasons")
	},
	"A6": func() {
		stream := sdk.Chat.Completions.NewStreaming(ctx, ask("hang-middle"))
		for stream.Next() && stream.Current().Choices[0].Delta.Content == "" {
		}
		must(0, stream.Close())
		took := left("hang-middle")
		check(took < 2*time.Second, "it took %s", took)
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
		check(has(chunks[0]) && has(chunks[len(chunks)-1]) && !has(chunks[1]), "x_groq stands elsewhere")
		check(strings.Contains(chunks[len(chunks)-1].RawJSON(), "queue_time"), "%s", chunks[len(chunks)-1].RawJSON())
	},
	"A9": func() {
		must(complete(ask("hello"), option.WithJSONSet("never_heard_of.deep", []int{1}), option.WithJSONSet("cache_control", nil)))
	},
	"A10": func() {
		call := openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: "call_1", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "weather", Arguments: oslo}},
		}}}
		p := ask("whole")
		p.Messages = []openai.ChatCompletionMessageParamUnion{
			openai.DeveloperMessage("Be brief."),
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart("What is it?"), openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: pixel, Detail: "low"})}),
			{OfAssistant: &call}, openai.ToolMessage("rain", "call_1"), openai.AssistantMessage("A pixel."), openai.UserMessage("Sure?"),
		}
		must(complete(p))
		sent := asked("whole")[0]["messages"].([]any)
		raw := string(must(json.Marshal(sent)))
		check(len(sent) == 6 && strings.Contains(raw, pixel) && strings.Contains(raw, `"tool_call_id":"call_1"`), "%s", raw)
	},
	"A11": func() {
		found := false
		for _, m := range must(sdk.Models.List(ctx)).Data {
			found = found || m.ID == model("hello")
		}
		check(found, "the model is not listed")
		check(must(sdk.Models.Get(ctx, model("hello"))).ID == model("hello"), "another model")
	},
	"A12": func() {
		_, err := sdk.Models.Delete(ctx, model("hello"))
		check(refused(err).StatusCode == http.StatusMethodNotAllowed && refused(err).Code == "method_not_allowed", "%v", err)
	},

	"B13": func() {
		a := must(complete(withTool("tool-whole"))).Choices[0]
		check(a.FinishReason == "tool_calls" && a.Message.ToolCalls[0].Function.Arguments == oslo, "%s", a.RawJSON())
		check(gather(withTool("tool-whole")).Choices[0].Message.ToolCalls[0].Function.Arguments == oslo, "streamed")
	},
	"B14": func() {
		for _, scenario := range []string{"tool-split", "tool-repeated"} {
			calls := gather(withTool(scenario)).Choices[0].Message.ToolCalls
			check(len(calls) == 1 && calls[0].Function.Arguments == oslo && calls[0].ID != "", "%s: %+v", scenario, calls)
		}
	},
	"B15": func() {
		for _, scenario := range []string{"tool-parallel", "tool-zero-index"} {
			calls := gather(withTool(scenario)).Choices[0].Message.ToolCalls
			check(len(calls) == 2 && calls[0].Function.Arguments == oslo && calls[1].Function.Arguments == `{"city":"Rome"}` && calls[0].ID != calls[1].ID, "%s: %+v", scenario, calls)
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
		named := openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: "tides"})
		check(of(word("none")) == "" && of(word("auto")) == "" && of(word("required")) == "weather" && of(named) == "tides", "another choice")
	},
	"B18": func() {
		calls := gather(withTool("tool-trailing")).Choices[0].Message.ToolCalls
		check(len(calls) == 1 && calls[0].Function.Arguments == oslo, "%+v", calls)
	},
	"B19": func() {
		_, err := complete(withTool("tool-unlisted"))
		check(refused(err).StatusCode == 400 && strings.Contains(refused(err).Message, "was not in request.tools"), "%v", err)
		a := must(complete(withTool("tool-unlisted"), option.WithJSONSet("disable_tool_validation", true)))
		check(a.Choices[0].Message.ToolCalls[0].Function.Name == "launch_rocket", "%s", a.RawJSON())
	},
	"B20": func() {
		_, err := complete(withTool("tool-malformed"))
		e := refused(err)
		check(e.StatusCode == 400 && e.Code == "tool_use_failed" && strings.Contains(e.JSON.ExtraFields["failed_generation"].Raw(), "city"), "%s", e.RawJSON())
	},
	"B21": func() {
		for _, kind := range []string{"code_interpreter", "browser_search"} {
			_, err := complete(ask("hello"), option.WithJSONSet("tools", []any{map[string]any{"type": kind}}))
			check(refused(err).StatusCode == 400 && refused(err).Code == "tool_unavailable", "%v", err)
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
			e := refused(err)
			check(e.StatusCode == 400 && e.Code == "json_validate_failed" && strings.Contains(e.JSON.ExtraFields["failed_generation"].Raw(), "name"), "%s", e.RawJSON())
		}
	},
	"C25": func() {
		_, err := complete(anyJSON("json"), option.WithJSONSet("reasoning_format", "raw"))
		check(refused(err).StatusCode == 400 && strings.Contains(refused(err).Message, "raw"), "%v", refused(err).Message)
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
		_, err := complete(ask("reason-field"), option.WithJSONSet("reasoning_format", "parsed"), option.WithJSONSet("include_reasoning", true))
		check(refused(err).StatusCode == 400 && strings.Contains(refused(err).Message, "reasoning_format"), "%v", refused(err).Message)
	},
	"D30": func() {
		a := must(complete(ask("reason-field"), option.WithJSONSet("include_reasoning", false)))
		check(reasoningOf(a.Choices[0].Message.RawJSON()) == "" && a.Usage.CompletionTokensDetails.ReasoningTokens > 0, "%s", a.RawJSON())
	},
	"D31": func() {
		p := ask("reason-field")
		p.ReasoningEffort = "high"
		must(complete(p))
		found := false
		for _, r := range asked("reason-field") {
			found = found || r["reasoning_effort"] == "high"
		}
		check(found, "the model was not told")
		p.ReasoningEffort = "max"
		_, err := complete(p)
		check(refused(err).StatusCode == 400 && regexp.MustCompile("low.*medium.*high").MatchString(refused(err).Message), "%v", refused(err).Message)
	},

	"E32": func() {
		for _, scenario := range []string{"crlf", "bare", "noisy", "no-done", "no-end", "two-lines", "split-bytes"} {
			got := contentOf(must(read(ask(scenario))))
			check(got == "Grüße, 世界!", "%s: %q", scenario, got)
		}
	},
	"E33": func() {
		text := "a\u2028b\u2029c\u0085d\n\ne\r\nf\u0000g data: [DONE]\n\n 𝄞\"\\"
		got := contentOf(must(read(say("echo", text))))
		check(got == text, "%q", got)
	},
	"E34": func() {
		check(contentOf(must(read(ask("late:11s")))) == hello, "another answer")
	},
	"E35": func() {
		n := len(contentOf(must(read(ask("big-line")))))
		check(n == 16*90_000, "%d bytes", n)
	},
	"E36": func() {
		for _, scenario := range []string{"cut", "error-frame", "cut-clean"} {
			chunks, err := read(ask(scenario))
			check(err != nil && strings.HasPrefix(contentOf(chunks), "Hello") && strings.Contains(err.Error(), "model's server"), "%s: %q %v", scenario, contentOf(chunks), err)
		}
	},
	"E37": func() {
		stream := sdk.Chat.Completions.NewStreaming(ctx, ask("hello"))
		for stream.Next() {
		}
		must(0, stream.Err())
		stream.Close()
		stream.Close()
	},

	"F38": func() {
		_, err := complete(ask("hello"), option.WithAPIKey("wrong"))
		e := refused(err)
		check(e.StatusCode == 401 && e.Code == "invalid_api_key" && e.Type == "invalid_request_error", "%v", err)
	},
	"F39": func() {
		p := ask("hello")
		p.Model = "nothing"
		_, err := complete(p)
		e := refused(err)
		check(e.StatusCode == 404 && e.Code == "model_not_found" && e.Param == "model", "%v", err)
	},
	"F40": func() {
		e := refused(sdk.Get(ctx, "nowhere", nil, nil))
		check(e.StatusCode == 404 && e.Code == "unknown_url", "%v", e)
	},
	"F41": func() {
		_, err := complete(say("hello", strings.Repeat("x", 50<<20)))
		check(refused(err).StatusCode == 413 && refused(err).Code == "content_too_large", "%v", refused(err).RawJSON())
	},
	"F42": func() {
		for field, set := range map[string]option.RequestOption{
			"messages": option.WithJSONSet("messages", []any{}), "temperature": option.WithJSONSet("temperature", 3), "n": option.WithJSONSet("n", 2),
			"messages[0].role": option.WithJSONSet("messages.0.role", "wizard"),
		} {
			_, err := complete(ask("hello"), set)
			check(refused(err).StatusCode == 400 && refused(err).Param == field, "%v", err)
		}
	},
	"F43": func() {
		slow := option.WithAPIKey("slow-" + client)
		stream := sdk.Chat.Completions.NewStreaming(ctx, ask("tokens:30@20"), slow)
		check(stream.Next(), "%v", stream.Err())
		began := time.Now()
		_, err := complete(ask("hello"), slow)
		again, _ := strconv.Atoi(refused(err).Response.Header.Get("Retry-After"))
		check(refused(err).StatusCode == 429 && again >= 1, "%v", err)
		must(complete(ask("hello"), slow, option.WithMaxRetries(4)))
		check(time.Since(began) >= 900*time.Millisecond, "it did not wait")
		for stream.Next() {
		}
		must(0, stream.Err())
	},
	"F44": func() {
		for scenario, want := range map[string]struct{ status, tries int }{
			"status:500": {502, 3}, "status:401": {502, 1}, "status:404": {502, 1}, "status:422": {422, 1}, "html": {502, 3}, "garbage": {502, 3}, "context": {400, 1},
		} {
			var counts []string
			_, err := complete(ask(scenario), option.WithMaxRetries(2), tries(&counts))
			check(refused(err).StatusCode == want.status && len(counts) == want.tries && counts[len(counts)-1] == strconv.Itoa(want.tries-1), "%s: %v %v", scenario, err, counts)
			check(!strings.Contains(refused(err).RawJSON(), "127.0.0.1"), "it tells an internal address")
		}
	},
	"F45": func() {
		stream := sdk.Chat.Completions.NewStreaming(ctx, ask("narrow"))
		check(stream.Next(), "%v", stream.Err())
		short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		_, err := sdk.Chat.Completions.New(short, ask("narrow"))
		check(errors.Is(err, context.DeadlineExceeded), "%v", err)
		for stream.Next() {
		}
		must(0, stream.Err())
		must(complete(ask("narrow")))
		check(len(asked("tokens:40@20")) == 2, "what nobody waits for reached the model")
	},
	"F46": func() {
		_, err := complete(ask("hang"), option.WithRequestTimeout(time.Second))
		check(err != nil, "no error")
		took := left("hang")
		check(took < 2*time.Second, "it took %s", took)
	},
}
