package tasks_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// Callers see an ended job unchanged after its record is packed, and Redis has nothing else of it.
func TestAPackedJobIsAsItWas(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	s := b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if err := run.Printed(fault.Warning{Code: fault.ImageFailed, Message: `a <b> "c"`, Line: 3}); err != nil {
			return err
		}

		return reporting(ctx, run, c)
	})
	sub := typical(t, 0)
	sub.IdempotencyKey, sub.Fingerprint = "k", "f"
	id := b.submit(t, sub)
	job, events := b.finished(t, id), b.events(t, id, 0)
	wait.Until(t, "it is settled", func() bool { return b.rdb.ZCard(ctx, tasks.LedgerKey).Val() == 0 })

	pack := func(ahead time.Duration) {
		t.Helper()

		if err := s.Pack(ctx, ahead); err != nil {
			t.Fatal(err)
		}
	}

	packed := func() bool { return b.rdb.Exists(ctx, tasks.PackedKey(id)).Val() == 1 }
	if pack(tasks.PackAfter - time.Minute); packed() {
		t.Fatal("the record was packed before PackAfter")
	}
	ttl := b.rdb.PTTL(ctx, tasks.JobKey(id)).Val()

	if pack(tasks.PackAfter + time.Minute); !packed() {
		t.Fatal("the record was not packed after PackAfter")
	}

	if keys := b.rdb.Keys(ctx, "pw:{"+id+"}:*").Val(); len(keys) != 1 {
		t.Errorf("of the job remain %v", keys)
	}

	if got := b.rdb.PTTL(ctx, tasks.PackedKey(id)).Val(); got > ttl || got < ttl-time.Minute {
		t.Errorf("the packed record lives %s, the record lived %s", got, ttl)
	}

	if n := b.rdb.Exists(ctx, "pw:settled").Val(); n != 0 {
		t.Error("the packed job is still listed for packing")
	}

	if diff := cmp.Diff(job, b.job(t, id)); diff != "" {
		t.Errorf("Job (-before +after):\n%s", diff)
	}

	if diff := cmp.Diff(events, b.events(t, id, 0)); diff != "" {
		t.Errorf("events (-before +after):\n%s", diff)
	}

	if got := b.events(t, id, 3); len(got) != len(events)-3 {
		t.Errorf("%d events after the third of %d", len(got), len(events))
	}

	page, err := b.client.Jobs(ctx, sub.Owner, tasks.Query{})
	if err != nil || len(page.Records) != 1 {
		t.Fatal(page, err)
	}

	if diff := cmp.Diff(job, page.Records[0]); diff != "" {
		t.Errorf("Jobs (-before +after):\n%s", diff)
	}
	_, err = b.client.Cancel(ctx, id)
	wantCode(t, err, fault.JobFinished)
	again := typical(t, 0)

	again.IdempotencyKey, again.Fingerprint = "k", "f"
	if rec, replayed, err := b.client.Submit(ctx, again); err != nil || !replayed || rec.ID != id {
		t.Errorf("submitted again: %s, %t, %v", rec.ID, replayed, err)
	}

	sub.IdempotencyKey = ""
	if _, replayed, err := b.client.Submit(ctx, sub); err != nil || !replayed {
		t.Errorf("submitted under its id: %t, %v", replayed, err)
	}
}

func TestPackingKeepsTheFieldsOfANewerRelease(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	s := b.serve(t, tasks.Options{}, complete)
	id := b.submit(t, submission(t))
	b.finished(t, id)
	wait.Until(t, "it is settled", func() bool { return b.rdb.ZCard(ctx, tasks.LedgerKey).Val() == 0 })
	b.rdb.HSet(ctx, tasks.JobKey(id), "colour", "blue")

	if err := s.Pack(ctx, 2*tasks.PackAfter); err != nil {
		t.Fatal(err)
	}

	blob, err := b.rdb.Get(ctx, tasks.PackedKey(id)).Bytes()
	if err != nil {
		t.Fatal(err)
	}

	fields, _, err := tasks.Unpack(blob, false)
	if err != nil || fields["colour"] != "blue" || fields["status"] != "completed" {
		t.Errorf("packed: %v, %v", fields, err)
	}

	if _, kept := fields["fence"]; kept {
		t.Error("the fence of an ended job is packed, which nothing reads")
	}
}
