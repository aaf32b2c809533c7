package asynqext

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

// render is the queue of these tests.
const render Queue = "render"

// world is a Redis with Asynq's own, unchanged client and inspector on it.
type world struct {
	address   string
	rdb       redis.UniversalClient
	client    *asynq.Client
	inspector *asynq.Inspector
}

func setup(t testing.TB) *world {
	t.Helper()
	address := redistest.Start(t)
	rdb := dial(t, address)

	return &world{address, rdb, asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb)}
}

func dial(t testing.TB, address string) redis.UniversalClient {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{
		Network: "unix", Addr: strings.TrimPrefix(address, "unix://"),
		ReadTimeout: wait.Patience, ContextTimeoutEnabled: true, MaxRetries: -1,
	})
	t.Cleanup(func() { rdb.Close() })

	return rdb
}

// unlimited are slots without a limit.
type unlimited struct{}

func (unlimited) Acquire(ctx context.Context, _ Queue) bool { return ctx.Err() == nil }
func (unlimited) Grant(Queue)                               {}
func (unlimited) Release(Queue)                             {}

// silent is a logger for Asynq that discards everything.
type silent struct{}

func (silent) Debug(...any) {}
func (silent) Info(...any)  {}
func (silent) Warn(...any)  {}
func (silent) Error(...any) {}
func (silent) Fatal(...any) {}

// waits counts the ends of waits for a task.
type waits struct{ atomic.Int64 }

// serve starts an Asynq server on render, with everything that this package
// changes.
func (w *world) serve(t testing.TB, h asynq.HandlerFunc) *waits {
	t.Helper()
	return w.serveBegun(t, nil, h)
}

// serveBegun is serve with something to begin with each dequeue.
func (w *world) serveBegun(t testing.TB, begin *Begin, h asynq.HandlerFunc) *waits {
	t.Helper()
	taking, stop := context.WithCancel(context.Background())
	rdb, blocking, log := dial(t, w.address), dial(t, w.address), slog.New(slog.DiscardHandler)
	ended := &waits{}
	blocking.AddHook(hook(func(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
		err := next(ctx, cmd)
		if cmd.Name() == "blmove" && err == nil {
			ended.Add(1)
		}

		return err
	}))

	d := NewDequeuer(taking, DequeueOptions{
		Redis:    rdb,
		Blocking: blocking,
		Slots:    unlimited{},
		SetAside: func(_ Queue, id string, why error) { t.Errorf("task %s: %v", id, why) },
		Begin:    begin,
		Log:      log,
	})
	for _, h := range []redis.Hook{d.Hook(), Turns(rdb), NewCompletion(log).Hook(), Amend("")} {
		rdb.AddHook(h)
	}

	srv := asynq.NewServerFromRedisClient(rdb, asynq.Config{
		Queues: map[string]int{
			string(render): 1,
		},
		TaskCheckInterval: time.Millisecond,
		Concurrency:       4,
		Logger:            silent{},
	})
	if err := srv.Start(h); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		blocking.Close()
		srv.Shutdown()
	})

	return ended
}

// enqueue puts a task on render and returns its id.
func (w *world) enqueue(t testing.TB, opts ...asynq.Option) string {
	t.Helper()

	info, err := w.client.Enqueue(
		asynq.NewTask("t", nil),
		append(opts, asynq.Queue(string(render)), asynq.TaskID(ulid.Make().String()))...)
	if err != nil {
		t.Fatal(err)
	}

	return info.ID
}

// state is a task's as Asynq says; "" when there is none.
func (w *world) state(t testing.TB, id string) string {
	t.Helper()

	info, err := w.inspector.GetTaskInfo(string(render), id)
	if err != nil {
		return ""
	}

	return info.State.String()
}

// handled waits until a task is done.
func (w *world) handled(t testing.TB, id string) {
	t.Helper()
	wait.Until(t, "the task is done", func() bool { return w.state(t, id) == "" })
}

// blocked reports whether a connection waits for something in Redis.
func (w *world) blocked(t testing.TB) bool {
	t.Helper()
	return strings.Contains(w.rdb.Info(t.Context(), "clients").Val(), "blocked_clients:1\r\n")
}
