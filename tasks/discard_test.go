package tasks_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// discardCounter counts the discards of each job. The next fails discards return an error.
type discardCounter struct {
	mu    sync.Mutex
	jobs  map[string]int
	fails int
}

// discard counts the deletions of a job's sources. The first calls fail.
func (d *discardCounter) discard(_ context.Context, rec tasks.Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.fails > 0 {
		d.fails--
		return errors.New("the store is unavailable")
	}
	d.jobs[rec.ID]++

	return nil
}

func (d *discardCounter) count(id string) int {
	d.mu.Lock()
	defer d.mu.Unlock()

	return d.jobs[id]
}

func TestObjectsOfACancelledJobAreDiscarded(t *testing.T) {
	t.Parallel()
	d := &discardCounter{jobs: map[string]int{}}
	o := tasks.Options{Discard: d.discard}
	b := setup(t, o)
	ctx := t.Context()
	// crashed returns a job whose run stored its result and died.
	crashed := func() string {
		id := b.submit(t, submission(t))
		b.client.Begin(t, id)

		return id
	}

	untouched, waiting, failing, active, done := b.submit(t, submission(t)), crashed(), crashed(), crashed(), crashed()
	for _, id := range []string{untouched, waiting} {
		if _, err := b.client.Cancel(ctx, id); err != nil {
			t.Fatal(err)
		}
	}

	if d.count(untouched) != 0 || d.count(waiting) != 1 {
		t.Errorf("got discards %v, want only %s", d.jobs, waiting)
	}

	// The store is unavailable: the sweeper repeats the discard later.
	d.fails = 1

	if _, err := b.client.Cancel(ctx, failing); err != nil {
		t.Fatal(err)
	}

	if d.count(failing) != 0 || b.rdb.ZScore(ctx, tasks.LedgerKey, failing).Err() != nil {
		t.Error("the job left the ledger before its artifact was deleted")
	}

	// A worker has the job when it is cancelled. It stores its result and dies, and the task returns to the queue.
	if _, err := b.client.Cancel(ctx, active); err != nil {
		t.Fatal(err)
	}

	before := d.count(active)
	if err := b.client.Requeue(ctx, active); err != nil {
		t.Fatal(err)
	}
	s := b.serve(t, o, complete)
	wait.Until(t, "the late result is discarded", func() bool { return d.count(active) > before })

	if err := s.SweepLedger(ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the sweeper has repeated what failed", func() bool {
		return d.count(failing) == 1 && b.rdb.ZScore(ctx, tasks.LedgerKey, failing).Err() != nil
	})
	// Objects that a slow store receives for an ended job later are deleted when its record is packed.
	before = d.count(waiting)

	if err := s.Pack(ctx, tasks.PackAfter+time.Minute); err != nil {
		t.Fatal(err)
	}

	if d.count(waiting) != before+1 || d.count(untouched) != 0 {
		t.Errorf("job waiting: got %d discards, want %d, and none for the untouched job", d.count(waiting), before+1)
	}

	if rec := b.waitForEnd(t, done); rec.Status != presswork.Completed || d.count(done) != 0 {
		t.Errorf("got %s with %d discards, want completed with none", rec.Status, d.count(done))
	}
}

// With the type, a discard deletes one object instead of one for each type.
func TestDiscardUsesTheSubmittedType(t *testing.T) {
	t.Parallel()
	types := make(chan string, 9)
	o := tasks.Options{Discard: func(_ context.Context, rec tasks.Record) error {
		types <- rec.ContentType
		return nil
	}}
	b := setup(t, o)
	b.serve(t, o, func(context.Context, *tasks.Run, tasks.Convert) error {
		return fault.Errorf(fault.RenderFailed, "it fails")
	})

	for given, want := range map[string]string{
		"text/html; charset=utf-8": "text/html; charset=utf-8",
		"application/pdf":          "",
		"":                         "",
	} {
		t.Run(given, func(t *testing.T) {
			s := submission(t)
			s.ContentType = given

			id := b.submit(t, s)
			if got := wait.Receive(t, "the failed job is discarded", types); got != want {
				t.Errorf("submitted as %q: discarded as %q, want %q", given, got, want)
			}
			var again tasks.Record
			wait.Until(t, "the job can be retried", func() (ok bool) {
				var err error
				again, err = b.client.Retry(t.Context(), id)

				return err == nil
			})

			if got := wait.Receive(t, "the second job is discarded", types); got != want || again.ID == id {
				t.Errorf("retried as %q: discarded as %q, want %q, for a new job", given, got, want)
			}
		})
	}
}

func TestTheSourcesOfACancelledJobAreDeletedWithIt(t *testing.T) {
	t.Parallel()
	deleted := make(chan string, 9)
	fails := true
	b := setup(t, tasks.Options{DiscardSources: func(_ context.Context, jobID string) error {
		deleted <- jobID

		if fails {
			return errors.New("the store is unavailable")
		}

		return nil
	}})

	ctx := t.Context()
	for range 2 {
		id := b.submit(t, submission(t)) // no run has begun it
		if _, err := b.client.Cancel(ctx, id); err != nil {
			t.Fatal(err)
		}

		if got := wait.Receive(t, "the deletion", deleted); got != id {
			t.Errorf("deleted the sources of %s, want %s", got, id)
		}

		if open := b.rdb.ZScore(ctx, tasks.LedgerKey, id).Err() == nil; open != fails {
			t.Errorf("the deletion failed: %t; the job is open for the sweeper: %t; want both alike", fails, open)
		}
		fails = false
	}
}

func TestAnUnresponsiveStoreDelaysNoOtherSweep(t *testing.T) {
	t.Parallel()
	deadlines := make(chan bool, 9)
	o := tasks.Options{Discard: func(ctx context.Context, _ tasks.Record) error {
		_, bounded := ctx.Deadline()
		deadlines <- bounded
		<-ctx.Done()

		return context.Cause(ctx)
	}}
	b := setup(t, tasks.Options{
		Discard: func(context.Context, tasks.Record) error { return errors.New("the store is unavailable") },
	})
	ctx := t.Context()
	s := b.server(t, o)
	tasks.Handle(s, tasks.ConvertPDF, complete)

	// A cancelled job whose result is not deleted yet: the sweeper tries that, and then continues with the others.
	ended := b.submit(t, submission(t))
	b.client.Begin(t, ended)

	if _, err := b.client.Cancel(ctx, ended); err != nil {
		t.Fatal(err)
	}

	open := submission(t)
	if err := b.client.Accept(ctx, open); err != nil {
		t.Fatal(err)
	}
	b.rdb.Del(ctx, tasks.AsynqPending(tasks.Render), tasks.AsynqTask(tasks.Render, open.ID))

	for n := range 2 {
		swept := make(chan error, 1)
		go func() { swept <- s.SweepLedger(ctx, time.Duration(n+1)*time.Minute) }()

		if err := wait.Receive(t, "the end of the sweep", swept); err != nil {
			t.Fatal(err)
		}
	}

	if !wait.Receive(t, "the discard", deadlines) {
		t.Error("the discard has no deadline")
	}

	if n := b.rdb.Exists(ctx, tasks.AsynqTask(tasks.Render, open.ID)).Val(); n != 1 {
		t.Error("the open job has no task")
	}
}
