package tasks_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"presswork"
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

func TestWhatARunLeftOfACancelledJobIsDiscarded(t *testing.T) {
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
		t.Error("a job whose artifact is not deleted has left the ledger")
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
	if d.of(failing) != 1 || b.rdb.ZScore(ctx, tasks.LedgerKey, failing).Err() == nil {
		t.Error("the sweeper did not repeat what failed")
	}
	// What a slow store takes for an ended job after that goes when its record is packed.
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
