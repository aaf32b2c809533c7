package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestTerminalStatesAreDeliveredOnce(t *testing.T) {
	t.Parallel()

	verifier, err := standardwebhooks.NewWebhook(webhookSecret)
	if err != nil {
		t.Fatal(err)
	}
	type delivery struct {
		Type      string        `json:"type"`
		Timestamp time.Time     `json:"timestamp"`
		Data      presswork.Job `json:"data"`
	}
	got := make(chan delivery, 8)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}

		if err := verifier.Verify(body, r.Header); err != nil {
			t.Errorf("signature: %v", err)
		}

		var d delivery
		if err := json.Unmarshal(body, &d); err != nil {
			t.Errorf("webhook %s: %v", body, err)
		}
		got <- d
	}))
	t.Cleanup(receiver.Close)
	env := map[string]string{
		"WEBHOOK_SECRET":         webhookSecret,
		"OUTBOUND_ALLOW_PRIVATE": strings.TrimPrefix(receiver.URL, "http://"),
	}
	_, c := e2e.Serve(t, env)
	env["RENDER_TIMEOUT"] = "1s"
	_, impatient := e2e.Serve(t, env)
	next := func() delivery {
		t.Helper()
		return wait.Receive(t, "a webhook", got)
	}

	id := c.Submit(e2e.Submission{Content: "# done", WebhookURL: receiver.URL}).JobID

	d := next()
	if d.Type != "job.completed" || d.Data.ID != id || d.Data.Artifact == nil ||
		!strings.Contains(d.Data.Artifact.URL, "token=") {
		t.Fatalf("got %+v (%+v), want job.completed of %s with an artifact", d, d.Data.Error, id)
	}

	if body := c.Download(d.Data); len(body) == 0 {
		t.Error("the download by the URL of the webhook is empty")
	}

	id = impatient.Submit(e2e.Submission{Content: longDocument("late", 1300), WebhookURL: receiver.URL}).JobID

	d = next()
	if d.Type != "job.failed" || d.Data.ID != id || d.Data.Error == nil || d.Data.Error.Code != fault.RenderTimeout {
		t.Errorf("got %+v (%+v), want job.failed of %s with render_timeout", d, d.Data.Error, id)
	}

	id = interruptedJob(t, c, e2e.Submission{WebhookURL: receiver.URL}, func(id string) { cancel(t, c, id) })

	d = next()
	for d.Type == "job.completed" && d.Data.ID != id { // a job that ended before it could be cancelled
		d = next()
	}

	if d.Type != "job.cancelled" || d.Data.ID != id {
		t.Errorf("got %+v, want job.cancelled of %s", d, id)
	}

	select {
	case d := <-got:
		t.Errorf("unexpected further webhook: %+v", d)
	default:
	}
}
