package api

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/fault"
)

// streams counts the answers that last: WebSockets, event streams, long polls.
// HTTP shutdown does not see a WebSocket, and waits for the others forever, so
// each is asked to end.
type streams struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	// count is how many are open, by kind.
	count *prometheus.GaugeVec

	mu      sync.Mutex
	refusal *fault.Error // of those that come during the drain
	open    sync.WaitGroup
}

func newStreams(count *prometheus.GaugeVec) *streams {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &streams{ctx: ctx, cancel: cancel, count: count}
}

// join registers an answer of a kind, one of streamKinds. Its context ends when the server stops; leave is
// to be called when the answer has ended. Errors: QueueUnavailable.
func (s *streams) join(kind string) (ctx context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.refusal != nil {
		return nil, nil, s.refusal
	}
	s.open.Add(1)
	open := s.count.WithLabelValues(kind)
	open.Inc()

	return s.ctx, sync.OnceFunc(func() {
		open.Dec()
		s.open.Done()
	}), nil
}

// stopping reports whether drain was called.
func (s *streams) stopping() bool { return s.ctx.Err() != nil }

// drain lets no more answers begin. Those under way have patience to end by
// themselves; then they are ended with cause, and waited for.
func (s *streams) drain(ctx context.Context, patience time.Duration, cause *fault.Error) error {
	s.mu.Lock()
	s.refusal = cause
	s.mu.Unlock()
	done := make(chan struct{})

	go func() {
		s.open.Wait()
		close(done)
	}()

	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(patience):
	}
	s.cancel(cause)

	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
