package tasks_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

func TestSubmittedJobReadsBack(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := submission(t)
	s.Filename, s.WebhookURL, s.RequestID, s.TraceParent = "r.pdf", "https://example.com", "req_1", "00-1-2-03"

	rec, replayed, err := b.client.Submit(t.Context(), s)
	if err != nil || replayed {
		t.Fatalf("Submit: got replayed %v, error %v; want a new job", replayed, err)
	}

	want := tasks.Record{
		Job: presswork.Job{
			ID: s.ID, Kind: presswork.KindConversion, Status: presswork.Queued, Stage: presswork.StageQueued, Seq: 1,
			Theme: "nord", CreatedAt: rec.CreatedAt, Warnings: []fault.Warning{},
		},
		Owner:       "ann",
		Filename:    "r.pdf",
		WebhookURL:  "https://example.com",
		RequestID:   "req_1",
		TraceParent: "00-1-2-03",
	}
	if diff := cmp.Diff(want, rec); diff != "" {
		t.Errorf("Submit (-want +got):\n%s", diff)
	}

	want.QueuePosition = new(0)
	if diff := cmp.Diff(want, b.job(t, s.ID)); diff != "" {
		t.Errorf("Job (-want +got):\n%s", diff)
	}

	if age := time.Since(rec.CreatedAt).Abs(); age > time.Hour || rec.CreatedAt.Location() != time.UTC {
		t.Errorf("created at %v, want the present time in UTC", rec.CreatedAt)
	}

	if ttl := b.rdb.PTTL(t.Context(), tasks.JobKey(s.ID)).Val(); ttl != -1 {
		t.Errorf("the record of an open job expires after %s, want never", ttl)
	}
}

func TestParallelSubmissionsWithOneKeyMakeOneJob(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ids, fresh := make([]string, 50), make([]bool, 50)
	var wg sync.WaitGroup

	for i := range ids {
		s := submission(t)
		s.IdempotencyKey, s.Fingerprint = "k", "f"
		wg.Go(func() {
			rec, replayed, err := b.client.Submit(t.Context(), s)
			if err != nil {
				t.Error(err)
			}
			ids[i], fresh[i] = rec.ID, !replayed
		})
	}
	wg.Wait()
	first := 0

	for i := range ids {
		if ids[i] != ids[0] {
			t.Fatalf("two jobs: %s, %s", ids[0], ids[i])
		}

		if fresh[i] {
			first++
		}
	}

	if first != 1 {
		t.Errorf("%d submissions created the job, want one", first)
	}

	if n := b.rdb.LLen(t.Context(), tasks.AsynqPending(tasks.Render)).Val(); n != 1 {
		t.Errorf("%d tasks are on the queue, want one", n)
	}

	page, err := b.client.Jobs(t.Context(), "ann", tasks.Query{})
	if err != nil || len(page.Records) != 1 {
		t.Errorf("listed %d jobs, %v; want one", len(page.Records), err)
	}
}

func TestIdempotencyKeyBelongsToOneRequestOfOneOwner(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := submission(t)
	s.IdempotencyKey, s.Fingerprint = "k", "f"
	first := b.submit(t, s)

	other := submission(t)
	other.IdempotencyKey, other.Fingerprint = "k", "g"
	_, _, err := b.client.Submit(t.Context(), other)
	wantCode(t, err, fault.IdempotencyConflict)
	_, _, err = b.client.Replay(t.Context(), "ann", "k", "g")
	wantCode(t, err, fault.IdempotencyConflict)

	other.AltFingerprint = "f"
	if id := b.submit(t, other); id != first {
		t.Errorf("the same request in its other form got job %s, want %s", id, first)
	}

	other.Owner = "bob"
	if id := b.submit(t, other); id == first {
		t.Error("bob got ann's job")
	}

	rec, found, err := b.client.Replay(t.Context(), "ann", "k", "f")
	if err != nil || !found || rec.ID != first {
		t.Errorf("Replay = %v, %v, %v; want the first job %s", rec.ID, found, err, first)
	}

	if _, found, err = b.client.Replay(t.Context(), "ann", "unused", "f"); err != nil || found {
		t.Errorf("Replay of an unused key: got found %v, %v; want nothing", found, err)
	}

	if ttl := b.rdb.TTL(t.Context(), tasks.IdempotencyKey("ann", "k")).Val(); ttl > 24*time.Hour || ttl < 23*time.Hour {
		t.Errorf("the key is kept for %s, want 23 to 24 hours", ttl)
	}
}

