// Package responses reads requests of OpenAI's Responses API as chat completions and writes the answers: whole, or as a
// stream of events. It keeps nothing between requests.
//
// Parse returns the chat completion and the Format of its answer. Format.Collector gathers an answer that is sent
// whole, Format.Events writes a stream; both use a Writer, so that the two forms cannot differ. The output is a list of
// items: text, reasoning, calls, and the calls of built-in tools and MCP servers. Each item has events for its start,
// its pieces and its end.
package responses

import (
	"strconv"
	"strings"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
	"presswork/internal/inference/seal"
)

// Options are what a request is checked against.
type Options struct {
	// CheckModel returns an error for a model before the rest of the body is read. Mandatory.
	CheckModel func(id string) error
	// Owner is the holder of the key. Encrypted reasoning is valid for its owner only.
	Owner string
	// Sealer encrypts reasoning and opens it. Mandatory.
	Sealer *seal.Sealer
}

// Parse reads the body of POST /v1/responses. It returns the chat completion that answers it and the form of the
// answer. Unknown fields are ignored. Catalogue.Admit checks everything that depends on the model; RenameFields
// converts its errors. Errors are *inference.Error: 400 with the field and the allowed values, or 413 for an image
// that is too large.
func Parse(body []byte, o Options) (*inference.Request, *Format, error) {
	var err error

	p := &parser{
		Object:  jsonbody.Parse(body, &err),
		options: o,
		r:       &inference.Request{ServiceTier: "on_demand"},
		f:       &Format{owner: o.Owner, sealer: o.Sealer, names: map[string]toolName{}},
	}

	// The order matters: input and tool choice refer to tools.
	for _, step := range []func(){
		p.readModel,
		p.rejectStored,
		p.readOptions,
		p.readReasoning,
		p.readText,
		p.readTools,
		p.readInput,
		p.dropBuiltins,
		p.readToolChoice,
		p.repeatOptions,
	} {
		if err != nil {
			return nil, nil, err
		}

		step()
	}

	return p.r, p.f, err
}

// Format is the form of the answer to one request. The caller sets Model and Created.
type Format struct {
	// Model is the id of the model.
	Model string
	// Created is the time of the request.
	Created time.Time

	// owner and sealer encrypt reasoning, if encrypt is set.
	owner  string
	sealer *seal.Sealer
	// names has the tools whose names are not those that the model sees.
	names map[string]toolName
	// summary writes reasoning as a summary instead of as its text. encrypt adds it encrypted.
	summary, encrypt bool
	// logprobs, sources and outputs add the probabilities of tokens, the pages of searches and the output of code.
	logprobs, sources, outputs bool
	// truncate drops the oldest turns of a prompt that is too long.
	truncate bool
	// options are the fields of the answer that repeat the request, JSON with a comma after each.
	options []byte
}

// The names that fields of a chat completion have in a request of the Responses API.
var chatFields = strings.NewReplacer(
	"max_completion_tokens", "max_output_tokens",
	"reasoning_effort", "reasoning.effort",
	"response_format", "text.format",
	"messages", "input",
)

// RenameFields returns e with the names that the fields of a chat completion have in the Responses API.
func RenameFields(e *inference.Error) *inference.Error {
	renamed := e.WithParam(chatFields.Replace(e.Param))
	renamed.Message = chatFields.Replace(e.Message)

	return renamed
}

// AppendCount appends the body of the answer to POST /v1/responses/input_tokens to dst.
func AppendCount(dst []byte, count inference.TokenCount) []byte {
	dst = append(dst, `{"object":"response.input_tokens","input_tokens":`...)
	dst = strconv.AppendInt(dst, int64(count.Tokens), 10)

	if count.Estimated {
		dst = append(dst, `,"estimated":true`...)
	}

	return append(dst, '}')
}
