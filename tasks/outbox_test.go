package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// webhookBody is the JSON body of a webhook.
type webhookBody struct {
	Type      string        `json:"type"`
	Timestamp time.Time     `json:"timestamp"`
	Data      presswork.Job `json:"data"`
}

func webhookSubmission(t testing.TB) tasks.Submission {
	t.Helper()
	s := submission(t)
	s.WebhookURL = "https://example.com/hook"

	return s
}

func TestEachEndedJobQueuesItsWebhookOnce(t *testing.T) {
	t.Parallel()
	o := tasks.Options{WebhookData: func(r tasks.Record) any {
		job := r.Job
		if job.Artifact != nil {
			job.Artifact.URL = "https://api/" + job.ID
		}

		return job
	}}
	b := setup(t, o)
	deliveries := make(chan tasks.Webhook, 10)
	s := b.server(t, o)
	tasks.Handle(s, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if run.Record.Filename == "bad" {
			return fault.Errorf(fault.RenderFailed, "no")
		}

		return complete(ctx, run, c)
	})
	tasks.HandlePlain(s, tasks.DeliverWebhook, func(_ context.Context, w tasks.Webhook) error {
		deliveries <- w
		return nil
	})
	cancelled, good, bad := webhookSubmission(t), webhookSubmission(t), webhookSubmission(t)
	bad.Filename = "bad"
	b.submit(t, cancelled)

	if _, err := b.client.Cancel(t.Context(), cancelled.ID); err != nil {
		t.Fatal(err)
	}
	b.submit(t, good)
	b.submit(t, bad)
	b.submit(t, submission(t))

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{cancelled.ID: "job.cancelled", good.ID: "job.completed", bad.ID: "job.failed"}

	for range 3 {
		w := wait.Receive(t, "a webhook", deliveries)

		var body webhookBody
		if err := json.Unmarshal([]byte(w.Body), &body); err != nil {
			t.Fatal(err)
		}

		id := body.Data.ID
		if want[id] != body.Type || w.MessageID != "msg_"+id || w.URL != cancelled.WebhookURL ||
			!body.Timestamp.Equal(*body.Data.FinishedAt) {
			t.Errorf("got webhook %+v, want %s of job %s", w, want[id], id)
		}

		if id == good.ID && body.Data.Artifact.URL != "https://api/"+id {
			t.Errorf("got artifact %+v, want the URL of WebhookData", body.Data.Artifact)
		}
		delete(want, id)
	}
	// The sweeper sees the finished jobs again, as after a crash, and must not send their webhooks again.
	wait.Until(t, "the ledger is empty", func() bool { return b.rdb.Exists(t.Context(), tasks.LedgerKey).Val() == 0 })

	for _, id := range []string{cancelled.ID, good.ID, bad.ID} {
		b.rdb.Do(t.Context(), "zadd", tasks.LedgerKey, 1, id)
	}

	if err := s.SweepLedger(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	next := webhookSubmission(t)
	b.submit(t, next)

	if w := wait.Receive(t, "the next webhook", deliveries); w.MessageID != "msg_"+next.ID {
		t.Errorf("got %+v, want only the webhook of job %s", w, next.ID)
	}
}

func TestWebhookIsSentWhenTheProcessDiedRightAfterTheEnd(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := webhookSubmission(t)
	b.submit(t, s)
	// The process died after it wrote the terminal status and before anything else.
	ctx := t.Context()
	b.rdb.HSet(ctx, tasks.JobKey(s.ID), "status", "cancelled")

	srv := b.server(t, tasks.Options{})
	for range 2 {
		if err := srv.SweepLedger(ctx, 20*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	wait.Until(t, "the ledger is empty", func() bool { return b.rdb.Exists(ctx, tasks.LedgerKey).Val() == 0 })

	if n := b.rdb.LLen(ctx, tasks.AsynqPending(tasks.Text)).Val(); n != 1 {
		t.Errorf("got %d webhook tasks, want one", n)
	}

	if n := b.rdb.Exists(ctx, tasks.AsynqTask(tasks.Text, tasks.WebhookTask(s.ID))).Val(); n != 1 {
		t.Error("the webhook's task is missing")
	}
}

func TestPlainTasksAreRetriedAsOftenAsTheirKindAllows(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := b.server(t, tasks.Options{})
	kind := tasks.DeliverWebhook
	kind.Backoff = []time.Duration{10 * time.Millisecond}
	kind.Retries = 2
	var attempts, finalFailures atomic.Int32
	tasks.HandlePlain(s, kind, func(_ context.Context, w tasks.Webhook) error {
		if w.URL == "final" {
			finalFailures.Add(1)
			return fault.Errorf(fault.AddressNotAllowed, "private")
		}
		attempts.Add(1)

		return errors.New("status 500")
	})
	tasks.Handle(s, tasks.ConvertPDF, complete)

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, final := webhookSubmission(t), webhookSubmission(t)

	final.WebhookURL = "final"
	for _, sub := range []tasks.Submission{again, final} {
		b.submit(t, sub)
		key := tasks.AsynqTask(tasks.Text, tasks.WebhookTask(sub.ID))
		wait.Until(t, "the delivery is given up",
			func() bool { return b.rdb.HGet(t.Context(), key, "state").Val() == "completed" })
	}

	if attempts.Load() != 3 || finalFailures.Load() != 1 {
		t.Errorf("got %d attempts of a failing delivery, want 3; %d of a final failure, want 1", attempts.Load(),
			finalFailures.Load())
	}
}