func TestARetryRepairsACrashBetweenKeyAndRecord(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})

	lost := tasks.NewID()
	if err := b.rdb.Set(t.Context(), tasks.IdempotencyKey("ann", "k"), lost+" f", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}

	if _, found, err := b.client.Replay(t.Context(), "ann", "k", "f"); err != nil || found {
		t.Fatalf("Replay found a job that was never written: %v %v", found, err)
	}
	var fresh atomic.Int32
	var wg sync.WaitGroup

	for range 20 {
		s := submission(t)
		s.IdempotencyKey, s.Fingerprint = "k", "f"
		wg.Go(func() {
			rec, replayed, err := b.client.Submit(t.Context(), s)
			if err != nil || rec.ID != lost {
				t.Errorf("got %s, %v; want the id %s", rec.ID, err, lost)
			}

			if !replayed {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()

	if n := fresh.Load(); n != 1 {
		t.Errorf("%d retries created the job, want one", n)
	}

	if got := b.job(t, lost); got.Status != presswork.Queued || *got.QueuePosition != 0 {
		t.Errorf("got %+v; want the first job of the queue", got)
	}
}

func TestAFullQueueAcceptsOnlyReplays(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{MaxPending: 2})
	s := submission(t)
	s.IdempotencyKey, s.Fingerprint = "k", "f"
	b.submit(t, s)
	b.submit(t, submission(t))
	wait.Until(t, "a third submission is refused", func() bool {
		_, _, err := b.client.Submit(t.Context(), submission(t))
		return fault.CodeOf(err) == fault.QueueFull
	})

	if _, replayed, err := b.client.Submit(t.Context(), s); err != nil || !replayed {
		t.Errorf("replay on a full queue: got replayed %v, %v; want a replay", replayed, err)
	}
	bulk := submission(t)
	bulk.Task = bulk.Task.On(tasks.Bulk)
	b.submit(t, bulk)
}

func TestMalformedSubmissionIsRefused(t *testing.T) {
	t.Parallel()

	client, err := tasks.NewClient("unix:///nowhere", tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}

	for name, invalidate := range map[string]func(*tasks.Submission){
		"id":      func(s *tasks.Submission) { s.ID = "../x" },
		"task":    func(s *tasks.Submission) { s.Task = tasks.Task{} },
		"retries": func(s *tasks.Submission) { s.Task.Retries = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			s := submission(t)
			invalidate(&s)

			if _, _, err := client.Submit(t.Context(), s); fault.CodeOf(err) != fault.Internal {
				t.Errorf("got %v, want an internal error", err)
			}
		})
	}
}

func TestCancelRemovesAWaitingJobFromTheQueue(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	id := b.submit(t, submission(t))

	rec, err := b.client.Cancel(t.Context(), id)
	if err != nil || rec.Status != presswork.Cancelled || rec.FinishedAt == nil {
		t.Fatalf("got %+v, %v; want a cancelled job", rec, err)
	}

	if n := b.rdb.LLen(t.Context(), tasks.AsynqPending(tasks.Render)).Val(); n != 0 {
		t.Errorf("%d tasks remain on the queue, want none", n)
	}
	rec, err = b.client.Cancel(t.Context(), id)
	wantCode(t, err, fault.JobFinished)

	if rec.Status != presswork.Cancelled {
		t.Errorf("the error came with %+v, want the cancelled job", rec)
	}

	for _, id := range []string{tasks.NewID(), "", "../../x", "01j00000000000000000000000"} {
		_, err := b.client.Cancel(t.Context(), id)
		wantCode(t, err, fault.NotFound)
		_, err = b.client.Job(t.Context(), id)
		wantCode(t, err, fault.NotFound)
	}
}

func TestQueuePositionCountsTheJobsAhead(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})

	var ids []string
	for range 5 {
		ids = append(ids, b.submit(t, submission(t)))
	}

	for i, id := range ids {
		if got := b.job(t, id).QueuePosition; got == nil || *got != i {
			t.Errorf("job %d has position %v, want %d", i, got, i)
		}
	}

	page, err := b.client.Jobs(t.Context(), "ann", tasks.Query{})
	if err != nil || *page.Records[0].QueuePosition != 4 {
		t.Errorf("the newest job is listed at %v, %v; want 4", page.Records[0].QueuePosition, err)
	}
}

