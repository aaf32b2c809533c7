package tasks_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// choosing returns a submission whose first task chooses the theme.
func choosing(t testing.TB) tasks.Submission {
	t.Helper()
	s := submission(t)

	task, err := tasks.ChooseTheme.Task(
		tasks.Choice{Convert: tasks.Convert{Content: "# Hi", Theme: "auto"}, Queue: tasks.Render},
	)
	if err != nil {
		t.Fatal(err)
	}
	s.Task = task

	return s
}

// choose is a handler that continues with the conversion.
func choose(ctx context.Context, run *tasks.Run, c tasks.Choice) error {
	c.Convert.Theme = "nord"

	next, err := tasks.ConvertPDF.Task(c.Convert)
	if err != nil {
		return err
	}

	return run.Next(ctx, next.On(c.Queue))
}

func TestAJobContinuesWithItsNextTask(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := b.server(t, tasks.Options{})
	tasks.Handle(s, tasks.ChooseTheme, choose)
	tasks.Handle(s, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if c.Theme != "nord" {
			t.Errorf("the theme is %q", c.Theme)
		}

		return complete(ctx, run, c)
	})

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	if rec := b.finished(t, b.submit(t, choosing(t))); rec.Status != presswork.Completed || rec.Attempts != 1 {
		t.Errorf("%s after %d attempts", rec.Status, rec.Attempts)
	}
}

// The worker dies after it has recorded the next task and before that task is on its queue. The first task returns
// to another worker.
func TestACrashBetweenTwoTasksOfAJobLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	var chosen atomic.Int32
	s := b.server(t, tasks.Options{Queues: []tasks.Queue{tasks.Text}})
	tasks.Handle(s, tasks.ChooseTheme, func(ctx context.Context, run *tasks.Run, c tasks.Choice) error {
		chosen.Add(1)
		return choose(ctx, run, c)
	})

	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	id := b.submit(t, choosing(t))
	wait.Until(
		t,
		"the next task is on its queue",
		func() bool { return b.rdb.LLen(ctx, tasks.AsynqPending(tasks.Render)).Val() == 1 },
	)
	gone := func() bool { return b.rdb.Exists(ctx, tasks.AsynqTask(tasks.Text, id)).Val() == 0 }
	wait.Until(t, "the first task has ended", gone) // else it would not come back
	b.rdb.Del(ctx, tasks.AsynqPending(tasks.Render), tasks.AsynqTask(tasks.Render, id))
	old := choosing(t)

	old.ID = id
	if err := b.client.Enqueue(ctx, id, old.Task); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the first task is gone again", gone)

	r := b.serve(t, tasks.Options{Queues: []tasks.Queue{tasks.Render}}, complete)
	if err := r.SweepLedger(ctx, time.Minute); err != nil {
		t.Fatal(err)
	}

	if rec := b.finished(t, id); rec.Status != presswork.Completed || chosen.Load() != 1 {
		t.Errorf("%s, chosen %d times", rec.Status, chosen.Load())
	}
}
