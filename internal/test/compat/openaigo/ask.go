package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

var ctx = context.Background()

var sdk = open()

// complete returns a whole answer.
func complete(p openai.ChatCompletionNewParams, options ...option.RequestOption) (*openai.ChatCompletion, error) {
	return sdk.Chat.Completions.New(ctx, p, options...)
}

// read reads a stream to its end.
func read(
	p openai.ChatCompletionNewParams,
	options ...option.RequestOption,
) (chunks []openai.ChatCompletionChunk, err error) {
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

// contentOf joins the content of a stream.
func contentOf(chunks []openai.ChatCompletionChunk) string {
	var b strings.Builder
	for _, c := range chunks {
		if len(c.Choices) > 0 {
			b.WriteString(c.Choices[0].Delta.Content)
		}
	}
	return b.String()
}

// refused returns the SDK's error in err. It fails the case for any other error, and without one.
func refused(err error) *openai.Error {
	var e *openai.Error
	check(errors.As(err, &e), "not the SDK's error: %v", err)
	return e
}

// weather returns a tool with the argument city.
func weather(name string) openai.ChatCompletionToolUnionParam {
	return openai.ChatCompletionFunctionTool(
		shared.FunctionDefinitionParam{Name: name, Parameters: shared.FunctionParameters{
			"type":       "object",
			"properties": map[string]any{"city": map[string]any{"type": "string"}},
			"required":   []string{"city"},
		}},
	)
}

// withTool returns a request with the tool weather.
func withTool(scenario string) openai.ChatCompletionNewParams {
	p := ask(scenario)
	p.Tools = []openai.ChatCompletionToolUnionParam{weather("weather")}
	return p
}

// person returns a request for JSON with the schema of a person.
func person(scenario string) openai.ChatCompletionNewParams {
	p := ask(scenario)
	p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "person", Strict: openai.Bool(true), Schema: map[string]any{
				"type":                 "object",
				"additionalProperties": false,
				"required":             []string{"name", "age"},
				"properties": map[string]any{
					"name": map[string]any{"type": "string"},
					"age":  map[string]any{"type": "integer"},
				},
			},
		},
	}
	return p
}

// anyJSON returns a request for any JSON object.
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

// normal removes the white space around the tags of reasoning.
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
			check(
				normal(content) == want[0] && reasoning == want[1],
				"%s %s: %q %q",
				scenario,
				format,
				content,
				reasoning,
			)
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
