package asynqext

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"presswork/internal/test/wait"
)

func nothing(context.Context, *asynq.Task) error { return nil }

// This test fails when a new Asynq dequeues in a way that is not recognised.
func TestTheDequeueOfThePinnedAsynqIsRecognised(t *testing.T) {
	t.Parallel()
	w := setup(t)
	waits := w.serve(t, nothing)
	w.handled(t, w.enqueue(t))

	for range 5 {
		wait.Until(t, "the worker waits", func() bool { return w.blocked(t) })
		before := waits.Load()
		w.handled(t, w.enqueue(t))

		if waits.Load() == before {
			t.Error("the dequeuer took a task without waiting for it")
		}
	}
}

func TestWithoutBLMOVETheQueueIsPolled(t *testing.T) {
	t.Parallel()

	w := setup(t)
	if err := w.rdb.Do(t.Context(), "acl", "setuser", "default", "-blmove").Err(); err != nil {
		t.Fatal(err)
	}

	waits := w.serve(t, nothing)
	for range 5 {
		w.handled(t, w.enqueue(t))
	}

	if n := waits.Load(); n != 0 {
		t.Errorf("BLMOVE returned %d times", n)
	}
}

func TestAPausedQueueIsNotDequeued(t *testing.T) {
	t.Parallel()

	w := setup(t)
	if err := w.inspector.PauseQueue(string(render)); err != nil {
		t.Fatal(err)
	}
	waits := w.serve(t, nothing)
	id := w.enqueue(t)
	wait.Until(t, "the queue is polled", func() bool { return waits.Load() > 0 })
	at, before := time.Now(), waits.Load() // in this order, so that a poll in between does not count
	wait.Until(t, "the queue is polled three more times", func() bool { return waits.Load() >= before+3 })

	if took := time.Since(at); took < 2*pausedWait {
		t.Errorf("a paused queue was polled three times within %s", took)
	}

	if state := w.state(t, id); state != "pending" {
		t.Errorf("the task of a paused queue is %s", state)
	}

	if err := w.inspector.UnpauseQueue(string(render)); err != nil {
		t.Fatal(err)
	}
	w.handled(t, id)
}

func TestADequeueBeginsWhatItTakes(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		lua, want string
	}{
		"an answer": {`redis.call('SET', 'begun', id) return {type, argv[1]}`, "[t x]"},
		"none":      {`return nil`, ""},
		"a failure": {`redis.call('NONSENSE') return {type}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := setup(t)
			answered, handled := "", make(chan string, 1)
			var of string
			w.serveBegun(t, &Begin{Lua: c.lua, Argv: func(string) ([]any, func(string, []any)) {
				return []any{"x"}, func(id string, answer []any) { of, answered = id, fmt.Sprint(answer) }
			}}, func(context.Context, *asynq.Task) error {
				handled <- answered // it is there before the handler begins
				return nil
			})

			id := w.enqueue(t)
			if got := wait.Receive(t, name, handled); got != c.want || got != "" && of != id {
				t.Errorf("%s: the handler began with %q of task %q", name, got, of)
			}

			if begun := w.rdb.Get(t.Context(), "begun").Val(); c.want != "" && begun != id {
				t.Errorf("%s: began %q, want %s", name, begun, id)
			}
		})
	}
}
