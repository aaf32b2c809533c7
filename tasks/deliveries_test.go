package tasks_test

import (
	"context"
	"strconv"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

func TestRedeliverSendsTheWebhookOfAnEndedJobAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	delivered := make(chan tasks.Webhook, 10)
	s := b.server(t, tasks.Options{})
	tasks.HandlePlain(s, tasks.DeliverWebhook, func(_ context.Context, w tasks.Webhook) error {
		delivered <- w
		return nil
	})
	withHook, plain := webhookSubmission(t), submission(t)
	b.submit(t, withHook)
	b.submit(t, plain)

	_, err := b.client.Redeliver(t.Context(), withHook.ID)
	wantCode(t, err, fault.InvalidOption) // it has not ended

	for _, id := range []string{withHook.ID, plain.ID} {
		if _, err := b.client.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := wait.Receive(t, "the webhook", delivered)

	for range 2 {
		if _, err := b.client.Redeliver(t.Context(), withHook.ID); err != nil {
			t.Fatal(err)
		}

		again := wait.Receive(t, "the webhook again", delivered)
		if again.MessageID != first.MessageID || again.Body != first.Body || again.JobID() != withHook.ID {
			t.Errorf("got webhook %+v, want %+v again", again, first)
		}
	}

	_, err = b.client.Redeliver(t.Context(), plain.ID)
	wantCode(t, err, fault.InvalidOption) // it has no webhook
	_, err = b.client.Redeliver(t.Context(), tasks.NewID())
	wantCode(t, err, fault.NotFound)
}

func TestTheDeliveryLogHasTheLastAttempts(t *testing.T) {
	t.Parallel()
	const most = 1000
	b := setup(t, tasks.Options{})

	for i := range most + 1 {
		if err := b.client.LogDelivery(t.Context(), tasks.Delivery{JobID: strconv.Itoa(i % 2), Status: i}); err != nil {
			t.Fatal(err)
		}
	}

	for job, want := range map[string]int{"": most, "1": most / 2, "2": 0} {
		t.Run("job "+job, func(t *testing.T) {
			log, err := b.client.Deliveries(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}

			if len(log) != want {
				t.Errorf("the log has %d attempts, want %d", len(log), want)
			}

			if job == "" && log[0].Status != most {
				t.Errorf("the first attempt is number %d, want %d, the newest", log[0].Status, most)
			}
		})
	}

	if ttl := b.rdb.TTL(t.Context(), "pw:deliveries").Val(); ttl <= 0 {
		t.Errorf("the log expires in %s, want some days", ttl)
	}
}
