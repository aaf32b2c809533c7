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

// After packing, callers read the same job, and Redis has no other key of it.
func TestPackingChangesNothingForCallers(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	s := b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if err := run.Printed(fault.Warning{Code: fault.ImageFailed, Message: `a <b> "c"`, Line: 3}); err != nil {
			return err
		}

		return reportAndComplete(ctx, run, c)
	})
	sub := typicalSubmission(t, 0)
	sub.IdempotencyKey, sub.Fingerprint = "k", "f"
	id := b.submit(t, sub)
	job, events := b.waitForEnd(t, id), b.events(t, id, 0)
	wait.Until(t, "it is settled", func() bool { return b.rdb.ZCard(ctx, tasks.LedgerKey).Val() == 0 })

	// pack packs the jobs that are due when ahead has passed.
	pack := func(ahead time.Duration) {
		t.Helper()

		if err := s.Pack(ctx, ahead); err != nil {
			t.Fatal(err)
		}
	}

	packed := func() bool { return b.rdb.Exists(ctx, tasks.PackedKey(id)).Val() == 1 }
	pack(tasks.PackAfter - time.Minute)

	if packed() {
		t.Fatal("the record was packed before PackAfter")
	}
	ttl := b.rdb.PTTL(ctx, tasks.JobKey(id)).Val()

	pack(tasks.PackAfter + time.Minute)

	if !packed() {
		t.Fatal("the record was not packed after PackAfter")
	}

	if keys := b.rdb.Keys(ctx, "pw:{"+id+"}:*").Val(); len(keys) != 1 {
		t.Errorf("the job has the keys %v, want only the packed record", keys)
	}

	if got := b.rdb.PTTL(ctx, tasks.PackedKey(id)).Val(); got > ttl || got < ttl-time.Minute {
		t.Errorf("the packed record expires in %s, want the %s of the record", got, ttl)
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
		t.Errorf("got %d events after the third of %d, want %d", len(got), len(events), len(events)-3)
	}

	page, err := b.client.Jobs(ctx, sub.Owner, tasks.Query{})
	if err != nil || len(page.Records) != 1 {
		t.Fatalf("got the jobs %+v, error %v; want one job", page, err)
	}

	if diff := cmp.Diff(job, page.Records[0]); diff != "" {
		t.Errorf("Jobs (-before +after):\n%s", diff)
	}
	_, err = b.client.Cancel(ctx, id)
	wantCode(t, err, fault.JobFinished)
	repeated := typicalSubmission(t, 0)

	repeated.IdempotencyKey, repeated.Fingerprint = "k", "f"
	if rec, replayed, err := b.client.Submit(ctx, repeated); err != nil || !replayed || rec.ID != id {
		t.Errorf("second submission with the key: got job %s, replayed %t, %v; want a replay of %s", rec.ID,
			replayed, err, id)
	}

	sub.IdempotencyKey = ""
	if _, replayed, err := b.client.Submit(ctx, sub); err != nil || !replayed {
		t.Errorf("second submission with the id: got replayed %t, %v; want a replay", replayed, err)
	}
}

func TestPackingKeepsTheFieldsOfANewerRelease(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	s := b.serve(t, tasks.Options{}, complete)
	id := b.submit(t, submission(t))
	b.waitForEnd(t, id)
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
		t.Errorf("got fields %v, %v; want colour blue and status completed", fields, err)
	}

	if _, kept := fields["fence"]; kept {
		t.Error("the fence is packed, but nothing reads the fence of an ended job")
	}
}
