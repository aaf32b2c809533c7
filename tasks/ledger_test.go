package tasks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

func TestAcceptedJobWithoutATaskIsPutOnTheQueue(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	s := submission(t)

	s.IdempotencyKey = "k" // otherwise the task is written together with the record
	if err := b.client.Accept(ctx, s); err != nil {
		t.Fatal(err)
	}
	b.rdb.Del(ctx, tasks.OwnerKey(s.Owner)) // as if its shard had been unavailable
	var runs sync.Map

	srv := b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if _, twice := runs.LoadOrStore(run.ID, true); twice {
			t.Error("the job ran twice")
		}

		if c.Content != "# Hi" {
			t.Errorf("got payload %+v, want # Hi", c)
		}

		return complete(ctx, run, c)
	})
	if err := srv.SweepLedger(ctx, 0); err != nil {
		t.Fatal(err)
	}

	if b.job(t, s.ID).Status != presswork.Queued {
		t.Fatal("the sweeper did not leave a young submission alone")
	}
	// Several workers sweep at the same time.
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if err := srv.SweepLedger(ctx, 20*time.Second); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()

	b.wantCompleted(t, s.ID, 1)
	wait.Until(t, "the job has left the ledger", func() bool { return b.rdb.Exists(ctx, tasks.LedgerKey).Val() == 0 })

	if page, err := b.client.Jobs(ctx, s.Owner, tasks.Query{}); err != nil || len(page.Records) != 1 {
		t.Errorf("the owner's list has %d jobs (%v), want one", len(page.Records), err)
	}
}

func TestTheSweeperForgetsUnwrittenJobsAndEndsArchivedOnes(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	b.rdb.Do(ctx, "zadd", tasks.LedgerKey, 1, tasks.NewID())
	id := b.submit(t, submission(t))
	waiting := b.submit(t, submission(t))
	b.rdb.HSet(ctx, tasks.AsynqTask(tasks.Render, id), "state", "archived")
	s := b.server(t, tasks.Options{})

	at := time.Now().Add(20 * time.Second)
	if err := s.SweepLedger(ctx, 20*time.Second); err != nil {
		t.Fatal(err)
	}

	if next := b.rdb.ZScore(ctx, tasks.LedgerKey, waiting).Val(); next <= float64(at.UnixMilli()) {
		t.Error("a job that was just checked is due again at once")
	}
	wait.Until(t, "the ledger holds only the job that waits", func() bool {
		got := b.rdb.ZRange(ctx, tasks.LedgerKey, 0, -1).Val()
		return len(got) == 1 && got[0] == waiting
	})

	if rec := b.job(t, id); rec.Status != presswork.Failed {
		t.Errorf("an archived job is %s, want failed", rec.Status)
	}
}

func TestTheSweeperContinuesAfterABrokenJob(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	garbled, wrongType := b.submit(t, submission(t)), b.submit(t, submission(t))
	unsettled := b.submit(t, webhookSubmission(t))
	stateless := b.submit(t, submission(t))

	good := submission(t)
	if err := b.client.Accept(ctx, good); err != nil {
		t.Fatal(err)
	}

	if _, err := b.client.Cancel(ctx, unsettled); err != nil {
		t.Fatal(err)
	}
	b.rdb.HSet(ctx, tasks.JobKey(garbled), "seq", "many")
	b.rdb.Set(ctx, tasks.JobKey(wrongType), "x", 0)
	b.rdb.Set(ctx, tasks.AsynqTask(tasks.Render, stateless), "x", 0)

	bad := []string{garbled, wrongType, unsettled, stateless}
	for _, id := range bad {
		b.rdb.Do(ctx, "zadd", tasks.LedgerKey, 1, id)
	}
	// A webhook body that cannot be encoded: settling the job fails each time.
	s := b.server(t, tasks.Options{WebhookData: func(tasks.Record) any { return make(chan int) }})
	if err := s.SweepLedger(ctx, 20*time.Second); err != nil {
		t.Fatal(err)
	}

	if n := b.rdb.Exists(ctx, tasks.AsynqTask(tasks.Render, good.ID)).Val(); n != 1 {
		t.Error("the good job is not on the queue")
	}

	for _, id := range bad {
		t.Run(id, func(t *testing.T) {
			if _, err := b.rdb.ZScore(ctx, tasks.LedgerKey, id).Result(); err != nil {
				t.Errorf("job %s left the ledger: %v", id, err)
			}
		})
	}

	page, err := b.client.Jobs(ctx, "ann", tasks.Query{})
	if err != nil || len(page.Records) != 3 {
		t.Errorf("%d jobs are listed, want the 3 readable ones: %v", len(page.Records), err)
	}
}
