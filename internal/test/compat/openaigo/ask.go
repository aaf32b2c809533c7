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

// complete requests a whole answer.
func complete(p openai.ChatCompletionNewParams, options ...option.RequestOption) (*openai.ChatCompletion, error) {
	return sdk.Chat.Completions.New(ctx, p, options...)
}

// read requests a stream and reads it to its end.
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

// gather requests a stream and joins it with the accumulator of the SDK.
func gather(p openai.ChatCompletionNewParams, options ...option.RequestOption) openai.ChatCompletion {
	var all openai.ChatCompletionAccumulator
	for _, c := range must(read(p, options...)) {
		check(all.AddChunk(c), "the accumulator rejects %s", c.RawJSON())
	}

	return all.ChatCompletion
}

// contentOf joins the text of a stream.
func contentOf(chunks []openai.ChatCompletionChunk) string {
	var b strings.Builder

	for _, c := range chunks {
		if len(c.Choices) > 0 {
			b.WriteString(c.Choices[0].Delta.Content)
		}
	}

	return b.String()
}

// rejected returns the error of the SDK that err must be.
func rejected(err error) *openai.Error {
	var e *openai.Error
	check(errors.As(err, &e), "got %v, want an error of the SDK", err)

	return e
}

// weather returns a function with a city.
func weather(name string) openai.ChatCompletionToolUnionParam {
	return openai.ChatCompletionFunctionTool(
		shared.FunctionDefinitionParam{Name: name, Parameters: shared.FunctionParameters{
			"type":       "object",
			"properties": map[string]any{"city": map[string]any{"type": "string"}},
			"required":   []string{"city"},
		}},
	)
}

// withTool returns a request with the function weather.
func withTool(scenario string) openai.ChatCompletionNewParams {
	p := ask(scenario)
	p.Tools = []openai.ChatCompletionToolUnionParam{weather("weather")}

	return p
}

// person returns a request for an answer by a strict schema.
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

// anyJSON returns a request for an answer in JSON.
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

// normal returns a raw answer without the blanks that models put around the tags.
func normal(content string) string {
	return closing.ReplaceAllString(opening.ReplaceAllString(content, "<think>"), "</think>")
}

// reasoned checks the six forms of reasoning in the three formats.
func reasoned(run func(p openai.ChatCompletionNewParams, format option.RequestOption) (content, reasoning string)) {
	for _, scenario := range []string{
		"reason-field", "reason-content", "reason-think", "reason-letters", "reason-prefilled", "reason-harmony",
	} {
		for format, want := range map[string][2]string{
			"raw": {"<think>" + thought + "</think>" + answer, ""}, "parsed": {answer, thought}, "hidden": {answer, ""},
		} {
			content, reasoning := run(ask(scenario), option.WithJSONSet("reasoning_format", format))
			check(normal(content) == want[0] && reasoning == want[1], "%s %s: %q %q", scenario, format, content,
				reasoning)
		}
	}
}

// reasoningOf returns the field reasoning of a message, for which the SDK has no name.
func reasoningOf(raw string) string {
	var m struct{ Reasoning string }
	must(0, json.Unmarshal([]byte(raw), &m))

	return m.Reasoning
}

// tries appends the number of retries so far to counts, for each attempt of a client.
func tries(counts *[]string) option.RequestOption {
	var mu sync.Mutex

	return option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		mu.Lock()
		*counts = append(*counts, r.Header.Get("X-Stainless-Retry-Count"))
		mu.Unlock()

		return next(r)
	})
}
