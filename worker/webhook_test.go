package worker_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/test/freeport"
	"presswork/tasks"
	"presswork/worker"
)

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// newReceiver starts a webhook endpoint on loopback. It returns its address and Webhooks that may contact it.
func newReceiver(t *testing.T, handle http.HandlerFunc) (address string, h *worker.Webhooks) {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)

	return server.URL, newWebhooks(t, guard.Options{Allow: strings.TrimPrefix(server.URL, "http://")})
}

func newWebhooks(t *testing.T, o guard.Options) *worker.Webhooks {
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

// newRecorded returns Webhooks that may contact an address and pass each try to record.
func newRecorded(
	t *testing.T,
	address string,
	record func(context.Context, tasks.Delivery) error,
) *worker.Webhooks {
	t.Helper()

	policy, err := guard.New(guard.Options{Allow: strings.TrimPrefix(address, "http://")})
	if err != nil {
		t.Fatal(err)
	}

	h, err := worker.NewWebhooks(worker.WebhookOptions{Policy: policy, Secret: webhookSecret, Record: record})
	if err != nil {
		t.Fatal(err)
	}

	return h
}

func webhookMessage(address string) tasks.Webhook {
	return tasks.Webhook{
		MessageID: "msg_01J",
		URL:       address + "/hook?key=s3cret",
		Body:      `{"type":"job.completed","data":{"title":"ü"}}`,
		CreatedAt: time.Now(),
	}
}

// isRetryable reports whether the queue retries after err. It retries errors without a public code.
func isRetryable(err error) bool { return fault.CodeOf(err) == fault.Internal }

func TestAWebhookIsVerifiedByTheOfficialLibrary(t *testing.T) {
	t.Parallel()

	verifier, err := standardwebhooks.NewWebhook(webhookSecret)
	if err != nil {
		t.Fatal(err)
	}
	type request struct {
		header http.Header
		uri    string
		body   string
		err    error
	}
	calls := make(chan request, 2)
	address, h := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- request{r.Header, r.Method + " " + r.RequestURI, string(body), verifier.Verify(body, r.Header)}
		w.WriteHeader(http.StatusNoContent)
	})

	hook := webhookMessage(address)
	for range 2 {
		if err := h.Deliver(t.Context(), hook); err != nil {
			t.Fatal(err)
		}

		g := <-calls
		if g.err != nil || g.body != hook.Body || g.uri != "POST /hook?key=s3cret" {
			t.Errorf("got %s with body %s, verified with %v; want the message with a valid signature", g.uri,
				g.body, g.err)
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

	if err := h.Deliver(t.Context(), webhookMessage(server.URL)); err != nil {
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
	address, h := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(int(status.Load()))
	})

	for _, code := range []int{200, 201, 202, 204, 299} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			status.Store(int64(code))

			if err := h.Deliver(t.Context(), webhookMessage(address)); err != nil {
				t.Errorf("status %d: got %v, want success", code, err)
			}
		})
	}

	for _, code := range []int{301, 302, 307, 308, 400, 401, 404, 429, 500, 503} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			status.Store(int64(code))
			calls.Store(0)

			if err := h.Deliver(t.Context(), webhookMessage(address)); !isRetryable(err) {
				t.Errorf("status %d: got %v, want a retryable error", code, err)
			}

			if n := calls.Load(); n != 1 {
				t.Errorf("status %d: got %d requests, want one: redirects are not followed", code, n)
			}
		})
	}
	status.Store(http.StatusGone)

	if err := h.Deliver(t.Context(), webhookMessage(address)); fault.CodeOf(err) != fault.WebhookInvalid {
		t.Errorf("status 410: got %v, want %s", err, fault.WebhookInvalid)
	}
}

func TestADeniedAddressIsNeitherRetriedNorContacted(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64

	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer server.Close()
	port := server.URL[strings.LastIndexByte(server.URL, ':'):]

	h := newWebhooks(t, guard.Options{
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
			if err := h.Deliver(t.Context(), webhookMessage(address)); fault.CodeOf(err) != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}

	if n := calls.Load(); n != 0 {
		t.Errorf("the server got %d requests, want none", n)
	}
}

func TestAnUnreachableReceiverIsRetriedAndItsSecretHidden(t *testing.T) {
	t.Parallel()
	h := newWebhooks(t, guard.Options{Allow: "true"})

	err := h.Deliver(t.Context(), webhookMessage("http://127.0.0.1:"+freeport.Take(t)))
	if !isRetryable(err) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v, want a retryable error without the secret of the URL", err)
	}
}

func TestASilentOrEndlessReceiverDoesNotBlockADelivery(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	address, h := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
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

	if err := h.Deliver(t.Context(), webhookMessage(address)); err != nil {
		t.Errorf("a receiver that never stops writing: got %v, want success", err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	hook := webhookMessage(address)

	hook.URL = address
	if err := h.Deliver(ctx, hook); !isRetryable(err) {
		t.Errorf("a silent receiver: got %v, want a retryable error", err)
	}
}

func TestTheErrorOfAnInvalidSecretNamesTheAllowedForm(t *testing.T) {
	t.Parallel()

	policy, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}

	for _, secret := range []string{"", "hush", "whsec_", "whsec_***", "whsec_c2hvcnQ=", webhookSecret[6:], "whsec_" + strings.Repeat("QUFB", 40)} {
		t.Run(fmt.Sprintf("%.20q", secret), func(t *testing.T) {
			_, err := worker.NewWebhooks(worker.WebhookOptions{Policy: policy, Secret: secret})
			if err == nil || !strings.Contains(err.Error(), "24 to 64 bytes") ||
				(secret != "" && secret != "whsec_" && strings.Contains(err.Error(), secret)) {
				t.Errorf("got %v, want the allowed length without the secret", err)
			}
		})
	}
}
