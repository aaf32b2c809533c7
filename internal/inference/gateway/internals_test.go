package gateway

import (
	"context"
	"errors"
	"testing"
	"time"

	"presswork/internal/inference"
)

// Normalise runs deltas through the normaliser of a model and joins what comes
// of them.
func Normalise(
	m *inference.Model,
	r *inference.Request,
	deltas []inference.Delta,
) (content, reasoning string, calls []inference.ToolCall, err error) {
	n := newNormaliser(m, r, nil, func(c *inference.Chunk) error {
		content += c.Content

		reasoning += c.Reasoning
		for _, d := range c.ToolCalls {
			if d.ID != "" {
				calls = append(calls, inference.ToolCall{Name: d.Name})
			}
			calls[d.Index].Arguments += d.Arguments
		}

		return nil
	})
	for i := range deltas {
		if err := n.push(&deltas[i]); err != nil {
			return "", "", nil, err
		}
	}

	return content, reasoning, calls, n.end()
}

// NormaliseLoop returns a function that pushes one delta, for benchmarks.
func NormaliseLoop(
	m *inference.Model,
	r *inference.Request,
	emit func(*inference.Chunk) error,
) func(*inference.Delta) error {
	return newNormaliser(m, r, nil, emit).push
}

// Whoever leaves while a place is given to it has learned nothing of the upstream.
func TestAPlaceThatComesTooLateHealsNobody(t *testing.T) {
	t.Parallel()
	m := &inference.Model{Upstreams: []inference.Upstream{{BaseURL: "http://a", MaxConcurrency: 1, Weight: 1}}}
	u := &m.Upstreams[0]

	for left := false; !left; { // it may see the place first
		b := newBalancer()
		b.state(u).active, b.state(u).coolTo = 1, time.Now().Add(time.Hour)
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan error)

		go func() {
			_, err := b.take(ctx, m, turn{}, nil)
			ended <- err
		}()

		for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) { // between two looks
			b.mu.Lock()
			waiting = len(b.waiters)
			b.mu.Unlock()
		}
		b.mu.Lock()
		leave()
		b.state(u).active--
		b.admitAll()
		b.mu.Unlock()
		err := <-ended

		left = errors.Is(err, context.Canceled)
		if active, until, _ := b.look(u); left && (active != 0 || until.IsZero()) {
			t.Errorf("%d places are taken, and it cools until %s", active, until)
		}
	}
}
