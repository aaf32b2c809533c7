package conn

import (
	"context"
	"sync"
	"time"
)

// Streams counts long answers, such as WebSockets, event streams and long polls. The HTTP server's own shutdown
// does not see a WebSocket and waits forever for the others. Drain asks each of them to end. It is safe for
// concurrent use.
type Streams struct {
	// ctx is the context of every answer; Drain ends it.
	ctx    context.Context
	cancel context.CancelCauseFunc
	count  func(kind string, change int)

	// mu guards rejection. Join holds it, so that no answer joins after Drain.
	mu        sync.Mutex
	rejection error // what Join returns once Drain was called
	// open counts the answers that have joined and not left.
	open sync.WaitGroup
}

// NewStreams returns an empty Streams. It calls count with the kind and +1 when an answer joins, and with -1 when
// the answer leaves.
func NewStreams(count func(kind string, change int)) *Streams {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Streams{ctx: ctx, cancel: cancel, count: count}
}

// Join registers an answer. Its context ends when Drain asks it to end; the caller must call leave at the end of the
// answer. After Drain, Join returns Drain's cause as its error.
func (s *Streams) Join(kind string) (ctx context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.rejection != nil {
		return nil, nil, s.rejection
	}
	s.open.Add(1)
	s.count(kind, 1)

	return s.ctx, sync.OnceFunc(func() {
		s.count(kind, -1)
		s.open.Done()
	}), nil
}

// Stopped returns a context that has ended once Drain asks the answers to end. Its cause is Drain's.
func (s *Streams) Stopped() context.Context { return s.ctx }

// Stopping reports whether Drain has asked the answers to end.
func (s *Streams) Stopping() bool { return s.ctx.Err() != nil }

// Drain rejects new answers. It waits for patience until the open ones have ended, then ends their contexts with
// cause and waits for them. The error is the cause of ctx when ctx ends first.
func (s *Streams) Drain(ctx context.Context, patience time.Duration, cause error) error {
	s.mu.Lock()
	s.rejection = cause
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
