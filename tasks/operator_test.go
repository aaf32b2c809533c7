package tasks_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// searchAll reads all pages of a search and returns the ids.
func searchAll(t *testing.T, b *bundle, q tasks.Search) (ids []string) {
	t.Helper()

	for {
		page, err := b.client.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}

		for _, r := range page.Records {
			ids = append(ids, r.ID)
		}

		if !page.HasMore {
			return ids
		}
		q.Cursor = page.NextCursor
	}
}

func TestASearchGoesAcrossOwnersNewestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	var all, cancelled, anns []string

	for i := range 240 {
		s := submission(t)
		s.Owner = []string{"ann", "bob", ""}[i%3]
		s.Filename = map[bool]string{true: "Quarterly.pdf"}[i == 7]
		id := b.submit(t, s)

		all = append(all, id)
		if s.Owner == "ann" {
			anns = append(anns, id)
		}

		if i%5 == 0 {
			if _, err := b.client.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			cancelled = append(cancelled, id)
		}
	}

	for _, ids := range [][]string{all, cancelled, anns} {
		slices.Reverse(ids)
	}
	open := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(cancelled, id) })

	seventh := all[len(all)-8]
	for name, c := range map[string]struct {
		q    tasks.Search
		want []string
	}{
		"all":       {tasks.Search{Query: tasks.Query{Limit: 70}}, all},
		"cancelled": {tasks.Search{Query: tasks.Query{Statuses: []presswork.Status{presswork.Cancelled}}}, cancelled},
		"open":      {tasks.Search{Query: tasks.Query{Limit: 33, Statuses: []presswork.Status{presswork.Queued}}}, open},
		"of ann":    {tasks.Search{Query: tasks.Query{Limit: 7}, Owner: new("ann")}, anns},
		"by text":   {tasks.Search{Text: "quarterLY"}, []string{seventh}},
		"by id":     {tasks.Search{Text: seventh}, []string{seventh}},
		"by worker": {tasks.Search{Worker: "w1"}, nil},
		"dead":      {tasks.Search{Dead: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := searchAll(t, b, c.q); !slices.Equal(got, c.want) {
				t.Errorf("got %d jobs %v, want %d", len(got), got, len(c.want))
			}
		})
	}
	// Since and Before compare with the time in the id.
	created := ulid.Time(ulid.MustParse(all[100]).Time())

	first := slices.IndexFunc(all, func(id string) bool { return ulid.Time(ulid.MustParse(id).Time()).Before(created) })
	if got := searchAll(t, b, tasks.Search{Since: created}); !slices.Equal(got, all[:first]) {
		t.Errorf("got %d jobs since a time, want %d", len(got), first)
	}

	if got := searchAll(t, b, tasks.Search{Before: created}); !slices.Equal(got, all[first:]) {
		t.Errorf("got %d jobs before a time, want %d", len(got), len(all)-first)
	}
	_, err := b.client.Search(t.Context(), tasks.Search{Query: tasks.Query{Cursor: "7"}})
	wantCode(t, err, fault.InvalidOption)
}

func TestAFailureOfTheCallerLeavesNoDeadLetter(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	b.serve(t, tasks.Options{}, func(_ context.Context, run *tasks.Run, _ tasks.Convert) error {
		if run.Record.Filename == "bad.pdf" {
			return fault.Errorf(fault.ContentTooComplex, "the tables are nested too deeply")
		}

		return fault.Errorf(fault.RenderFailed, "the browser has crashed")
	})
	ids := map[string]string{}

	for _, name := range []string{"bad.pdf", "good.pdf"} {
		s := submission(t)
		s.Filename = name
		ids[name] = b.submit(t, s)
		b.waitForEnd(t, ids[name])
	}
	wait.Until(t, "the other job is the only dead letter", func() bool {
		return slices.Equal(searchAll(t, b, tasks.Search{Dead: true}), []string{ids["good.pdf"]})
	})

	for cause, name := range map[tasks.Cause]string{tasks.ByCaller: "bad.pdf", tasks.ByServer: "good.pdf"} {
		if got := searchAll(t, b, tasks.Search{Cause: cause}); !slices.Equal(got, []string{ids[name]}) {
			t.Errorf("failed by the %s: %v, want %s", cause, got, name)
		}
	}

	wait.Until(t, "the sources of the first are not needed", func() bool {
		needed, err := b.client.Needed(t.Context(), ids["bad.pdf"])
		return err == nil && !needed
	})
	_, err := b.client.Retry(t.Context(), ids["bad.pdf"])
	wantCode(t, err, fault.JobFinished)
}

