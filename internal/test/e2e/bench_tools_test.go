package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// post sends a request and reads the whole answer. It returns an error unless the status is 200.
func (c *chatter) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, "POST", c.base+c.format.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")

	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()

	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, b)
	}

	return err
}

// keepAsking sends requests from n clients at a time until ctx ends, and returns the number of answers.
func (c *chatter) keepAsking(ctx context.Context, b *testing.B, n int, body []byte) int64 {
	var answers atomic.Int64

	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := c.post(ctx, body); err == nil {
					answers.Add(1)
				} else if ctx.Err() == nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()

	return answers.Load()
}

// BenchmarkToolLoops measures the time to the first token of a caller. Blocks without other load alternate with blocks
// during which 50 completions run Python.
func BenchmarkToolLoops(b *testing.B) {
	const loops, blocks, asks, model = 50, 3, 30, "stamps:5@50"
	_, base := inferencetest.Start(b)
	_, client := e2e.Serve(b, map[string]string{
		"INFERENCE_CONFIG": benchModels(b, base, model, "tools-plan"), "WORKER_QUEUES": "infer,tools",
	})
	c := newChatter(client.Base + "/v1")

	work := pythonRequest(false, "sum(n * n for n in range(200_000))", "sum(n * n for n in range(200_000))")
	wait.Until(b, "the worker has reported its tools", func() bool {
		err := c.post(b.Context(), work)
		if err != nil && !strings.Contains(err.Error(), "tool_unavailable") {
			b.Fatal(err)
		}

		return err == nil
	})
	firstTokens := func() (all []time.Duration) {
		for range asks {
			first, _, err := c.stream(b.Context(), model)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, first)
		}

		return all
	}

	for b.Loop() {
		var idle, busy []time.Duration
		calls := func() float64 {
			return client.Metric(`presswork_tool_call_seconds_count{function="python",outcome="ok"}`)
		}
		before := calls()

		for range blocks {
			idle = append(idle, firstTokens()...)
			ctx, cancel := context.WithCancel(b.Context())

			ended := make(chan struct{})
			go func() {
				defer close(ended)
				c.keepAsking(ctx, b, loops, work)
			}()
			time.Sleep(time.Second) // the schedule of the load
			busy = append(busy, firstTokens()...)
			cancel()
			<-ended
		}
		report(
			b,
			fmt.Sprintf("first token of another caller beside %d loops of code_interpreter", loops),
			fmt.Sprintf("p50 %s (%.1f × %s of an idle server), %.0f calls done",
				quantile(busy, 0.5).Round(100*time.Microsecond),
				float64(quantile(busy, 0.5))/float64(quantile(idle, 0.5)),
				quantile(idle, 0.5).Round(100*time.Microsecond), calls()-before),
			"≤ 2 ×",
		)
	}
}
