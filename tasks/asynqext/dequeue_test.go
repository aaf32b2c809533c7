package asynqext

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"presswork/internal/test/wait"
)

func noop(context.Context, *asynq.Task) error { return nil }

// The test fails if a new release of Asynq dequeues in a way that the hook does not recognise.
func TestTheDequeueOfThePinnedAsynqIsRecognised(t *testing.T) {
	t.Parallel()
	env := setup(t)
	polls := env.serve(t, noop)
	env.waitUntilDone(t, env.enqueue(t))

	for range 5 {
		wait.Until(t, "the worker waits in BLMOVE", func() bool { return env.isBlocked(t) })
		before := polls.Load()
		env.waitUntilDone(t, env.enqueue(t))

		if polls.Load() == before {
			t.Error("the dequeuer took a task without BLMOVE")
		}
	}
}

func TestWithoutBLMOVETheQueueIsPolled(t *testing.T) {
	t.Parallel()

	env := setup(t)
	if err := env.rdb.Do(t.Context(), "acl", "setuser", "default", "-blmove").Err(); err != nil {
		t.Fatal(err)
	}

	polls := env.serve(t, noop)
	for range 5 {
		env.waitUntilDone(t, env.enqueue(t))
	}

	if n := polls.Load(); n != 0 {
		t.Errorf("BLMOVE returned %d times, want never", n)
	}
}

func TestAPausedQueueIsNotDequeued(t *testing.T) {
	t.Parallel()

	env := setup(t)
	if err := env.inspector.PauseQueue(string(render)); err != nil {
		t.Fatal(err)
	}
	polls := env.serve(t, noop)
	id := env.enqueue(t)
	wait.Until(t, "the queue is polled", func() bool { return polls.Load() > 0 })
	at, before := time.Now(), polls.Load() // in this order: a poll in between only adds to the time
	wait.Until(t, "the queue is polled three more times", func() bool { return polls.Load() >= before+3 })

	if took := time.Since(at); took < 2*pausedWait {
		t.Errorf("a paused queue was polled three times within %s", took)
	}

	if state := env.state(t, id); state != "pending" {
		t.Errorf("the task of a paused queue is %s, want pending", state)
	}

	if err := env.inspector.UnpauseQueue(string(render)); err != nil {
		t.Fatal(err)
	}
	env.waitUntilDone(t, id)
}

func TestADequeueRunsTheBeginScript(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		lua, want string
	}{
		"a reply":  {`redis.call('SET', 'begun', id) return {type, argv[1]}`, "[t x]"},
		"no reply": {`return nil`, ""},
		"an error": {`redis.call('NONSENSE') return {type}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			env := setup(t)
			reply, handled := "", make(chan string, 1)
			var begunID string
			env.serveWithBegin(t, &Begin{Lua: c.lua, Argv: func(string) ([]any, func(string, []any)) {
				return []any{"x"}, func(id string, answer []any) { begunID, reply = id, fmt.Sprint(answer) }
			}}, func(context.Context, *asynq.Task) error {
				handled <- reply // the reply must arrive before the handler begins
				return nil
			})

			id := env.enqueue(t)
			if got := wait.Receive(t, name, handled); got != c.want || got != "" && begunID != id {
				t.Errorf("the handler began with %q of task %q, want %q of %q", got, begunID, c.want, id)
			}

			if begun := env.rdb.Get(t.Context(), "begun").Val(); c.want != "" && begun != id {
				t.Errorf("the script began %q, want %s", begun, id)
			}
		})
	}
}
