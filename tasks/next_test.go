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

// themeChoice returns a submission whose first task chooses the theme.
func themeChoice(t testing.TB) tasks.Submission {
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

// continueWithConversion is a handler that continues with the conversion.
func continueWithConversion(ctx context.Context, run *tasks.Run, c tasks.Choice) error {
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
	tasks.Handle(s, tasks.ChooseTheme, continueWithConversion)
	tasks.Handle(s, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if c.Theme != "nord" {
			t.Errorf("got theme %q, want nord", c.Theme)
		}

		return complete(ctx, run, c)
	})

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	b.wantCompleted(t, b.submit(t, themeChoice(t)), 1)
}

// The worker dies after it has recorded the next task and before it has enqueued that task. The first task then runs
// on another worker.
func TestACrashBetweenTwoTasksOfAJobLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	var chosen atomic.Int32
	s := b.server(t, tasks.Options{Queues: []tasks.Queue{tasks.Text}})
	tasks.Handle(s, tasks.ChooseTheme, func(ctx context.Context, run *tasks.Run, c tasks.Choice) error {
		chosen.Add(1)
		return continueWithConversion(ctx, run, c)
	})

	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	id := b.submit(t, themeChoice(t))
	wait.Until(t, "the next task is on its queue",
		func() bool { return b.rdb.LLen(ctx, tasks.AsynqPending(tasks.Render)).Val() == 1 })
	taskEnded := func() bool { return b.rdb.Exists(ctx, tasks.AsynqTask(tasks.Text, id)).Val() == 0 }
	wait.Until(t, "the first task has ended", taskEnded) // otherwise it cannot be enqueued again
	b.rdb.Del(ctx, tasks.AsynqPending(tasks.Render), tasks.AsynqTask(tasks.Render, id))
	repeated := themeChoice(t)

	repeated.ID = id
	if err := b.client.Enqueue(ctx, id, repeated.Task); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the first task has ended again", taskEnded)

	renderer := b.serve(t, tasks.Options{Queues: []tasks.Queue{tasks.Render}}, complete)
	if err := renderer.SweepLedger(ctx, time.Minute); err != nil {
		t.Fatal(err)
	}

	if rec := b.waitForEnd(t, id); rec.Status != presswork.Completed || chosen.Load() != 1 {
		t.Errorf("got %s with %d theme choices, want completed with one", rec.Status, chosen.Load())
	}
}
