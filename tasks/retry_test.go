package tasks_test

import (
	"bytes"
	"context"
	"testing"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

func TestADeadLetterIsRetriedWithAnotherTask(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if c.Content != "# Changed" {
			return fault.Errorf(fault.RenderFailed, "this one fails")
		}

		return complete(ctx, run, c)
	})
	id := b.submit(t, submission(t))
	b.waitForEnd(t, id)

	var task tasks.Task
	wait.Until(t, "it is a dead letter", func() (ok bool) {
		var err error
		task, err = b.client.DeadTask(t.Context(), id)

		return err == nil
	})

	changed, err := tasks.ConvertPDF.Task(tasks.Convert{Content: "# Changed", Theme: "nord"})
	if err != nil {
		t.Fatal(err)
	}

	if task.Kind != changed.Kind || bytes.Equal(task.Payload, changed.Payload) {
		t.Errorf("the task of the dead letter is %s %s", task.Kind, task.Payload)
	}
	changes := tasks.Changes{Theme: "nord", ContentType: "application/pdf", Task: changed}

	retried, err := b.client.RetryChanged(t.Context(), id, changes)
	if err != nil {
		t.Fatal(err)
	}

	if done := b.waitForEnd(t, retried.ID); done.Status != presswork.Completed || done.Theme != "nord" ||
		done.Owner != "ann" || done.ID == id {
		t.Errorf("the new job is %+v, want it completed for the same owner with the other theme", done)
	}
	_, err = b.client.RetryChanged(t.Context(), id, changes)
	wantCode(t, err, fault.JobFinished)
	_, err = b.client.DeadTask(t.Context(), id)
	wantCode(t, err, fault.JobFinished)
}
