package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/test/e2e"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// A browser that cannot start prints what only the operator may read: its path
// and what it writes to stderr.
func TestErrorsHideWhyTheBrowserDoesNotStart(t *testing.T) {
	t.Parallel()
	const said = "stderr-of-the-broken-browser"
	broken := filepath.Join(public.Dir(t), "where-the-browser-lies")
	public.Program(t, broken, "#!/bin/sh\necho "+said+" >&2\nexit 1\n")
	delivered := make(chan string, 8) // also what is sent again, since its answer was late
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		delivered <- string(body)
	}))
	t.Cleanup(receiver.Close)
	node, c := e2e.Serve(t, map[string]string{
		"CHROMIUM_PATH":          broken,
		"OUTBOUND_ALLOW_PRIVATE": strings.TrimPrefix(receiver.URL, "http://"),
		"API_KEY":                "hush",
	})
	seen := map[string]string{}
	ask := func(door, method, path string, body string, headers ...string) string {
		contentType := ""
		if body != "" {
			contentType = "application/json"
		}
		status, _, answer := c.Do(method, path, contentType, []byte(body), headers...)
		seen[door] = http.StatusText(status) + " " + string(answer)

		return string(answer)
	}

	job := c.Submit(e2e.Submission{Content: "# x", WebhookURL: receiver.URL})
	logged(t, node, "a run failed; the job is retried")
	ask("status", "GET", job.StatusURL, "")
	ask("a PDF at once", "POST", "/api/conversion", `{"content":"# y"}`, "Prefer", "wait=1", "Accept",
		"application/pdf")
	ask("export", "POST", "/export-pdf", `{"url":"http://`+strings.TrimPrefix(receiver.URL, "http://")+`"}`,
		"Prefer", "respond-async")
	ask("screenshot", "POST", "/export-screenshot", `{"url":"http://example.invalid"}`, "Prefer", "respond-async")
	ask("completion", "POST", "/v1/chat/completions", `{"model":"none","messages":[{"role":"user","content":"x"}]}`)
	ask("list", "GET", "/api/conversion", "")
	ask("cancel", "DELETE", job.StatusURL, "")
	ask("events", "GET", job.EventsURL, "", "Last-Event-ID", "0")
	seen["webhook"] = wait.Receive(t, "the webhook", delivered)
	stranger := e2e.NewClient(t, node.Address, "")
	status, _, ready := stranger.Do("GET", "/readyz", "", nil)

	seen["readyz"] = string(ready)
	if status != http.StatusServiceUnavailable ||
		!strings.Contains(seen["readyz"], `"browser":{"error":"the browser is not available",`) {
		t.Errorf("readyz answered %d %s", status, ready)
	}

	for door, answer := range seen {
		if strings.Contains(answer, said) || strings.Contains(answer, filepath.Base(broken)) {
			t.Errorf("%s reveals text that belongs into the log only: %s", door, answer)
		}
	}

	for _, wanted := range []string{said, broken, "readiness check failed"} {
		logged(t, node, wanted)
	}

	if !strings.Contains(seen["events"], "did not succeed") {
		t.Errorf("the events are %s", seen["events"])
	}
}

// logged waits until a process has logged some words.
func logged(t *testing.T, p *e2e.Process, words string) {
	t.Helper()
	wait.Until(t, "the log has "+words, func() bool { return strings.Contains(p.Log(), words) })
}
