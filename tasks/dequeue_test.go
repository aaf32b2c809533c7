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

// Redis dequeues the task and begins its job, but the replies are lost: go-redis repeats the command, and Asynq then
// dequeues again.
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
	dropper := &replyDropper{text: []byte("asynq:{render}:paused")} // only the dequeue names it
	s.rdb.AddHook(dropper)
	crashes := make(chan string, 2)
	Handle(s, ConvertPDF, func(ctx context.Context, run *Run, _ Convert) error {
		crashes <- s.rdb.HGet(ctx, AsynqTask(Render, run.ID), "x_crashes").Val()
		return run.Complete(ctx, presswork.Artifact{ID: run.ID}, false)
	})

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	for _, n := range []int64{0, 7} { // the first job loads the script
		dropper.left.Store(n)

		sub := newSubmission(t, "ann")
		if _, _, err := c.Submit(t.Context(), sub); err != nil {
			t.Fatal(err)
		}

		if got := wait.Receive(t, "the job runs", crashes); got != "" {
			t.Errorf("%d lost replies: got %s counted crashes, want none", n, got)
		}
		var job *record.Stored
		wait.Until(t, "the job has ended", func() bool { job = readJob(t, c, sub.ID); return job.Status.Terminal() })

		if job.Status != presswork.Completed || job.Attempts != 1 || dropper.left.Load() > 0 {
			t.Errorf("%d lost replies, %d still to lose: the job is %s after %d attempts, want completed after one", n,
				dropper.left.Load(), job.Status, job.Attempts)
		}
	}
}
