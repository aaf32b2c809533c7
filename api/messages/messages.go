// Package messages reads requests of Anthropic's Messages API as chat completions and writes the answers: whole, or as
// a stream of events. It keeps nothing between requests.
//
// Parse returns the chat completion and the Format of its answer. Format.Collector gathers an answer that is sent
// whole, Format.Events writes a stream; both use a Writer, so that the two forms cannot differ. If the model's upstream
// itself speaks the Messages API, blocks and fields pass unchanged (Options.Native).
//
// The text of a thought is sealed in its signature. The client sends the signature back with the next request, and the
// model sees its own thoughts again.
package messages

import (
	"strconv"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
	"presswork/internal/inference/seal"
)

// Options are what a request is checked against.
type Options struct {
	// CheckModel returns an error for a model before the rest of the body is read. Mandatory.
	CheckModel func(id string) error
	// Owner is the holder of the key. The signature of a thought is valid for its owner only.
	Owner string
	// Sealer makes and checks the signatures. Mandatory.
	Sealer *seal.Sealer
	// Native reports whether an upstream of the model that CheckModel has accepted speaks the Messages API. It then gets
	// blocks and fields as the client sent them. Default: no.
	Native func() bool
	// Betas are those of the header anthropic-beta.
	Betas []string
	// PDFText returns the text of a PDF: the function of this package, with the limits of the caller. Mandatory.
	PDFText func(pdf []byte) (string, error)
	// Counting allows a body without max_tokens, because only its tokens are counted.
	Counting bool
}

// Parse reads the body of POST /v1/messages. It returns the chat completion that answers it and the form of the
// answer. Unknown fields are ignored. Catalogue.Admit checks everything that depends on the model; RenameFields
// converts its errors. Errors are *inference.Error: 400 with the field and the allowed values, or 413 for an image
// that is too large.
func Parse(body []byte, o Options) (*inference.Request, *Format, error) {
	var err error

	if o.Native == nil {
		o.Native = func() bool { return false }
	}

	p := &parser{
		Object:  jsonbody.Parse(body, &err),
		options: o,
		r:       &inference.Request{ServiceTier: "on_demand"},
		f:       &Format{owner: o.Owner, sealer: o.Sealer, names: map[string]string{}},
	}

	// The order matters: servers, messages and tool choice refer to tools.
	for _, step := range []func(){
		p.readModel,
		p.rejectThread,
		p.readOptions,
		p.readThinking,
		p.readFormat,
		p.readTools,
		p.readServers,
		p.readMessages,
		p.readToolChoice,
	} {
		if err != nil {
			return nil, nil, err
		}

		step()
	}

	return p.r, p.f, err
}

// Format is the form of the answer to one request. The caller sets the exported fields.
type Format struct {
	// Model is the id of the model.
	Model string
	// RequestID is the request-id of the answer. Errors in a stream repeat it.
	RequestID string
	// Tokens is the estimate of the input's tokens, which a stream reports before it knows the true number.
	Tokens int

	// owner and sealer seal the text of thoughts in their signatures.
	owner  string
	sealer *seal.Sealer
	// names has the client's names of the tools whose names were too long for the model.
	names map[string]string
	// omit leaves the text of thoughts out. Their signatures still hold it.
	omit bool
}

// The names that fields of a chat completion have in a request of the Messages API.
var chatFields = strings.NewReplacer(
	"max_completion_tokens", "max_tokens",
	"reasoning_effort", "thinking",
	"response_format", "output_config.format",
	".function.name", ".name",
)

// RenameFields returns e with the names that the fields of a chat completion have in the Messages API.
func RenameFields(e *inference.Error) *inference.Error {
	renamed := e.WithParam(chatFields.Replace(e.Param))
	renamed.Message = chatFields.Replace(e.Message)

	return renamed
}

// AppendCount appends the body of the answer to POST /v1/messages/count_tokens to dst.
func AppendCount(dst []byte, count inference.TokenCount) []byte {
	return append(strconv.AppendInt(append(dst, `{"input_tokens":`...), int64(count.Tokens), 10), '}')
}
