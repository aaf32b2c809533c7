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

// discards notes which jobs' artifacts were to be deleted.
type discards struct {
	mu    sync.Mutex
	jobs  map[string]int
	fails int
}

func (d *discards) discard(_ context.Context, rec tasks.Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.fails > 0 {
		d.fails--
		return errors.New("the store is away")
	}
	d.jobs[rec.ID]++

	return nil
}

func (d *discards) of(id string) int {
	d.mu.Lock()
	defer d.mu.Unlock()

	return d.jobs[id]
}

func TestObjectsOfACancelledJobAreDiscarded(t *testing.T) {
	t.Parallel()
	d := &discards{jobs: map[string]int{}}
	o := tasks.Options{Discard: d.discard}
	b := setup(t, o)
	ctx := t.Context()
	// A run that stored its result and died.
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

	if d.of(untouched) != 0 || d.of(waiting) != 1 {
		t.Errorf("discarded %v, want only %s", d.jobs, waiting)
	}

	// The store does not answer: the sweeper repeats it.
	d.fails = 1

	if _, err := b.client.Cancel(ctx, failing); err != nil {
		t.Fatal(err)
	}

	if d.of(failing) != 0 || b.rdb.ZScore(ctx, tasks.LedgerKey, failing).Err() != nil {
		t.Error("the job left the ledger before its artifact was deleted")
	}

	// Cancelled while a worker had it, which then stores its result and dies: its
	// task comes back.
	if _, err := b.client.Cancel(ctx, active); err != nil {
		t.Fatal(err)
	}

	before := d.of(active)
	if err := b.client.Requeue(ctx, active); err != nil {
		t.Fatal(err)
	}
	s := b.serve(t, o, complete)
	wait.Until(t, "the late result is discarded", func() bool { return d.of(active) > before })

	if err := s.SweepLedger(ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the sweeper has repeated what failed", func() bool {
		return d.of(failing) == 1 && b.rdb.ZScore(ctx, tasks.LedgerKey, failing).Err() != nil
	})
	// Objects that a slow store receives for an ended job later are deleted when its record is packed.
	was := d.of(waiting)

	if err := s.Pack(ctx, tasks.PackAfter+time.Minute); err != nil {
		t.Fatal(err)
	}

	if d.of(waiting) != was+1 || d.of(untouched) != 0 {
		t.Errorf("discarded %d times, want %d", d.of(waiting), was+1)
	}

	if rec := b.finished(t, done); rec.Status != presswork.Completed || d.of(done) != 0 {
		t.Errorf("%s, discarded %d times", rec.Status, d.of(done))
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
		"text/html; charset=utf-8": "text/html; charset=utf-8", "application/pdf": "", "": "",
	} {
		t.Run(given, func(t *testing.T) {
			s := submission(t)
			s.ContentType = given

			id := b.submit(t, s)
			if got := wait.Receive(t, "the failed job is discarded", types); got != want {
				t.Errorf("submitted as %q, discarded as %q", given, got)
			}
			var again tasks.Record
			wait.Until(t, "the job can be tried again", func() (ok bool) {
				var err error
				again, err = b.client.Retry(t.Context(), id)

				return err == nil
			})

			if got := wait.Receive(t, "the second job is discarded", types); got != want || again.ID == id {
				t.Errorf("tried again as %q, discarded as %q", given, got)
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
			return errors.New("the store is away")
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
			t.Errorf("the deletion failed: %t; the sweeper repeats it: %t", fails, open)
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
	b := setup(
		t,
		tasks.Options{Discard: func(context.Context, tasks.Record) error { return errors.New("the store is away") }},
	)
	ctx := t.Context()
	s := b.server(t, o)
	tasks.Handle(s, tasks.ConvertPDF, complete)

	// It ended, and what its run stored is not deleted yet: the sweeper does it, and looks at the others all the same.
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

	if !wait.Receive(t, "the store is asked", deadlines) {
		t.Error("the store is asked without a deadline")
	}

	if n := b.rdb.Exists(ctx, tasks.AsynqTask(tasks.Render, open.ID)).Val(); n != 1 {
		t.Error("the open job has no task")
	}
}
