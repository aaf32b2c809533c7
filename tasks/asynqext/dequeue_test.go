package asynqext

import (
	"context"
	"testing"
	"time"

	"presswork/internal/test/wait"

	"github.com/hibiken/asynq"
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
			t.Error("a task was picked up without a wait for it")
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

func TestPausedQueueRests(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if err := w.inspector.PauseQueue(string(render)); err != nil {
		t.Fatal(err)
	}
	waits := w.serve(t, nothing)
	id := w.enqueue(t)
	wait.Until(t, "the task is seen", func() bool { return waits.Load() > 0 })
	before, at := waits.Load(), time.Now()
	wait.Until(t, "the queue is looked at again", func() bool { return waits.Load() >= before+3 })
	if took := time.Since(at); took < 2*pausedWait {
		t.Errorf("a paused queue was looked at thrice within %s", took)
	}
	if state := w.state(t, id); state != "pending" {
		t.Errorf("the task of a paused queue is %s", state)
	}
	if err := w.inspector.UnpauseQueue(string(render)); err != nil {
		t.Fatal(err)
	}
	w.handled(t, id)
}
