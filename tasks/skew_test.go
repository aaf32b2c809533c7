package tasks

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

func TestTheClockIsRedisAndWarnsOnceOfAnotherTime(t *testing.T) {
	t.Parallel()
	rdb, err := Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	var log bytes.Buffer
	c := newClock(rdb, slog.New(slog.NewTextHandler(&log, nil)))
	for _, step := range []struct {
		ahead time.Duration
		lines int
	}{{0, 0}, {-5 * time.Minute, 1}, {20 * time.Second, 1}, {time.Second, 2}, {3 * time.Second, 3}} {
		c.local = func() time.Time { return time.Now().Add(step.ahead) }
		for range 2 {
			before := c.here
			wait.Until(t, "a look that is quick enough is believed", func() bool { c.look(t.Context()); return c.here != before })
		}
		// This test may be held up between two readings of a clock.
		wait.Until(t, fmt.Sprintf("%s ahead: the time is Redis'", step.ahead), func() bool { return time.Until(c.now()).Abs() < time.Second/2 })
		wait.Until(t, fmt.Sprintf("%s ahead: so is the skew", step.ahead), func() bool { return (c.skew() - step.ahead).Abs() < time.Second/2 })
		if n := strings.Count(log.String(), "\n"); n != step.lines {
			t.Errorf("%s ahead: %d lines in the log, want %d:\n%s", step.ahead, n, step.lines, &log)
		}
	}
}

func TestNothingOfAJobIsBeforeWhatWasBeforeIt(t *testing.T) {
	t.Parallel()
	c, err := NewClient(redistest.Start(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })
	ctx, id := t.Context(), NewID()
	task, err := ConvertPDF.Task(Convert{Content: "x"})
	if err != nil {
		t.Fatal(err)
	}
	// Each process knows Redis' time a little worse than the one before it.
	behind := time.Duration(0)
	c.clock.local = func() time.Time {
		behind += 20 * time.Millisecond
		return time.Now().Add(-behind)
	}
	if err := c.Accept(ctx, Submission{ID: id, Kind: presswork.KindConversion, Task: task}); err != nil {
		t.Fatal(err)
	}
	run, err := c.records.begin(ctx, id, ConvertPDF.Name, "w")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.records.tell(ctx, id, run.fence, c.records.progressed(presswork.StageRendering, 20, "")); err != nil {
		t.Fatal(err)
	}
	job, err := c.records.finish(ctx, id, ending{fence: run.fence, nonce: "n", status: presswork.Completed, artifact: &presswork.Artifact{ID: id}})
	if err != nil {
		t.Fatal(err)
	}
	if job.StartedAt == nil || job.StartedAt.Before(job.CreatedAt) || job.FinishedAt == nil || job.FinishedAt.Before(*job.StartedAt) {
		t.Errorf("created %s, started %s, finished %s", job.CreatedAt, job.StartedAt, job.FinishedAt)
	}
	events, err := c.records.events(ctx, id, 0)
	if err != nil || len(events) != 4 {
		t.Fatalf("%d events, want 4: %v", len(events), err)
	}
	for i, e := range events[1:] {
		if e.At.Before(events[i].At) {
			t.Errorf("event %d is of %s, the one before it of %s", e.Seq, e.At, events[i].At)
		}
	}
}
