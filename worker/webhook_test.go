package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/test/freeport"
	"presswork/tasks"
	"presswork/worker"
)

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// receiver is a webhook endpoint on loopback, and Webhooks that may reach it.
func receiver(t *testing.T, handle http.HandlerFunc) (address string, h *worker.Webhooks) {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)

	return server.URL, webhooks(t, guard.Options{Allow: strings.TrimPrefix(server.URL, "http://")})
}

func webhooks(t *testing.T, o guard.Options) *worker.Webhooks {
	t.Helper()

	policy, err := guard.New(o)
	if err != nil {
		t.Fatal(err)
	}

	h, err := worker.NewWebhooks(worker.WebhookOptions{Policy: policy, Secret: webhookSecret, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}

	return h
}

func message(address string) tasks.Webhook {
	return tasks.Webhook{
		MessageID: "msg_01J",
		URL:       address + "/hook?key=s3cret",
		Body:      `{"type":"job.completed","data":{"title":"ü"}}`,
		CreatedAt: time.Now(),
	}
}

// worthRetrying reports whether the queue retries after err: it has no public code.
func worthRetrying(err error) bool { return fault.CodeOf(err) == fault.Internal }

func TestAWebhookIsVerifiedByTheOfficialLibrary(t *testing.T) {
	t.Parallel()

	verifier, err := standardwebhooks.NewWebhook(webhookSecret)
	if err != nil {
		t.Fatal(err)
	}
	type got struct {
		header http.Header
		uri    string
		body   string
		err    error
	}
	calls := make(chan got, 2)
	address, h := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- got{r.Header, r.Method + " " + r.RequestURI, string(body), verifier.Verify(body, r.Header)}
		w.WriteHeader(http.StatusNoContent)
	})

	p := message(address)
	for range 2 {
		if err := h.Deliver(t.Context(), p); err != nil {
			t.Fatal(err)
		}

		g := <-calls
		if g.err != nil || g.body != p.Body || g.uri != "POST /hook?key=s3cret" {
			t.Errorf("%s: verify: %v; body %s", g.uri, g.err, g.body)
		}

		for name, want := range map[string]string{"Webhook-Id": "msg_01J", "Content-Type": "application/json", "User-Agent": "Presswork/1.2.3"} {
			if got := g.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
}

func TestAWebhookIsSignedWithTheNewAndTheOldSecret(t *testing.T) {
	t.Parallel()
	const older = "whsec_plJ3nmyCDGBKInavdOK15jslx0Ry4k1u"
	signed := make(chan error, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)

		for _, secret := range []string{webhookSecret, older} {
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err == nil {
				err = verifier.Verify(body, r.Header)
			}
			signed <- err
		}
	}))
	t.Cleanup(server.Close)

	policy, err := guard.New(guard.Options{Allow: strings.TrimPrefix(server.URL, "http://")})
	if err != nil {
		t.Fatal(err)
	}

	h, err := worker.NewWebhooks(worker.WebhookOptions{Policy: policy, Secret: webhookSecret + ", " + older})
	if err != nil {
		t.Fatal(err)
	}

	if err := h.Deliver(t.Context(), message(server.URL)); err != nil {
		t.Fatal(err)
	}

	for _, secret := range []string{"new", "old"} {
		if err := <-signed; err != nil {
			t.Errorf("the signature with the %s secret: %v", secret, err)
		}
	}
}

func TestEvery2xxIsSuccessAndNothingElse(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	var calls atomic.Int64
	address, h := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(int(status.Load()))
	})

	for _, code := range []int{200, 201, 202, 204, 299} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			status.Store(int64(code))

			if err := h.Deliver(t.Context(), message(address)); err != nil {
				t.Errorf("%d: %v", code, err)
			}
		})
	}

	for _, code := range []int{301, 302, 307, 308, 400, 401, 404, 429, 500, 503} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			status.Store(int64(code))
			calls.Store(0)

			if err := h.Deliver(t.Context(), message(address)); !worthRetrying(err) {
				t.Errorf("%d: %v", code, err)
			}

			if n := calls.Load(); n != 1 {
				t.Errorf("%d: %d requests, the redirect was followed", code, n)
			}
		})
	}
	status.Store(http.StatusGone)

	if err := h.Deliver(t.Context(), message(address)); fault.CodeOf(err) != fault.WebhookInvalid {
		t.Errorf("410: %v", err)
	}
}