func TestARedisOutageIsQueueUnavailable(t *testing.T) {
	t.Parallel()
	redis := redistest.StartDurable(t)
	b := setupOn(t, redis.Address, tasks.Options{})
	id := b.submit(t, submission(t))
	redis.Kill()
	ctx := t.Context()
	_, _, submitErr := b.client.Submit(ctx, submission(t))
	_, jobErr := b.client.Job(ctx, id)
	_, listErr := b.client.Jobs(ctx, "ann", tasks.Query{})
	_, cancelErr := b.client.Cancel(ctx, id)
	_, watchErr := b.client.Watch(ctx, id, -1)
	_, workersErr := b.client.Workers(ctx)
	_, statsErr := b.client.Stats(ctx)
	_, _, replayErr := b.client.Replay(ctx, "ann", "k", "f")

	for method, err := range map[string]error{
		"Submit":  submitErr,
		"Job":     jobErr,
		"Jobs":    listErr,
		"Cancel":  cancelErr,
		"Watch":   watchErr,
		"Workers": workersErr,
		"Stats":   statsErr,
		"Replay":  replayErr,
		"Health":  b.client.Health(ctx),
	} {
		t.Run(method, func(t *testing.T) {
			wantCode(t, err, fault.QueueUnavailable)

			if fault.AsError(err).Message == "" || errors.Unwrap(err) == nil {
				t.Errorf("%v has no message or no cause", err)
			}
		})
	}
	redis.Restart()
	wait.Until(t, "healthy again", func() bool { return b.client.Health(ctx) == nil })

	if b.job(t, id).Status != presswork.Queued {
		t.Error("the job is lost")
	}
}

func TestAllNodesUseTheSameSecret(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})

	other, err := tasks.NewClient(b.address, tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Stop(context.Background())
	secrets := make([]string, 20)
	var wg sync.WaitGroup

	for i := range secrets {
		c := []*tasks.Client{b.client, other}[i%2]
		wg.Go(func() {
			s, err := c.Secret(t.Context(), "token")
			if err != nil {
				t.Error(err)
			}
			secrets[i] = string(s)
		})
	}
	wg.Wait()

	for _, s := range secrets {
		if s != secrets[0] || len(s) != 32 {
			t.Fatal("the nodes do not agree")
		}
	}

	if s, err := b.client.Secret(t.Context(), "webhook"); err != nil || string(s) == secrets[0] {
		t.Errorf("got %v and the same secret for another name", err)
	}
}

func TestStatsCountTheTasksOfEachQueue(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	b.submit(t, submission(t))
	b.submit(t, submission(t))
	var stats []tasks.QueueStats
	// The age is only known to half a round trip, so it may be 0 at first.
	wait.Until(t, "the oldest is seen to wait", func() bool {
		var err error
		if stats, err = b.client.Stats(t.Context()); err != nil {
			t.Fatal(err)
		}

		return stats[0].Oldest > 0
	})

	want := []tasks.QueueStats{
		{Queue: "render", Pending: 2},
		{Queue: "export"},
		{Queue: "text"},
		{Queue: "audio"},
		{Queue: "infer"},
		{Queue: "tools"},
		{Queue: "bulk"},
	}
	if diff := cmp.Diff(want, stats, cmpopts.IgnoreFields(tasks.QueueStats{}, "Oldest", "OldestOpen")); diff != "" {
		t.Errorf("Stats (-want +got):\n%s", diff)
	}

	if stats[0].Oldest > time.Hour || stats[1].Oldest != 0 {
		t.Errorf("the oldest tasks wait %s and %s, want at most an hour and nothing", stats[0].Oldest, stats[1].Oldest)
	}
}
