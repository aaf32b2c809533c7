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

// testEnv is a Redis with an unchanged client and inspector of Asynq.
type testEnv struct {
	address   string
	rdb       redis.UniversalClient
	client    *asynq.Client
	inspector *asynq.Inspector
}

func setup(t testing.TB) *testEnv {
	t.Helper()
	address := redistest.Start(t)
	rdb := dial(t, address)

	return &testEnv{address, rdb, asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb)}
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

// unlimitedSlots are slots without a limit.
type unlimitedSlots struct{}

func (unlimitedSlots) Acquire(ctx context.Context, _ Queue) bool { return ctx.Err() == nil }
func (unlimitedSlots) Grant(Queue)                               {}
func (unlimitedSlots) Release(Queue)                             {}

// noLog is a logger for Asynq that discards everything.
type noLog struct{}

func (noLog) Debug(...any) {}
func (noLog) Info(...any)  {}
func (noLog) Warn(...any)  {}
func (noLog) Error(...any) {}
func (noLog) Fatal(...any) {}

// pollCount counts how often the dequeuer's blocking wait (BLMOVE) has returned.
type pollCount struct{ atomic.Int64 }

// serve starts an Asynq server of the queue render with all hooks of this package.
func (env *testEnv) serve(t testing.TB, h asynq.HandlerFunc) *pollCount {
	t.Helper()
	return env.serveWithBegin(t, nil, h)
}

// serveWithBegin is serve with a script that runs with each dequeue.
func (env *testEnv) serveWithBegin(t testing.TB, begin *Begin, h asynq.HandlerFunc) *pollCount {
	t.Helper()
	taking, stop := context.WithCancel(context.Background())
	rdb, blocking, log := dial(t, env.address), dial(t, env.address), slog.New(slog.DiscardHandler)
	polls := &pollCount{}
	blocking.AddHook(hook(func(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
		err := next(ctx, cmd)
		if cmd.Name() == "blmove" && err == nil {
			polls.Add(1)
		}

		return err
	}))

	d := NewDequeuer(taking, DequeueOptions{
		Redis:    rdb,
		Blocking: blocking,
		Slots:    unlimitedSlots{},
		SetAside: func(_ Queue, id string, why error) { t.Errorf("task %s: %v", id, why) },
		Begin:    begin,
		Log:      log,
	})
	for _, h := range []redis.Hook{d.Hook(), Turns(rdb), NewCompletion(log).Hook(), Amend("")} {
		rdb.AddHook(h)
	}

	srv := asynq.NewServerFromRedisClient(rdb, asynq.Config{
		Queues: map[string]int{string(render): 1}, TaskCheckInterval: time.Millisecond, Concurrency: 4,
		Logger: noLog{},
	})
	if err := srv.Start(h); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		blocking.Close()
		srv.Shutdown()
	})

	return polls
}

// enqueue puts a task on render and returns its id.
func (env *testEnv) enqueue(t testing.TB, opts ...asynq.Option) string {
	t.Helper()

	info, err := env.client.Enqueue(
		asynq.NewTask("t", nil),
		append(opts, asynq.Queue(string(render)), asynq.TaskID(ulid.Make().String()))...)
	if err != nil {
		t.Fatal(err)
	}

	return info.ID
}

// state returns the state of a task according to Asynq. It is "" if the task does not exist.
func (env *testEnv) state(t testing.TB, id string) string {
	t.Helper()

	info, err := env.inspector.GetTaskInfo(string(render), id)
	if err != nil {
		return ""
	}

	return info.State.String()
}

// waitUntilDone waits until Asynq has deleted the task.
func (env *testEnv) waitUntilDone(t testing.TB, id string) {
	t.Helper()
	wait.Until(t, "the task is deleted", func() bool { return env.state(t, id) == "" })
}

// isBlocked reports whether exactly one connection waits in a blocking command.
func (env *testEnv) isBlocked(t testing.TB) bool {
	t.Helper()
	return strings.Contains(env.rdb.Info(t.Context(), "clients").Val(), "blocked_clients:1\r\n")
}
