package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"presswork"
	"presswork/internal/analysis/finding"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

func TestWatcherGetsAllEventsOfAJob(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	id := b.submit(t, submission(t))

	w, err := b.client.Watch(t.Context(), id, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()

	s := w.Snapshot
	if s.Type != presswork.EventSnapshot || s.Seq != 1 || s.Status != presswork.Queued ||
		s.Message != "waiting for a worker" ||
		s.At.IsZero() {
		t.Errorf("got snapshot %+v, want a queued job at event 1", s)
	}
	b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if c.Content != "# Hi" || run.Attempt != 1 || run.Record.Theme != "nord" {
			t.Errorf("got run %+v of %+v, want attempt 1 of the submission", run, c)
		}

		return errors.Join(
			run.SetAnalysis(finding.Analysis{Language: "en"}),
			run.SetTheme("corporate"),
			run.Progress(ctx, presswork.StageRendering, 40, "rendering"),
			run.Warn(
				fault.Warning{Code: fault.ImageFailed, Message: "a", Line: 12},
				fault.Warning{Code: fault.AltMissing, Message: "b"},
			),
			run.Progress(ctx, presswork.StageStoring, 90, ""),
			run.Complete(ctx, artifact(run.ID), true),
		)
	})

	var got []string
	for _, e := range readEvents(t, w, 1) {
		got = append(got, fmt.Sprintf("%d %s %s %s %d %q", e.Seq, e.Type, e.Status, e.Stage, e.Progress, e.Message))
	}

	want := []string{
		`2 progress processing analyzing 0 "a worker has begun"`,
		`3 progress processing analyzing 0 "analyzed"`,
		`4 progress processing analyzing 0 "theme corporate"`,
		`5 progress processing rendering 40 "rendering"`,
		`6 progress processing rendering 40 "a (and 1 more)"`,
		`7 progress processing storing 90 ""`,
		`8 completed completed done 100 "done"`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}

	rec := b.job(t, id)
	if rec.Status != presswork.Completed || !rec.Cached || rec.Artifact == nil || rec.Artifact.ID != id ||
		rec.Theme != "corporate" ||
		len(rec.Warnings) != 2 ||
		rec.Analysis == nil ||
		rec.Analysis.Language != "en" ||
		rec.StartedAt == nil ||
		rec.FinishedAt == nil ||
		rec.Attempts != 1 ||
		rec.QueuePosition != nil {
		t.Errorf("got %+v, want every reported field", rec)
	}
}

func TestWatchingAFinishedJobRepeatsItsEvents(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	b.serve(t, tasks.Options{}, complete)
	id := b.submit(t, submission(t))
	b.waitForEnd(t, id)

	for since, want := range map[int64]int{-1: 1, 0: 3, 1: 2, 2: 1, 3: 0, 99: 0} {
		t.Run(fmt.Sprintf("since %d", since), func(t *testing.T) {
			w, err := b.client.Watch(t.Context(), id, since)
			if err != nil {
				t.Fatal(err)
			}

			if since < 0 {
				since = 2
			}

			events := readEvents(t, w, since)
			if len(events) != want || w.Snapshot.Seq != 3 || w.Snapshot.Artifact == nil {
				t.Errorf("got %d events, want %d; snapshot %+v, want event 3 with an artifact", len(events), want,
					w.Snapshot)
			}

			if want > 0 && events[want-1].Artifact.ID != id {
				t.Errorf("the last event is %+v, want the artifact of %s", events[want-1], id)
			}
			w.Close()
			w.Close()
		})
	}
	// The log may expire before the record.
	b.rdb.Del(t.Context(), tasks.LogKey(id))

	w, err := b.client.Watch(t.Context(), id, -1)
	if err != nil {
		t.Fatal(err)
	}

	if events := readEvents(t, w, 2); len(events) != 1 || events[0].Type != presswork.EventCompleted {
		t.Errorf("without a log: got events %+v, want one that the job completed", events)
	}
}

func TestWatchingAnUnknownJobIsNotFound(t *testing.T) {
	t.Parallel()

	b := setup(t, tasks.Options{})
	for _, id := range []string{tasks.NewID(), "x", ""} {
		_, err := b.client.Watch(t.Context(), id, -1)
		wantCode(t, err, fault.NotFound)
	}

	if n := b.client.Watchers(); n != 0 {
		t.Errorf("%d watchers remain, want none", n)
	}
}

// stepOnTick returns a handler that reports n steps, one after each tick, and completes.
func stepOnTick(n int, tick <-chan struct{}) handlerFunc {
	return func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		for i := range n {
			select {
			case <-tick:
			case <-ctx.Done():
				return context.Cause(ctx)
			}

			if err := run.Progress(ctx, presswork.StagePrinting, i*100/n, fmt.Sprint("step ", i)); err != nil {
				return err
			}
		}

		return complete(ctx, run, c)
	}
}

