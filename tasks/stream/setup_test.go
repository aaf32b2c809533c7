package stream_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/redisdial"
	"presswork/tasks/stream"
)

// leftChannel is the channel on which clients publish runs without callers.
const leftChannel = "test:left"

// inputChannel is the channel for calls that have an input.
const inputChannel = "test:input"

// bundle has what most tests need: a Redis, a client, a second connection to inspect keys, and a queue instead of
// Asynq's.
type bundle struct {
	address string
	client  *stream.Client
	rdb     redis.UniversalClient
	queue   *queue
}

// queue holds each task at most once.
type queue struct {
	tasks chan string
	mu    sync.Mutex
	out   map[string]bool
	// broken is the error of enqueue; nil for none.
	broken error
}

func (q *queue) enqueue(_ context.Context, _ stream.Call, task string) error {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.broken != nil {
		return q.broken
	}

	if !q.out[task] {
		q.out[task] = true
		q.tasks <- task
	}

	return nil
}

func (q *queue) setBroken(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.broken = err
}

// drop leaves the task where it is: a worker finds that it needs no run.
func (*queue) drop(context.Context, stream.Call, string) {}

func (q *queue) done(task string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.out, task)
}

func setup(t testing.TB) *bundle {
	t.Helper()
	return setupOn(t, redistest.Start(t))
}

func setupOn(t testing.TB, address string) *bundle {
	t.Helper()
	b := &bundle{address: address, queue: &queue{tasks: make(chan string, 1000), out: map[string]bool{}}}
	b.rdb = dial(t, address)
	b.client = stream.NewClient(dial(t, address), stream.ClientOptions{
		Enqueue: b.queue.enqueue,
		Drop:    b.queue.drop,
		Left:    leftChannel,
		Input:   inputChannel,
		Log:     slog.New(slog.DiscardHandler),
	})
	b.client.Start()
	t.Cleanup(b.client.Stop)

	return b
}

func dial(t testing.TB, address string) redis.UniversalClient {
	t.Helper()

	rdb, err := redisdial.Dial(address, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })

	return rdb
}

type handler = func(context.Context, *stream.Run) error

// worker is a server with goroutines that take tasks.
type worker struct {
	*stream.Server
	rdb  redis.UniversalClient
	stop func()
}

// worker makes a worker; start begins its work.
func (b *bundle) worker(t testing.TB) *worker {
	t.Helper()
	rdb := dial(t, b.address)

	return &worker{Server: stream.NewServer(rdb, slog.New(slog.DiscardHandler)), rdb: rdb}
}

func (b *bundle) start(t testing.TB, w *worker, concurrency int, h handler) {
	t.Helper()
	work, end := context.WithCancelCause(context.Background())
	w.Start(work)
	var running sync.WaitGroup
	running.Go(func() {
		sub := w.rdb.Subscribe(work, leftChannel, inputChannel)
		defer sub.Close()

		for {
			select {
			case <-work.Done():
				return
			case m := <-sub.Channel():
				if m.Channel == inputChannel {
					w.Input(m.Payload)
				} else {
					w.Left(m.Payload)
				}
			}
		}
	})

	for range concurrency {
		running.Go(func() {
			for {
				select {
				case <-work.Done():
					return
				case id := <-b.queue.tasks:
					err := w.Serve(work, id, h)
					b.queue.done(id)

					if err != nil {
						_ = b.queue.enqueue(work, stream.Call{}, id)
					}
				}
			}
		})
	}
	w.stop = sync.OnceFunc(func() {
		end(stream.ErrDraining)
		running.Wait()
		w.Stop()
	})
	t.Cleanup(w.stop)
}

// serve starts a worker that answers calls by h.
func (b *bundle) serve(t testing.TB, h handler) *worker {
	t.Helper()
	w := b.worker(t)
	b.start(t, w, 64, h)

	return w
}

func (b *bundle) call(t testing.TB, c stream.Call) *stream.Answer {
	t.Helper()

	if c.ID == "" {
		c.ID = tasks.NewID()
	}

	if c.Tier == "" {
		c.Tier = stream.OnDemand
	}

	a, err := b.client.Call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)

	return a
}

// whole reads an answer to its end.
func whole(t testing.TB, a *stream.Answer) string {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	var b strings.Builder

	for {
		frames, err := a.Next(ctx)
		if errors.Is(err, io.EOF) {
			return b.String()
		}

		if err != nil {
			t.Fatalf("after %d bytes, %.60q: %v", b.Len(), b.String(), err)
		}

		for _, f := range frames {
			b.Write(f)
		}
	}
}

func echo(_ context.Context, run *stream.Run) error {
	return run.Finish(run.Call.Body)
}

// untilLeft is a handler that sends a frame and waits for its context's end.
func untilLeft(causes chan<- error) handler {
	return func(ctx context.Context, run *stream.Run) error {
		if err := run.Send([]byte("begun")); err != nil {
			return err
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)

		return context.Cause(ctx)
	}
}

func begun(t testing.TB, a *stream.Answer) {
	t.Helper()

	if frames, err := a.Next(t.Context()); err != nil || string(frames[0]) != "begun" {
		t.Fatalf("got %q, %v", frames, err)
	}
}

func wantCode(t testing.TB, err error, want fault.Code) {
	t.Helper()

	if got := fault.CodeOf(err); got != want {
		t.Fatalf("code %q (%v), want %q", got, err, want)
	}
}