func TestADeadLetterIsRetriedAsOneNewJob(t *testing.T) {
	t.Parallel()
	wait.ForDay()
	b := setup(t, tasks.Options{})
	broken := make(chan bool, 1)
	broken <- true
	b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		select {
		case <-broken:
			return fault.Errorf(fault.RenderFailed, "the first one fails")
		default:
			return complete(ctx, run, c)
		}
	})
	s := submission(t)
	s.WebhookURL, s.Filename = "", "a.pdf"
	id := b.submit(t, s)
	b.waitForEnd(t, id)
	wait.Until(t, "it is a dead letter",
		func() bool { return slices.Equal(searchAll(t, b, tasks.Search{Dead: true}), []string{id}) })

	if needed, err := b.client.Needed(t.Context(), id); err != nil || !needed {
		t.Errorf("Needed = false, %v; want the sources of a dead letter kept", err)
	}

	if fleet, err := b.client.Fleet(t.Context()); err != nil || fleet.Dead != 1 {
		t.Errorf("got fleet %+v, %v; want one dead letter", fleet, err)
	}

	retried, err := b.client.Retry(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}

	done := b.waitForEnd(t, retried.ID)
	if done.Status != presswork.Completed || done.Owner != "ann" || done.Filename != "a.pdf" || done.ID == id {
		t.Errorf("the new job is %+v, want it completed with the owner and the file name of the first", done)
	}

	if twice, err := b.client.Retry(t.Context(), id); err != nil || twice.ID != retried.ID {
		t.Errorf("a second retry: got job %s, %v; want %s", twice.ID, err, retried.ID)
	}

	if job := b.job(t, id); job.Status != presswork.Failed {
		t.Errorf("the first job is %s, want failed", job.Status)
	}

	if got := searchAll(t, b, tasks.Search{Dead: true}); len(got) != 0 {
		t.Errorf("got dead letters %v, want none", got)
	}

	if needed, err := b.client.Needed(t.Context(), id); err != nil || needed {
		t.Errorf("Needed = true, %v; want the sources deleted", err)
	}

	inspection, err := b.client.Inspect(t.Context(), id)
	if err != nil || inspection.RetriedAs != retried.ID || inspection.Dead || len(inspection.Events) < 3 ||
		len(inspection.Workers) != 1 {
		t.Errorf("got %+v, %v; want a retried job that is no dead letter", inspection, err)
	}
	_, err = b.client.Retry(t.Context(), retried.ID)
	wantCode(t, err, fault.JobFinished)
	wantCode(t, b.client.Dismiss(t.Context(), id), fault.NotFound)
	// Asynq counts the runs: two, of which one failed.
	wait.Until(t, "both runs are counted", func() bool {
		fleet, err := b.client.Fleet(t.Context())
		return err == nil && fleet.Queues[0].Processed == 2 && fleet.Queues[0].Failed == 1
	})
}

func TestADismissedDeadLetterKeepsNoTask(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	b.serve(t, tasks.Options{}, func(context.Context, *tasks.Run, tasks.Convert) error {
		return fault.Errorf(fault.RenderFailed, "no")
	})
	id := b.submit(t, submission(t))
	b.waitForEnd(t, id)
	wait.Until(t, "it can be dismissed", func() bool { return b.client.Dismiss(t.Context(), id) == nil })

	if needed, err := b.client.Needed(t.Context(), id); err != nil || needed {
		t.Errorf("Needed = true, %v; want the sources deleted", err)
	}
	_, err := b.client.Retry(t.Context(), id)
	wantCode(t, err, fault.JobFinished)
}

func TestAWaitingRetryCanBeStartedAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	tries := make(chan int, 9)
	kind := tasks.ConvertPDF
	kind.Backoff = []time.Duration{time.Hour} // longer than the test
	b.serveKind(t, tasks.Options{}, kind, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		tries <- run.Attempt

		if run.Attempt < 4 {
			return fault.Errorf(fault.BrowserUnavailable, "not yet")
		}

		return complete(ctx, run, c)
	})

	id := b.submit(t, submission(t))
	for attempt := 1; attempt < 4; attempt++ {
		if got := wait.Receive(t, "the try", tries); got != attempt {
			t.Fatalf("got attempt %d, want %d", got, attempt)
		}
		wait.Until(t, "it waits for its next try", func() bool {
			inspection, err := b.client.Inspect(t.Context(), id)

			return err == nil && inspection.Task != nil && inspection.Task.State == "retry" &&
				!inspection.Task.NextAt.IsZero()
		})
		// The age is only known to half a round trip, so it may be 0 at first.
		wait.Until(t, "a job that waits for its next try is the oldest", func() bool {
			fleet, err := b.client.Fleet(t.Context())
			return err == nil && fleet.Queues[0].OldestOpen > 0
		})

		if _, err := b.client.Retry(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}

	if job := b.waitForEnd(t, id); job.Status != presswork.Completed || len(job.Workers) != 4 {
		t.Errorf("got %+v; want completed by four runs", job)
	}
}