func TestWatchersSurviveTheLossOfTheirSubscription(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	tick := make(chan struct{})
	b.serve(t, tasks.Options{}, stepOnTick(60, tick))
	id := b.submit(t, submission(t))
	var wg sync.WaitGroup

	for i := range 20 {
		w, err := b.client.Watch(t.Context(), id, int64(i%2-1))
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer w.Close()

			from := max(0, w.Snapshot.Seq)
			if i%2 == 1 {
				from = 0
			}
			readEvents(t, w, from)
		})
	}

	for i := range 60 {
		if i%10 == 5 {
			if err := b.rdb.Do(t.Context(), "client", "kill", "type", "pubsub").Err(); err != nil {
				t.Error(err)
			}
		}
		tick <- struct{}{}
	}
	wg.Wait()
}

func TestALostMessageIsReadFromTheLog(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	id := b.submit(t, submission(t))

	w, err := b.client.Watch(t.Context(), id, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	// Write an event to the log without publishing it.
	ctx := t.Context()
	b.rdb.HIncrBy(ctx, tasks.JobKey(id), "seq", 1)

	if err := b.rdb.RPush(
		ctx,
		tasks.LogKey(id),
		`{"type":"progress","job_id":"`+id+`","seq":2,"status":"processing",`+
			`"stage":"rendering","progress":5,"at":"2026-01-01T00:00:00Z"}`,
	).Err(); err != nil {
		t.Fatal(err)
	}

	if e := wait.Receive(t, "the event that was not published", w.Events); e.Seq != 2 || e.Progress != 5 {
		t.Errorf("got %+v, want event 2 with progress 5", e)
	}

	if _, err := b.client.Cancel(ctx, id); err != nil {
		t.Fatal(err)
	}
	readEvents(t, w, 2)
}

func TestASlowWatcherIsDisconnected(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	tick := make(chan struct{})
	id := b.submit(t, submission(t))

	slow, err := b.client.Watch(t.Context(), id, -1)
	if err != nil {
		t.Fatal(err)
	}

	quick, err := b.client.Watch(t.Context(), id, -1)
	if err != nil {
		t.Fatal(err)
	}
	const steps = 400
	b.serve(t, tasks.Options{}, stepOnTick(steps, tick))
	var last int64

	for range steps { // the quick watcher reads each event before the next one
		tick <- struct{}{}
		last = wait.Receive(t, "an event", quick.Events).Seq
	}
	readEvents(t, quick, last)
	wait.Until(t, "the slow watcher's end", func() bool { return slow.Err() != nil })

	if !errors.Is(slow.Err(), tasks.ErrSlow) {
		t.Errorf("the slow watch ended with %v, want %v", slow.Err(), tasks.ErrSlow)
	}
	wait.Until(t, "its Events closed", func() bool {
		select {
		case _, open := <-slow.Events:
			return !open
		default:
			return false
		}
	})
	wait.Until(t, "no watcher remains", func() bool { return b.client.Watchers() == 0 })
}

func TestCloseEndsAWatchQuietly(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	id := b.submit(t, submission(t))

	w, err := b.client.Watch(t.Context(), id, -1)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()

	if _, open := receiveOpen(t, w.Events); open || w.Err() != nil {
		t.Errorf("after Close: open %v, err %v; want closed without an error", open, w.Err())
	}

	w, err = b.client.Watch(t.Context(), id, -1)
	if err != nil {
		t.Fatal(err)
	}

	if err := b.client.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if _, open := receiveOpen(t, w.Events); open {
		t.Error("the watch is open after Stop")
	}
	wantCode(t, w.Err(), fault.QueueUnavailable)

	if err := b.client.Stop(t.Context()); err != nil {
		t.Errorf("second Stop: %v", err)
	}
	_, err = b.client.Watch(t.Context(), id, -1)
	wantCode(t, err, fault.QueueUnavailable)
}

// receiveOpen receives from a channel that may be closed.
func receiveOpen[T any](t *testing.T, c <-chan T) (v T, open bool) {
	t.Helper()

	select {
	case v, open = <-c:
	case <-time.After(wait.Patience):
		t.Fatal("nothing was received")
	}

	return v, open
}

func TestAWatchContinuesAfterARedisRestart(t *testing.T) {
	t.Parallel()
	redis := redistest.StartDurable(t)
	b := setupOn(t, redis.Address, tasks.Options{})
	id := b.submit(t, submission(t))

	w, err := b.client.Watch(t.Context(), id, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	redis.Kill()
	redis.Restart()
	wait.Until(t, "the job is cancelled", func() bool {
		_, err := b.client.Cancel(t.Context(), id)
		return err == nil || fault.CodeOf(err) == fault.JobFinished
	})

	if events := readEvents(t, w, 1); len(events) != 1 || events[0].Type != presswork.EventCancelled {
		t.Errorf("got events %+v, want one that the job was cancelled", events)
	}
}
