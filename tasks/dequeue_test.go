package tasks

import (
	"context"
	"errors"
	"testing"

	"presswork"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks/record"
)

// Redis has dequeued the task and begun its job, and the connection breaks several times: go-redis repeats the
// command, and Asynq then dequeues again.
func TestLostResponseToADequeueDelaysNoTask(t *testing.T) {
	t.Parallel()
	address := redistest.Start(t)

	c, err := NewClient(address, Options{})
	if err != nil {
		t.Fatal(err)
	}

	s, err := NewServer(address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Stop(context.Background()), c.Stop(context.Background())); err != nil {
			t.Error(err)
		}
	})
	lost := &swallower{text: []byte("asynq:{render}:paused")} // only the dequeue names it
	s.rdb.AddHook(lost)
	crashes := make(chan string, 2)
	Handle(s, ConvertPDF, func(ctx context.Context, run *Run, _ Convert) error {
		crashes <- s.rdb.HGet(ctx, AsynqTask(Render, run.ID), "x_crashes").Val()
		return run.Complete(ctx, presswork.Artifact{ID: run.ID}, false)
	})

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	for _, n := range []int64{0, 7} { // with the first, Redis learns the script
		lost.armed.Store(n)

		one := newSubmission(t, "ann")
		if _, _, err := c.Submit(t.Context(), one); err != nil {
			t.Fatal(err)
		}

		if got := wait.Receive(t, "the job runs", crashes); got != "" {
			t.Errorf("%d lost answers: %s crashes are counted", n, got)
		}
		var job *record.Stored
		wait.Until(
			t,
			"the job has ended",
			func() bool { job = readJob(t, c, one.ID); return job.Status.Terminal() },
		)

		if job.Status != presswork.Completed || job.Attempts != 1 || lost.armed.Load() > 0 {
			t.Errorf(
				"%d lost answers, %d of them not: the job is %s after %d attempts",
				n,
				lost.armed.Load(),
				job.Status,
				job.Attempts,
			)
		}
	}
}
