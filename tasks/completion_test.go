package tasks

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

	"presswork"
	"presswork/internal/test/redistest"
)

func newCompletion() *completion {
	return &completion{log: slog.New(slog.DiscardHandler), muted: map[string]int{}}
}

// doneCommand is what Asynq sends when a task has succeeded.
func doneCommand(id string) *redis.Cmd {
	return redis.NewCmd(context.Background(), "evalsha", "sha", 5, asynqActive(Render), asynqLease(Render),
		asynqTask(Render, id), asynqKey(Render, "processed:2026-01-01"), asynqKey(Render, "processed"), id, 1, 2)
}

func TestTheEndOfATaskIsWrittenThroughAnOutage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []error
		want    error
		tries   int
	}{
		"outage":                      {[]error{io.EOF, context.DeadlineExceeded, nil}, nil, 3},
		"the answer was lost":         {[]error{io.EOF, redisError("NOT FOUND")}, nil, 2},
		"the task is gone":            {[]error{redisError("NOT FOUND")}, nil, 1},
		"the script must be sent":     {[]error{redisError("NOSCRIPT No matching script")}, redisError("NOSCRIPT No matching script"), 1},
		"loading":                     {[]error{redisError("LOADING Redis is loading"), nil}, nil, 2},
		"an outage beyond the lease":  {slices.Repeat([]error{io.EOF}, 40), io.EOF, 19},
		"a server's refusal is final": {[]error{redisError("OOM command not allowed")}, redisError("OOM command not allowed"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				// Asynq cancels this context before it repeats a write.
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				tries := 0
				err := newCompletion().ProcessHook(func(ctx context.Context, _ redis.Cmder) error {
					if err := ctx.Err(); err != nil {
						t.Errorf("sent with a dead context: %v", err)
					}
					if tries == 0 {
						cancel()
					}
					tries++
					return c.answers[tries-1]
				})(ctx, doneCommand("x"))
				if fmt.Sprint(err) != fmt.Sprint(c.want) || tries != c.tries {
					t.Errorf("%v after %d tries; want %v after %d", err, tries, c.want, c.tries)
				}
			})
		})
	}
}

// redisError is an error as the server answers it.
type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

func TestAMutedEndIsDroppedOnce(t *testing.T) {
	t.Parallel()
	c := newCompletion()
	sent := 0
	send := c.ProcessHook(func(context.Context, redis.Cmder) error { sent++; return nil })
	c.mute("x")
	for _, id := range []string{"y", "x", "x"} {
		if err := send(t.Context(), doneCommand(id)); err != nil {
			t.Fatal(err)
		}
	}
	if sent != 2 {
		t.Errorf("%d of 3 were sent, want 2", sent)
	}
}

// recorder notes which script calls the completion hook would take for the end
// of a task.
type recorder struct {
	completion
	mu    sync.Mutex
	ended []string
}

func (r *recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if id, ok := completedTask(cmd); ok && cmd.Name() == "evalsha" {
			r.mu.Lock()
			r.ended = append(r.ended, id)
			r.mu.Unlock()
		}
		return next(ctx, cmd)
	}
}

