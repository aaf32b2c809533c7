package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// startTestSite starts a server on loopback. / is a page with a script, /missing answers 404 and /slow does not answer.
// hits counts the requests to / and /slow.
func startTestSite(t *testing.T) (address, host string, hits *atomic.Int64) {
	t.Helper()
	hits = new(atomic.Int64)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>A page</title><h1>Static words</h1>`+
			`<script>document.body.append("scripted words")</script>`)
	})
	mux.HandleFunc("/missing", http.NotFound)
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		<-r.Context().Done()
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)

	return s.URL, strings.TrimPrefix(s.URL, "http://"), hits
}

func TestExportReachesAllowedAddressesOnly(t *testing.T) {
	t.Parallel()
	address, host, hits := startTestSite(t)
	request := func(url string) []byte { return []byte(`{"url":"` + url + `"}`) }

	_, strict := e2e.Serve(t, nil)

	status, _, answer := strict.Do("POST", "/export-pdf", "application/json", request(address))
	if status != http.StatusForbidden || !strings.Contains(string(answer), `"address_not_allowed"`) ||
		hits.Load() != 0 {
		t.Fatalf("not allowed: status %d, %s, %d requests; want 403 and none", status, answer, hits.Load())
	}

	_, c := e2e.Serve(t, map[string]string{"EXPORT_ALLOW_PRIVATE": host})

	status, header, pdf := c.Do("POST", "/export-pdf", "application/json", request(address))
	if status != http.StatusOK || header.Get("Content-Type") != "application/pdf" {
		t.Fatalf("allowed: status %d, %s; want 200 and a PDF", status, pdf)
	}

	text := e2e.PDFText(t, pdf)
	if !strings.Contains(text, "Static words") || !strings.Contains(text, "scripted words") {
		t.Errorf("text %q, want that of the page and of its script", text)
	}

	job := c.Job(header.Get("x-job-id"))
	if job.Kind != presswork.KindExport || job.Status != presswork.Completed ||
		time.Until(job.Artifact.ExpiresAt) > 11*time.Minute {
		t.Errorf("job %+v, artifact %+v; want a completed export that is kept for 10 minutes", job, job.Artifact)
	}

	status, header, picture := c.Do("POST", "/export-screenshot", "application/json", request(address))
	if status != http.StatusOK || header.Get("Content-Type") != "image/png" ||
		!strings.HasPrefix(string(picture), "\x89PNG") {
		t.Errorf("screenshot: status %d, type %s; want 200 and image/png", status, header.Get("Content-Type"))
	}

	status, _, answer = c.Do("POST", "/export-pdf", "application/json", request(address+"/missing"))
	if status != http.StatusUnprocessableEntity || !strings.Contains(string(answer), `"page_error"`) {
		t.Errorf("missing page: status %d, %s; want 422 page_error", status, answer)
	}

	status, _, answer = c.Do("POST", "/export-pdf", "application/json",
		[]byte(`{"url":"`+address+`/slow","options":{"timeout":700}}`))
	if status != http.StatusUnprocessableEntity || !strings.Contains(string(answer), `"page_timeout"`) {
		t.Errorf("slow page: status %d, %s; want 422 page_timeout", status, answer)
	}

	status, _, answer = c.Do("POST", "/export-pdf", "application/json", request("http://nowhere.invalid/"))
	if status != http.StatusUnprocessableEntity || !strings.Contains(string(answer), `"page_unreachable"`) {
		t.Errorf("unknown host: status %d, %s; want 422 page_unreachable", status, answer)
	}

	if n := c.Metric("presswork_export_browser_launches_total"); n != 1 {
		t.Errorf("the server started %v browsers, want one", n)
	}

	// A browser that is not running has a reason.
	_, _, answer = c.Do("GET", "/readyz", "", nil)
	if !strings.Contains(string(answer), `"export_browser":{"ok":true,"running":true,"sandbox":`) &&
		!strings.Contains(string(answer), `"export_browser":{"ok":true,"reason":`) {
		t.Errorf("readyz %s, want the export browser in it", answer)
	}
}

func TestAsynchronousExportIsKept(t *testing.T) {
	t.Parallel()
	address, host, _ := startTestSite(t)
	_, c := e2e.Serve(t, map[string]string{"EXPORT_ALLOW_PRIVATE": host})
	accepted := c.Accept(c.Do("POST", "/export-pdf", "application/json",
		[]byte(`{"url":"`+address+`","options":{"format":"a5","filename":"kept"}}`), "Prefer", "respond-async"))

	job := c.Completed(accepted.JobID)
	if job.Artifact.Filename != "kept.pdf" || job.Artifact.Pages != 1 ||
		time.Until(job.Artifact.ExpiresAt) < 24*time.Hour {
		t.Errorf("artifact %+v, want kept.pdf of one page for a day", job.Artifact)
	}

	if size := e2e.PDFInfo(t, c.Download(job))["Page size"]; !strings.Contains(size, "A5") {
		t.Errorf("page size %q, want A5", size)
	}
}

func TestCancelledExportFreesItsSlot(t *testing.T) {
	t.Parallel()
	address, host, hits := startTestSite(t)
	_, c := e2e.Serve(t, map[string]string{"EXPORT_ALLOW_PRIVATE": host})
	accepted := c.Accept(c.Do("POST", "/export-pdf", "application/json", []byte(`{"url":"`+address+`/slow"}`),
		"Prefer", "respond-async"))
	wait.Until(t, "the page is requested", func() bool { return hits.Load() > 0 })

	if status, _, answer := c.Do("DELETE", "/api/conversion/"+accepted.JobID, "", nil); status != http.StatusOK {
		t.Fatalf("cancel: status %d, %s; want 200", status, answer)
	}

	if job := c.Job(accepted.JobID); job.Status != presswork.Cancelled || job.Artifact != nil {
		t.Errorf("job %+v, want it cancelled without an artifact", job)
	}
	// The next export must not wait for the slow page.
	status, _, answer := c.Do("POST", "/export-pdf", "application/json", []byte(`{"url":"`+address+`"}`))
	if status != http.StatusOK {
		t.Errorf("next export: status %d, %s; want 200", status, answer)
	}
}
