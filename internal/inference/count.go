package inference

import (
	"context"
	"slices"
)

// TokenCounter is an Engine whose upstream may count the tokens of a prompt.
type TokenCounter interface {
	Engine
	// CountTokens returns the number of tokens of the prompt of r, with its tools. Failures of the upstream are *Error.
	CountTokens(ctx context.Context, r *Request, m *Model) (int, error)
}

// TokenCount is the answer to a Job with Count.
type TokenCount struct {
	Tokens int `json:"tokens"`
	// Estimated reports that no upstream has counted: Tokens is Request.EstimateTokens.
	Estimated bool `json:"estimated,omitempty"`
}

// CountsTokens reports whether an upstream of the model is of a kind that counts tokens.
func (m *Model) CountsTokens() bool {
	return slices.ContainsFunc(m.Upstreams, func(u Upstream) bool {
		return u.Kind == Anthropic || u.Kind == VLLM || u.Kind == LlamaServer
	})
}
