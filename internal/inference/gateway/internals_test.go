package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/inference"
)

// Normalise runs deltas through the normaliser of a model and joins the chunks.
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

	return content, reasoning, calls, n.finishAnswer()
}

// NormaliseLoop returns a function that pushes one delta, for benchmarks.
func NormaliseLoop(
	m *inference.Model,
	r *inference.Request,
	emit func(*inference.Chunk) error,
) func(*inference.Delta) error {
	return newNormaliser(m, r, nil, emit).push
}

// A request that is cancelled at the moment when it gets a slot must not change the health of the upstream.
func TestSlotGrantedAfterCancelKeepsTheCooldown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &inference.Model{Upstreams: []inference.Upstream{{BaseURL: "http://a", MaxConcurrency: 1, Weight: 1}}}
		u := &m.Upstreams[0]

		// The request may see its slot before it sees the end of its context, so repeat until it does not.
		for cancelled := false; !cancelled; {
			b := newBalancer()
			b.state(u).active, b.state(u).coolUntil = 1, time.Now().Add(time.Hour)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)

			go func() {
				_, err := b.acquire(ctx, m, requester{}, nil)
				ended <- err
			}()

			synctest.Wait() // the request waits for a slot
			b.mu.Lock()
			cancel()
			b.state(u).active--
			b.grantAll()
			b.mu.Unlock()
			err := <-ended

			cancelled = errors.Is(err, context.Canceled)
			if active, until, _ := b.status(u); cancelled && (active != 0 || until.IsZero()) {
				t.Errorf(
					"got %d slots taken and a cooldown until %s, want none taken and the cooldown of an hour",
					active,
					until,
				)
			}
		}
	})
}
