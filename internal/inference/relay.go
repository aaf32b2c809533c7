package inference

import (
	"context"
	"encoding/json"
	"net/http"
)

// MaxRelayed bounds the answer to a Relay, in bytes. It is in the memory of Redis until the caller has read it.
const MaxRelayed = 64 << 20

// Relay is a request that reaches an upstream unchanged except for its model. It goes through the queue as JSON.
type Relay struct {
	Model string `json:"model"`
	Owner string `json:"owner,omitempty"`
	// Capability is CanDraw or CanModerate.
	Capability string `json:"capability"`
	// Fields are the fields of the request without the model.
	Fields map[string]json.RawMessage `json:"fields"`
}

// RelayEngine is an Engine that passes on requests.
type RelayEngine interface {
	Engine
	// Relay sends the request and returns the whole answer. Failures of the upstream are *Error. Relay returns at once
	// when ctx ends.
	Relay(ctx context.Context, r *Relay) (*Relayed, error)
}

// Relayed is a piece of the answer to a Relay.
type Relayed struct {
	// First marks the first piece.
	First bool `json:"first,omitempty"`
	// Data is JSON, or a piece of it.
	Data []byte `json:"data"`
	// PromptTokens and CompletionTokens are the upstream's counts; 0 is unknown.
	PromptTokens     int `json:"-"`
	CompletionTokens int `json:"-"`
}

// EstimateTokens estimates the tokens of the request.
func (r *Relay) EstimateTokens() int {
	bytes := 0
	for _, value := range r.Fields {
		bytes += len(value)
	}

	return TextTokens(bytes)
}

// ErrCannotRelay returns the error for an upstream without the routes of a Relay.
func ErrCannotRelay() *Error {
	return Errorf(http.StatusBadRequest, UpstreamError, "the model's server supports neither images nor moderations")
}
