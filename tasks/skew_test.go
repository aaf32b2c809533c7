package tasks

import (
	"context"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks/record"
	"presswork/tasks/stream"
)

func TestTimesOfAJobNeverGoBack(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, redistest.Start(t), Options{})
	ctx, id := t.Context(), NewID()

	task, err := ConvertPDF.Task(Convert{Content: "x"})
	if err != nil {
		t.Fatal(err)
	}
	behind := time.Duration(0) // each reading of the clock is 20 ms further behind

	c.clock.SetLocal(func() time.Time {
		behind += 20 * time.Millisecond
		return time.Now().Add(-behind)
	})

	if err := c.Accept(ctx, Submission{ID: id, Kind: presswork.KindConversion, Task: task}); err != nil {
		t.Fatal(err)
	}

	run, err := c.records.Begin(ctx, id, ConvertPDF.Name, "w")
	if err != nil {
		t.Fatal(err)
	}

	if err := c.records.Report(ctx, id, run.Fence, c.records.Progress(presswork.StageRendering, 20, "")); err != nil {
		t.Fatal(err)
	}

	job, err := c.records.Finish(ctx, id,
		record.Ending{Fence: run.Fence, Nonce: "n", Status: presswork.Completed, Artifact: &presswork.Artifact{ID: id}})
	if err != nil {
		t.Fatal(err)
	}

	if job.StartedAt == nil || job.StartedAt.Before(job.CreatedAt) || job.FinishedAt == nil ||
		job.FinishedAt.Before(*job.StartedAt) {
		t.Errorf("created %s, started %s, finished %s; want them in this order", job.CreatedAt, job.StartedAt,
			job.FinishedAt)
	}

	events, err := c.records.Events(ctx, id, 0)
	if err != nil || len(events) != 4 {
		t.Fatalf("%d events, want 4: %v", len(events), err)
	}

	for i, e := range events[1:] {
		if e.At.Before(events[i].At) {
			t.Errorf("event %d is from %s, before the %s of its predecessor", e.Seq, e.At, events[i].At)
		}
	}
}

// The clock of the API is a day ahead. The call's place in the ledger and its wait must use Redis' time.
func TestACallIsTimedByRedis(t *testing.T) {
	t.Parallel()
	address := redistest.Start(t)
	c := newTestClient(t, address, Options{})

	c.clock.SetLocal(func() time.Time { return time.Now().Add(24 * time.Hour) })

	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the client knows Redis' time", func() bool { return time.Until(c.Now()).Abs() < time.Minute })

	s, err := NewServer(address, Options{Queues: []Queue{Infer}})
	if err != nil {
		t.Fatal(err)
	}
	runs := make(chan *stream.Run, 1)
	HandleCalls(s, func(_ context.Context, run *stream.Run) error {
		runs <- run
		return run.Finish(nil)
	})

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(context.Background()) })

	a, err := c.Call(t.Context(), stream.Call{Tier: stream.OnDemand})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()

	run := wait.Receive(t, "the call runs", runs)
	if at := run.Call.QueuedAt; time.Since(at).Abs() > wait.Patience || run.Waited > wait.Patience {
		t.Errorf("queued at %s, waited for %s; want about now, and a short wait", at, run.Waited)
	}
}