func TestARefusedAddressIsFinalAndReachesNothing(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64

	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer server.Close()
	port := server.URL[strings.LastIndexByte(server.URL, ':'):]

	h := webhooks(t, guard.Options{
		Allow: "hook.test:1,10.9.9.9",
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	})
	for address, want := range map[string]fault.Code{
		server.URL:                  fault.AddressNotAllowed,
		"http://rebind.test":        fault.AddressNotAllowed,
		"http://rebind.test" + port: fault.AddressNotAllowed,
		"http://169.254.169.254":    fault.AddressNotAllowed,
		"ftp://x.test":              fault.InvalidURL,
	} {
		t.Run(address, func(t *testing.T) {
			if err := h.Deliver(t.Context(), message(address)); fault.CodeOf(err) != want {
				t.Errorf("%s: %v, want %s", address, err, want)
			}
		})
	}

	if n := calls.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestADeadReceiverIsRetriedAndItsSecretStaysOutOfTheError(t *testing.T) {
	t.Parallel()
	h := webhooks(t, guard.Options{Allow: "true"})

	err := h.Deliver(t.Context(), message("http://127.0.0.1:"+freeport.Take(t)))
	if !worthRetrying(err) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

func TestASilentReceiverEndsWithTheContextAndALongAnswerIsNotRead(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	address, h := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("key") == "" {
			<-release
			return
		}

		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	})

	defer close(release)

	if err := h.Deliver(t.Context(), message(address)); err != nil {
		t.Errorf("an endless answer: %v", err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	p := message(address)

	p.URL = address
	if err := h.Deliver(ctx, p); !worthRetrying(err) {
		t.Errorf("a silent receiver: %v", err)
	}
}

func TestEachTryIsRecorded(t *testing.T) {
	t.Parallel()
	statuses := make(chan int, 3)

	for _, status := range []int{503, 200, 410} {
		statuses <- status
	}
	server := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(<-statuses) }),
	)
	t.Cleanup(server.Close)

	policy, err := guard.New(guard.Options{Allow: strings.TrimPrefix(server.URL, "http://")})
	if err != nil {
		t.Fatal(err)
	}
	var tries []tasks.Delivery

	h, err := worker.NewWebhooks(worker.WebhookOptions{
		Policy: policy, Secret: webhookSecret,
		Record: func(_ context.Context, d tasks.Delivery) error {
			tries = append(tries, d)
			return errors.New("unreachable")
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, address := range []string{server.URL, server.URL, server.URL, "http://10.0.0.1"} {
		_ = h.Deliver(t.Context(), message(address)) // the record has the error
	}
	want := []tasks.Delivery{
		{Result: "failed", Status: 503},
		{Result: "delivered", Status: 200},
		{Result: "gone", Status: 410},
		{Result: "refused"},
	}

	if len(tries) != len(want) {
		t.Fatalf("%d tries are recorded, want %d", len(tries), len(want))
	}

	for i, got := range tries {
		if got.Result != want[i].Result || got.Status != want[i].Status || got.JobID != "01J" ||
			(got.Error == "") != (got.Result == "delivered") || strings.Contains(got.Host+got.Error, "s3cret") {
			t.Errorf("try %d is %+v, want %+v", i, got, want[i])
		}
	}
}

func TestAttemptsAreCounted(t *testing.T) {
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

	if err := h.Deliver(t.Context(), message("http://10.0.0.1")); err == nil {
		t.Fatal("delivered")
	}

	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}

	if len(families) != 1 || families[0].GetMetric()[0].GetLabel()[0].GetValue() != "refused" {
		t.Errorf("got %v", families)
	}
}

func TestAWrongSecretSaysWhatIsAllowed(t *testing.T) {
	t.Parallel()

	policy, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}

	for i, secret := range []string{"", "hush", "whsec_", "whsec_***", "whsec_c2hvcnQ=", webhookSecret[6:], "whsec_" + strings.Repeat("QUFB", 40)} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			_, err := worker.NewWebhooks(worker.WebhookOptions{Policy: policy, Secret: secret})
			if err == nil || !strings.Contains(err.Error(), "24 to 64 bytes") ||
				(secret != "" && secret != "whsec_" && strings.Contains(err.Error(), secret)) {
				t.Errorf("%q: %v", secret, err)
			}
		})
	}
}
