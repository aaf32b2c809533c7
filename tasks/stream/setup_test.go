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

// leftChannel is the channel on which clients publish the runs whose callers have left.
const leftChannel = "test:left"

// inputChannel is the channel on which clients publish the calls that have an input.
const inputChannel = "test:input"

// bundle has what most tests need: a Redis, a client, a second connection to inspect keys, and a queue instead of
// Asynq's.
type bundle struct {
	address string
	client  *stream.Client
	rdb     redis.UniversalClient
	queue   *queue
}

// queue is a queue of tasks that holds each task at most once.
type queue struct {
	tasks  chan string
	mu     sync.Mutex
	open   map[string]bool // tasks that are waiting or running
	broken error           // the result of enqueue, if not nil
}

// enqueue queues a task, unless it is queued already.
func (q *queue) enqueue(_ context.Context, _ stream.Call, task string) error {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.broken != nil {
		return q.broken
	}

	if !q.open[task] {
		q.open[task] = true
		q.tasks <- task
	}

	return nil
}

func (q *queue) setBroken(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.broken = err
}

// drop does nothing: the worker finds that the task needs no run.
func (*queue) drop(context.Context, stream.Call, string) {}

func (q *queue) done(task string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.open, task)
}

func setup(t testing.TB) *bundle {
	t.Helper()
	return setupOn(t, redistest.Start(t))
}

func setupOn(t testing.TB, address string) *bundle {
	t.Helper()
	b := &bundle{address: address, queue: &queue{tasks: make(chan string, 1000), open: map[string]bool{}}}
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

// worker is a server whose goroutines take tasks from the queue.
type worker struct {
	*stream.Server
	rdb  redis.UniversalClient
	stop func()
}

// worker returns a worker that has not started. See start.
func (b *bundle) worker(t testing.TB) *worker {
	t.Helper()
	rdb := dial(t, b.address)

	return &worker{Server: stream.NewServer(rdb, slog.New(slog.DiscardHandler)), rdb: rdb}
}

// start starts the goroutines of a worker. They put a task back if its call could not be served.
func (b *bundle) start(t testing.TB, w *worker, concurrency int, h handler) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	w.Start(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		sub := w.rdb.Subscribe(ctx, leftChannel, inputChannel)
		defer sub.Close()

		for {
			select {
			case <-ctx.Done():
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
				case <-ctx.Done():
					return
				case id := <-b.queue.tasks:
					err := w.Serve(ctx, id, h)
					b.queue.done(id)

					if err != nil {
						_ = b.queue.enqueue(ctx, stream.Call{}, id)
					}
				}
			}
		})
	}
	w.stop = sync.OnceFunc(func() {
		cancel(stream.ErrDraining)
		running.Wait()
		w.Stop()
	})
	t.Cleanup(w.stop)
}

// serve starts a worker that answers calls with h.
func (b *bundle) serve(t testing.TB, h handler) *worker {
	t.Helper()
	w := b.worker(t)
	b.start(t, w, 64, h)

	return w
}

// call makes a call. It sets a missing ID and tier.
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

// wantAnswer reads an answer to its end and compares it.
func wantAnswer(t testing.TB, a *stream.Answer, want string) {
	t.Helper()

	if got := readAnswer(t, a); got != want {
		t.Errorf("got the answer %.60q (%d bytes), want %.60q (%d)", got, len(got), want, len(want))
	}
}

// readAnswer reads an answer to its end.
func readAnswer(t testing.TB, a *stream.Answer) string {
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

// sendAndWaitForEnd returns a handler that sends the frame "begun" and waits until its context ends. causes receives the cause.
func sendAndWaitForEnd(causes chan<- error) handler {
	return func(ctx context.Context, run *stream.Run) error {
		if err := run.Send([]byte("begun")); err != nil {
			return err
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)

		return context.Cause(ctx)
	}
}

// wantBegunFrame waits for the first frame of an answer, which must be "begun".
func wantBegunFrame(t testing.TB, a *stream.Answer) {
	t.Helper()

	if frames, err := a.Next(t.Context()); err != nil || string(frames[0]) != "begun" {
		t.Fatalf("got frames %q, %v; want begun", frames, err)
	}
}

func wantCode(t testing.TB, err error, want fault.Code) {
	t.Helper()

	if got := fault.CodeOf(err); got != want {
		t.Fatalf("code %q (%v), want %q", got, err, want)
	}
}
