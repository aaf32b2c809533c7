package tasks_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/asynqext"
	"presswork/tasks/stream"
)

func TestACallThatKillsThreeWorkersEndsWithAnError(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	call := b.call(t, stream.Call{Body: []byte(`"be silent"`)})

	for n := range asynqext.CrashCap {
		worker, running := startChild(t, b.address)
		wait.Receive(t, "a child runs the call", running)

		if err := worker.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		worker.Wait()

		if n < asynqext.CrashCap-1 {
			// Shorten the lease to 10 seconds, so that the next worker takes the call sooner.
			for _, task := range b.rdb.ZRange(t.Context(), tasks.AsynqLease(tasks.Infer), 0, -1).Val() {
				b.rdb.ZAddXX(t.Context(), tasks.AsynqLease(tasks.Infer),
					redis.Z{Score: float64(time.Now().Add(10 * time.Second).Unix()), Member: task})
			}
		}
	}

	killed := time.Now()

	var lease time.Time
	for _, z := range b.rdb.ZRangeWithScores(t.Context(), tasks.AsynqLease(tasks.Infer), 0, -1).Val() {
		lease = time.Unix(int64(z.Score), 0)
	}
	b.serveCalls(t, tasks.Options{}, echo)

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	_, err := call.Next(ctx)
	wantCode(t, err, fault.Internal)

	if message := fault.AsError(err).Message; !strings.Contains(message, "died 3 times") {
		t.Errorf("the message is %q, want the number of deaths", message)
	}

	if now := time.Now(); now.After(lease) {
		t.Errorf("the error came %s after the third crash and %s after the end of the lease, want it before that",
			now.Sub(killed), now.Sub(lease))
	}
	t.Logf("the error came %s after the third crash", time.Since(killed))

	wait.Until(t, "nothing of the call is left on the queue", func() bool {
		running := b.rdb.Exists(t.Context(),
			tasks.AsynqActive(tasks.Infer), tasks.AsynqLease(tasks.Infer), "pw:{infer}:running").
			Val()

		return running == 0 && len(b.rdb.Keys(t.Context(), tasks.AsynqTask(tasks.Infer, "*")).Val()) == 0
	})

	wantAnswer(t, b.call(t, stream.Call{Body: []byte("1")}), "1")
}

// scriptReplayer is a hook that records the scripts that a client sends. replay sends them again.
type scriptReplayer struct {
	mu   sync.Mutex
	sent [][]any
}

func (*scriptReplayer) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r *scriptReplayer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r.record(cmd)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook records the scripts of a pipeline.
func (r *scriptReplayer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			r.record(cmd)
		}

		return next(ctx, cmds)
	}
}

// record keeps a script, which the test sends again.
func (r *scriptReplayer) record(cmd redis.Cmder) {
	if !strings.HasPrefix(cmd.Name(), "eval") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, cmd.Args())
}

// replay sends all recorded scripts again, in their order.
func (r *scriptReplayer) replay(t *testing.T, rdb redis.UniversalClient) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, args := range r.sent {
		if err := rdb.Do(t.Context(), args...).Err(); err != nil && !redis.HasErrorPrefix(err, "NOSCRIPT") {
			t.Fatal(err)
		}
	}
}

// go-redis repeats a script after its read time-out. The test repeats the scripts of a call while the call runs, and
// again after its end.
func TestARepeatedCallIsServedOnce(t *testing.T) {
	t.Parallel()
	replayer := &scriptReplayer{}
	b := setupWithHook(t, replayer)
	runs, proceed := make(chan string, 9), make(chan struct{})
	b.serveCalls(t, tasks.Options{}, func(_ context.Context, run *stream.Run) error {
		runs <- run.ID

		if string(run.Call.Body) == `"long"` {
			<-proceed
		}

		return run.Finish(run.Call.Body)
	})
	end := sync.OnceFunc(func() { close(proceed) })
	t.Cleanup(end)

	long := b.call(t, stream.Call{Owner: "ann", Body: []byte(`"long"`)})
	wait.Receive(t, "the call runs", runs)
	replayer.replay(t, b.rdb)

	wantAnswer(t, b.call(t, stream.Call{Owner: "ann", Body: []byte("1")}), "1")
	wait.Receive(t, "the next call ran", runs)

	end()

	wantAnswer(t, long, `"long"`)
	replayer.replay(t, b.rdb)
	wait.Until(t, "the queue is empty", func() bool {
		return b.rdb.Exists(t.Context(), tasks.AsynqPending(tasks.Infer), tasks.AsynqActive(tasks.Infer)).Val() == 0
	})

	if len(runs) > 0 {
		t.Errorf("got %d more runs, want none", len(runs))
	}
}
