package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// TestNoSecretIsLogged sends secrets of every kind to a server that logs everything.
func TestNoSecretIsLogged(t *testing.T) {
	t.Parallel()
	called := make(chan string, 8)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called <- r.URL.Path
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(hook.Close)
	secrets := map[string]string{
		"an API key":                          "pw-key-71c2",
		"the secret of tokens":                "token-secret-0123456789abcdef",
		"the secret of webhooks":              "d2ViaG9vay1zZWNyZXQtMDEyMzQ1Njc4OWFiY2RlZg==",
		"the password of a PDF":               "pdf-password-88",
		"a wrong key":                         "wrong-key-4d1",
		"a token in the address of a webhook": "hook-token-5ee",
		"the text of a document":              "confidential-text-9a",
	}
	node, c := e2e.Serve(t, map[string]string{
		"API_KEY":                secrets["an API key"],
		"TOKEN_SECRET":           secrets["the secret of tokens"],
		"WEBHOOK_SECRET":         "whsec_" + secrets["the secret of webhooks"],
		"LOG_LEVEL":              "debug",
		"OUTBOUND_ALLOW_PRIVATE": strings.TrimPrefix(hook.URL, "http://"),
	})
	accepted := c.Submit(e2e.Submission{
		Content:    "# " + secrets["the text of a document"] + "\n\n![gone](missing.png)",
		WebhookURL: hook.URL + "/hook?token=" + secrets["a token in the address of a webhook"],
		Options:    presswork.Options{Password: secrets["the password of a PDF"]},
	})
	job := c.Completed(accepted.JobID)
	wait.Receive(t, "the webhook", called)
	_, token, _ := strings.Cut(accepted.EventsURL, "token=")

	secrets["a token of a job"] = token

	invalid := "/api/conversion/" + accepted.JobID + "/events?token=" + token + "x"
	for _, path := range []string{accepted.EventsURL, job.Artifact.URL, invalid} {
		c.Do("GET", path, "", nil, "X-API-Key", "")
	}
	c.Do("GET", "/metrics", "", nil, "X-API-Key", secrets["a wrong key"])
	node.Stop()

	log := node.Log()
	if !strings.Contains(log, `"msg":"job finished"`) || !strings.Contains(log, `"level":"DEBUG"`) {
		t.Fatalf("log %.2000s, want a finished job and lines of the level debug", log)
	}

	for what, secret := range secrets {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %s, want it without secrets", what)
		}
	}
}
