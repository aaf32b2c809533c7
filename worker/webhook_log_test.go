package worker_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/guard"
	"presswork/tasks"
	"presswork/worker"
)

func TestADeliveryIsLoggedBrieflyAndAfterTheWorkerIsStopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())

	for name, test := range map[string]struct {
		ctx    context.Context
		answer func(net.Conn)
	}{
		"a long line": {t.Context(), func(c net.Conn) { _, _ = c.Write(append(make([]byte, 32<<10), "\r\n\r\n"...)) }},
		"a stop":      {ctx, func(net.Conn) { stop() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				c, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				test.answer(c)
			}))
			t.Cleanup(server.Close)
			var logged tasks.Delivery
			h := newRecorded(t, server.URL, func(ctx context.Context, d tasks.Delivery) error {
				if ctx.Err() == nil {
					logged = d
				}

				return ctx.Err()
			})

			err := h.Deliver(test.ctx, webhookMessage(server.URL))
			if logged.Result != "failed" || logged.Error == "" || len(logged.Error) > 600 || err == nil {
				t.Errorf("logged %+v with %d bytes of error (%v), want a failure with at most 600",
					logged, len(logged.Error), err)
			}
		})
	}
}

func TestEachDeliveryAttemptIsRecorded(t *testing.T) {
	t.Parallel()
	statuses := make(chan int, 3)

	for _, status := range []int{503, 200, 410} {
		statuses <- status
	}
	respond := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(<-statuses) }
	server := httptest.NewServer(http.HandlerFunc(respond))
	t.Cleanup(server.Close)
	var attempts []tasks.Delivery
	h := newRecorded(t, server.URL, func(_ context.Context, d tasks.Delivery) error {
		attempts = append(attempts, d)
		return errors.New("unreachable")
	})

	for _, address := range []string{server.URL, server.URL, server.URL, "http://10.0.0.1"} {
		_ = h.Deliver(t.Context(), webhookMessage(address)) // the record has the error
	}
	want := []tasks.Delivery{
		{Result: "failed", Status: 503},
		{Result: "delivered", Status: 200},
		{Result: "gone", Status: 410},
		{Result: "refused"},
	}

	if len(attempts) != len(want) {
		t.Fatalf("got %d recorded attempts, want %d", len(attempts), len(want))
	}

	for i, got := range attempts {
		if got.Result != want[i].Result || got.Status != want[i].Status || got.JobID != "01J" ||
			(got.Error == "") != (got.Result == "delivered") ||
			strings.Contains(got.Host+got.Error, "s3cret") {
			t.Errorf("attempt %d is %+v, want %+v without the secret", i, got, want[i])
		}
	}
}

func TestDeliveryAttemptsAreCounted(t *testing.T) {
	t.Parallel()

	policy, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewRegistry()

	h, err := worker.NewWebhooks(worker.WebhookOptions{Policy: policy, Secret: webhookSecret, Metrics: reg})
	if err != nil {
		t.Fatal(err)
	}

	if err := h.Deliver(t.Context(), webhookMessage("http://10.0.0.1")); err == nil {
		t.Fatal("a delivery to a private address succeeded")
	}

	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}

	if len(families) != 1 || families[0].GetMetric()[0].GetLabel()[0].GetValue() != "refused" {
		t.Errorf("got metrics %v, want one refused delivery", families)
	}
}
