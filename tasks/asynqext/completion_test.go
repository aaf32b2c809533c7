package asynqext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"presswork/internal/test/redistest"
)

func newCompletion() *Completion {
	return NewCompletion(slog.New(slog.DiscardHandler))
}

// doneCommand returns the command that Asynq sends when a task has succeeded.
func doneCommand(id string) *redis.Cmd {
	return redis.NewCmd(context.Background(), "evalsha", "sha", 5, activeKey(render), leaseKey(render),
		taskKey(render, id), keyOf(render, "processed:2026-01-01"), keyOf(render, "processed"), id, 1, 2)
}

func TestWritingTheEndOfATaskIsRetriedDuringAnOutage(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		replies  []error // of Redis, one per attempt
		want     error
		attempts int
	}{
		"outage":             {[]error{io.EOF, context.DeadlineExceeded, nil}, nil, 3},
		"the reply was lost": {[]error{io.EOF, redisError("NOT FOUND")}, nil, 2},
		"the task is gone":   {[]error{redisError("NOT FOUND")}, nil, 1},
		"the script must be sent": {
			[]error{redisError("NOSCRIPT No matching script")}, redisError("NOSCRIPT No matching script"), 1,
		},
		"loading":                    {[]error{redisError("LOADING Redis is loading"), nil}, nil, 2},
		"an outage beyond the lease": {slices.Repeat([]error{io.EOF}, 40), io.EOF, 19},
		"an error of the server is final": {
			[]error{redisError("OOM command not allowed")}, redisError("OOM command not allowed"), 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				// Asynq cancels this context before it repeats a write.
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				attempts := 0

				err := newCompletion().Hook().ProcessHook(func(ctx context.Context, _ redis.Cmder) error {
					if err := ctx.Err(); err != nil {
						t.Errorf("sent with an ended context: %v", err)
					}

					if attempts == 0 {
						cancel()
					}
					attempts++

					return c.replies[attempts-1]
				})(ctx, doneCommand("x"))
				if fmt.Sprint(err) != fmt.Sprint(c.want) || attempts != c.attempts {
					t.Errorf("got %v after %d attempts; want %v after %d", err, attempts, c.want, c.attempts)
				}
			})
		})
	}
}

// redisError is an error reply of the server.
type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

func TestADropAffectsOneEnd(t *testing.T) {
	t.Parallel()
	c := newCompletion()
	sent := 0
	send := c.Hook().ProcessHook(func(context.Context, redis.Cmder) error { sent++; return nil })
	c.Drop("x")

	for _, id := range []string{"y", "x", "x"} {
		if err := send(t.Context(), doneCommand(id)); err != nil {
			t.Fatal(err)
		}
	}

	if sent != 2 {
		t.Errorf("%d of 3 ends were sent, want 2", sent)
	}
}

// The test fails if a new release of Asynq ends tasks in a way that the hook does not recognise.
func TestEveryEndOfATaskOfThePinnedAsynqIsRecognised(t *testing.T) {
	t.Parallel()
	rdb := dial(t, redistest.Start(t))
	var mu sync.Mutex
	var ended []string
	rdb.AddHook(hook(func(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
		if id, ok := completedTask(cmd); ok && cmd.Name() == "evalsha" {
			mu.Lock()
			ended = append(ended, id)
			mu.Unlock()
		}

		return next(ctx, cmd)
	}))
	srv := asynq.NewServerFromRedisClient(rdb, asynq.Config{
		Queues: map[string]int{"render": 1}, TaskCheckInterval: time.Millisecond, Concurrency: 10,
		ShutdownTimeout: 50 * time.Millisecond, Logger: noLog{},
	})
	var handled sync.WaitGroup
	handled.Add(5)

	block := make(chan struct{})
	defer close(block)

	err := srv.Start(asynq.HandlerFunc(func(ctx context.Context, _ *asynq.Task) error {
		defer handled.Done()

		switch id, _ := asynq.GetTaskID(ctx); id {
		case "retry":
			return errors.New("again")
		case "archive":
			return asynq.SkipRetry
		case "requeue":
			// Count this task as handled while it blocks: the shutdown puts it back.
			go func() { handled.Done() }()
			<-block
			handled.Add(1)
		}

		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	client := asynq.NewClientFromRedisClient(rdb)

	want := []string{"archive", "complete", "done", "requeue", "retry"}
	for _, id := range want {
		opts := []asynq.Option{asynq.TaskID(id), asynq.Queue("render")}
		if id == "complete" {
			opts = append(opts, asynq.Retention(time.Hour))
		}

		if _, err := client.Enqueue(asynq.NewTask("t", nil), opts...); err != nil {
			t.Fatal(err)
		}
	}
	handled.Wait()
	srv.Shutdown()
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(ended)

	if got := slices.Compact(ended); !slices.Equal(got, want) {
		t.Errorf("recognised %v, want %v", got, want)
	}
}

func TestOtherScriptsAreNotTakenForTheEndOfATask(t *testing.T) {
	t.Parallel()
	b := context.Background()

	active, lease, pending, task := activeKey(render), leaseKey(render), pendingKey(render), taskKey(render, "x")
	for name, cmd := range map[string]*redis.Cmd{
		"reap":   redis.NewCmd(b, "evalsha", "sha", 3, active, lease, pending, 1, taskPrefix(render), 3, 4),
		"remove": redis.NewCmd(b, "evalsha", "sha", 3, active, lease, task, "x"),
		"ghosts": redis.NewCmd(b, "evalsha", "sha", 3, active, lease, pending, taskPrefix(render), "1", "x"),
		"dequeue": redis.NewCmd(b,
			"evalsha", "sha", 4, pending, keyOf(render, "paused"), active, lease, 1, taskPrefix(render)),
		"another": redis.NewCmd(b, "evalsha", "sha", 4, active, leaseKey("text"), pending, task, "x"),
	} {
		t.Run(name, func(t *testing.T) {
			if id, ok := completedTask(cmd); ok {
				t.Errorf("got the end of task %q, want none", id)
			}
		})
	}

	if id, ok := completedTask(doneCommand("x")); !ok || id != "x" {
		t.Errorf("completedTask = %q, %v; want x", id, ok)
	}
}

func TestOnlyDropsFromBeforeARunAreForgotten(t *testing.T) {
	t.Parallel()
	c := newCompletion()
	written := 0
	end := c.Hook().ProcessHook(func(context.Context, redis.Cmder) error {
		written++
		return nil
	})

	for name, tc := range map[string]struct {
		before, after, written int // drops before and after the beginning of the run, and written ends
	}{
		"no drops":       {0, 0, 1},
		"earlier drops":  {2, 0, 1},
		"one of the run": {1, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for range tc.before {
				c.Drop("a")
			}

			drops := c.Drops()
			for range tc.after {
				c.Drop("a")
			}
			c.Keep("a", drops)

			written = 0
			if err := end(t.Context(), doneCommand("a")); err != nil || written != tc.written {
				t.Errorf("got %d written ends (%v), want %d", written, err, tc.written)
			}
		})
	}
}
