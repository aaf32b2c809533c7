package tasks

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/redistest"
	"presswork/tasks/record"
)

func TestTheRecordOfAnOpenJobDoesNotExpire(t *testing.T) {
	t.Parallel()

	o, err := Options{Records: 24 * time.Hour}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	c := newTestClient(t, redistest.Start(t), o)

	submission := newSubmission(t, "")
	rdb, open := c.rdb, submission.ID

	if err := c.Accept(t.Context(), submission); err != nil {
		t.Fatal(err)
	}
	s := &Server{
		rdb:     rdb,
		records: c.records,
		outbox:  c.outbox,
		log:     slog.New(slog.DiscardHandler),
		metrics: c.metrics,
	}
	ctx := t.Context()
	keys := []string{record.JobKey(open), record.LogKey(open), record.PayloadKey(open), record.OwnerKey("")}
	// The job has waited for so long that its keys are about to expire.
	for _, key := range keys {
		rdb.PExpire(ctx, key, time.Minute)
	}
	rdb.Del(ctx, record.OwnerKey(""))

	if err := s.sweepLedger(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}

	for _, key := range keys {
		t.Run(key, func(t *testing.T) {
			if ttl := rdb.PTTL(ctx, key).Val(); ttl < 23*time.Hour {
				t.Errorf("the key expires in %s, want about a day", ttl)
			}
		})
	}

	if ids := rdb.ZRange(ctx, record.OwnerKey(""), 0, -1).Val(); !slices.Contains(ids, open) {
		t.Errorf("the owner's list is %v, want %s in it", ids, open)
	}

	if _, err := c.records.Finish(ctx, open, record.Ending{Nonce: "n", Status: presswork.Cancelled}); err != nil {
		t.Fatal(err)
	}
	rdb.PExpire(ctx, record.JobKey(open), time.Minute)

	if err := s.sweepLedger(ctx, 2*time.Hour); err != nil {
		t.Fatal(err)
	}

	if ttl := rdb.PTTL(ctx, record.JobKey(open)).Val(); ttl > time.Minute {
		t.Errorf("the record of an ended job expires in %s, want a minute", ttl)
	}
}
