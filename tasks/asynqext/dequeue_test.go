package asynqext

import (
	"context"
	"testing"
	"time"

	"github.com/hibiken/asynq"
)

func nothing(context.Context, *asynq.Task) error { return nil }

// This test fails when a new Asynq dequeues in a way that is not recognised.
func TestTheDequeueOfThePinnedAsynqIsRecognised(t *testing.T) {
	t.Parallel()
	w := setup(t)
	d := w.serve(t, nothing)
	eventually(t, "the queue is found empty", func() bool { return d.dequeues.Load() >= 2 })
	for range 5 {
		before := d.wakeups.Load()
		w.handled(t, w.enqueue(t))
		if d.wakeups.Load() == before {
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
	d := w.serve(t, nothing)
	for range 5 {
		w.handled(t, w.enqueue(t))
	}
	if n := d.wakeups.Load(); n != 0 {
		t.Errorf("BLMOVE returned %d times", n)
	}
}

func TestPausedQueueRests(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if err := w.inspector.PauseQueue(string(render)); err != nil {
		t.Fatal(err)
	}
	d := w.serve(t, nothing)
	id := w.enqueue(t)
	eventually(t, "the task is seen", func() bool { return d.wakeups.Load() > 0 })
	before, at := d.wakeups.Load(), time.Now()
	eventually(t, "the queue is looked at again", func() bool { return d.wakeups.Load() >= before+3 })
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
