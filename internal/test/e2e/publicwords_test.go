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

// The browser exits at its start. Its path and its stderr are for the operator only.
func TestResponsesHideTheReasonOfABrokenBrowser(t *testing.T) {
	t.Parallel()
	const browserStderr = "stderr-of-the-broken-browser"
	broken := filepath.Join(public.Dir(t), "broken-browser")
	public.Program(t, broken, "#!/bin/sh\necho "+browserStderr+" >&2\nexit 1\n")
	delivered := make(chan string, 8) // with room for webhooks that are sent again
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
	answers := map[string]string{}
	request := func(name, method, path string, body string, headers ...string) string {
		contentType := ""
		if body != "" {
			contentType = "application/json"
		}
		status, _, answer := c.Do(method, path, contentType, []byte(body), headers...)
		answers[name] = http.StatusText(status) + " " + string(answer)

		return string(answer)
	}

	job := c.Submit(e2e.Submission{Content: "# x", WebhookURL: receiver.URL})
	awaitLog(t, node, "a run failed; the job is retried")
	request("status", "GET", job.StatusURL, "")
	request("a PDF at once", "POST", "/api/conversion", `{"content":"# y"}`, "Prefer", "wait=1", "Accept",
		"application/pdf")
	request("export", "POST", "/export-pdf", `{"url":"http://`+strings.TrimPrefix(receiver.URL, "http://")+`"}`,
		"Prefer", "respond-async")
	request("screenshot", "POST", "/export-screenshot", `{"url":"http://example.invalid"}`, "Prefer", "respond-async")
	request("completion", "POST", "/v1/chat/completions", `{"model":"none","messages":[{"role":"user","content":"x"}]}`)
	request("list", "GET", "/api/conversion", "")
	request("cancel", "DELETE", job.StatusURL, "")
	request("events", "GET", job.EventsURL, "", "Last-Event-ID", "0")
	answers["webhook"] = wait.Receive(t, "the webhook", delivered)
	stranger := e2e.NewClient(t, node.Address, "")
	status, _, ready := stranger.Do("GET", "/readyz", "", nil)

	answers["readyz"] = string(ready)
	if status != http.StatusServiceUnavailable ||
		!strings.Contains(answers["readyz"], `"browser":{"error":"the browser is not available",`) {
		t.Errorf("readyz: status %d, %s; want 503 without the reason", status, ready)
	}

	for name, answer := range answers {
		if strings.Contains(answer, browserStderr) || strings.Contains(answer, filepath.Base(broken)) {
			t.Errorf("%s: got %s, want it without the path and the stderr of the browser", name, answer)
		}
	}

	for _, wanted := range []string{browserStderr, broken, "readiness check failed"} {
		awaitLog(t, node, wanted)
	}

	if !strings.Contains(answers["events"], "did not succeed") {
		t.Errorf("events %s, want one with did not succeed", answers["events"])
	}
}

// awaitLog waits until the log of a process contains text.
func awaitLog(t *testing.T, p *e2e.Process, text string) {
	t.Helper()
	wait.Until(t, "the log has "+text, func() bool { return strings.Contains(p.Log(), text) })
}