// This test fails when a new Asynq ends tasks in a way the hook does not
// recognise.
func TestEveryEndOfATaskOfThePinnedAsynqIsRecognised(t *testing.T) {
	t.Parallel()
	rdb, err := Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rdb.Close()
	rec := &recorder{}
	rdb.AddHook(rec)
	srv := asynq.NewServerFromRedisClient(rdb, asynq.Config{
		Queues: map[string]int{"render": 1}, TaskCheckInterval: time.Millisecond, Concurrency: 10,
		ShutdownTimeout: 50 * time.Millisecond, Logger: asynqLog{slog.New(slog.DiscardHandler)},
	})
	var handled sync.WaitGroup
	handled.Add(5)
	block := make(chan struct{})
	defer close(block)
	err = srv.Start(asynq.HandlerFunc(func(ctx context.Context, _ *asynq.Task) error {
		defer handled.Done()
		switch id, _ := asynq.GetTaskID(ctx); id {
		case "retry":
			return errors.New("again")
		case "archive":
			return asynq.SkipRetry
		case "requeue":
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
	rec.mu.Lock()
	defer rec.mu.Unlock()
	slices.Sort(rec.ended)
	if got := slices.Compact(rec.ended); !slices.Equal(got, want) {
		t.Errorf("recognised %v, want %v", got, want)
	}
}

func TestOurOwnScriptsAreNoEndsOfTasks(t *testing.T) {
	t.Parallel()
	b := context.Background()
	active, lease, pending, task := asynqActive(Render), asynqLease(Render), asynqPending(Render), asynqTask(Render, "x")
	for name, cmd := range map[string]*redis.Cmd{
		"reap":    redis.NewCmd(b, "evalsha", "sha", 3, active, lease, pending, 1, asynqTaskPrefix(Render), 3, 4),
		"remove":  redis.NewCmd(b, "evalsha", "sha", 3, active, lease, task, "x"),
		"ghosts":  redis.NewCmd(b, "evalsha", "sha", 3, active, lease, pending, asynqTaskPrefix(Render), "1", "x"),
		"dequeue": redis.NewCmd(b, "evalsha", "sha", 4, pending, asynqKey(Render, "paused"), active, lease, 1, asynqTaskPrefix(Render)),
		"another": redis.NewCmd(b, "evalsha", "sha", 4, active, asynqLease(Text), pending, task, "x"),
	} {
		if id, ok := completedTask(cmd); ok {
			t.Errorf("%s is taken for the end of %q", name, id)
		}
	}
	if id, ok := completedTask(doneCommand("x")); !ok || id != "x" {
		t.Error("done is not recognised")
	}
}

func TestAMutedTaskIsStillRemoved(t *testing.T) {
	t.Parallel()
	s, err := NewServer(redistest.Start(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(context.Background()) })
	ctx := t.Context()
	s.rdb.LPush(ctx, asynqActive(Render), "x")
	s.rdb.HSet(ctx, asynqTask(Render, "x"), "x_crashes", crashCap)
	s.rdb.ZAdd(ctx, asynqLease(Render), redis.Z{Score: 1, Member: "x"})
	s.completion.mute("x")
	s.completion.mute(asynqTaskPrefix(Render))
	if err := s.reapQueue(ctx, Render); err != nil {
		t.Fatal(err)
	}
	if n := s.rdb.Exists(ctx, asynqActive(Render), asynqLease(Render), asynqTask(Render, "x")).Val(); n != 0 {
		t.Errorf("%d keys of the task remain", n)
	}
	s.rdb.LPush(ctx, asynqActive(Render), "ghost")
	if _, err := s.sweepGhosts(ctx, Render, nil); err != nil {
		t.Fatal(err)
	}
	if n := s.rdb.Exists(ctx, asynqActive(Render)).Val(); n != 0 {
		t.Error("the ghost remains")
	}
}

// A mute whose end Asynq never wrote must not meet the end of a later run.
func TestANewRunIsNotMuted(t *testing.T) {
	t.Parallel()
	address := redistest.Start(t)
	c, err := NewClient(address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })
	s, err := NewServer(address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(context.Background()) })
	Handle(s, ConvertPDF, func(ctx context.Context, run *Run, _ Convert) error {
		return run.Complete(ctx, presswork.Artifact{ID: run.ID}, false)
	})
	sub := newSubmission(t, "ann")
	s.completion.mute(sub.ID)
	if _, _, err := c.Submit(t.Context(), sub); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); c.rdb.Exists(t.Context(), asynqTask(Render, sub.ID)).Val() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the end of the task was not written")
		}
	}
}

// Asynq ignores what a task returns after its context ended, so that nothing
// would use the mute up.
func TestARunThatAsynqGaveUpMutesNothing(t *testing.T) {
	t.Parallel()
	s := &Server{completion: newCompletion()}
	ctx, cancel := context.WithCancel(t.Context())
	s.disown(ctx, "x")
	cancel()
	s.disown(ctx, "y")
	if !s.completion.unmute("x") || s.completion.unmute("y") {
		t.Error("want x to be muted, and y not")
	}
}
