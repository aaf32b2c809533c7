package openai

import (
	"time"

	"presswork/internal/inference"
	"presswork/tasks/stream"
)

// countWait is how long a request for the number of tokens waits for a worker before it gets the estimate. Agents count
// before they ask, so they must not wait for a busy queue.
const countWait = 5 * time.Second

// Count is the answer to a request for the number of tokens. It begins with an estimate, which the answer to Call
// replaces.
type Count struct {
	// Call asks an upstream. It is nil if no upstream of the model counts tokens.
	Call *Call

	// count is the estimate, or what the upstream has counted. append writes the answer with it.
	count  inference.TokenCount
	append func(dst []byte, count inference.TokenCount) []byte
}

// newCount returns the count of a request. write appends the body of the answer.
func (s *Service) newCount(
	h Head, m *inference.Model, r *inference.Request, write func(dst []byte, count inference.TokenCount) []byte,
) *Count {
	c := &Count{count: inference.TokenCount{Tokens: r.EstimateTokens(), Estimated: true}, append: write}

	if m.CountsTokens() {
		c.Call = &Call{
			Call:     h.call(stream.OnDemand, countWait),
			model:    m,
			job:      inference.Job{Request: r, Count: true},
			format:   wholeFormat{c},
			deadline: h.Began.Add(countWait),
		}
	}

	return c
}

// Estimated reports that no upstream has counted the tokens.
func (c *Count) Estimated() bool { return c.count.Estimated }

// Add takes the count from a frame.
func (c *Count) Add(f *inference.Frame) {
	if f.Counted != nil {
		c.count = *f.Counted
	}
}

// Append appends the body of the answer to dst.
func (c *Count) Append(dst []byte) []byte { return c.append(dst, c.count) }

// Failed returns e: a count has no answer before its error.
func (*Count) Failed(e *inference.Error) *inference.Error { return e }
