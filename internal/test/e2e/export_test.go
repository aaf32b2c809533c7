package e2e_test

import (
	"encoding/json"
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

// site is a page with a script, a picture and a slow corner, on loopback.
func site(t *testing.T) (address, host string, hits *atomic.Int64) {
	t.Helper()
	hits = new(atomic.Int64)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(
			w,
			`<!doctype html><title>A page</title><h1>Static words</h1><script>document.body.append("scripted words")</script>`,
		)
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

func TestAPageIsExportedOnlyWhereTheOperatorAllows(t *testing.T) {
	t.Parallel()
	address, host, hits := site(t)
	body := func(url string) []byte { return []byte(`{"url":"` + url + `"}`) }

	_, closed := e2e.Serve(t, nil)

	status, _, answer := closed.Do("POST", "/export-pdf", "application/json", body(address))
	if status != http.StatusForbidden || !strings.Contains(string(answer), `"address_not_allowed"`) ||
		hits.Load() != 0 {
		t.Fatalf("not allowed: %d %s, %d connections", status, answer, hits.Load())
	}

	_, c := e2e.Serve(t, map[string]string{"EXPORT_ALLOW_PRIVATE": host})

	status, header, pdf := c.Do("POST", "/export-pdf", "application/json", body(address))
	if status != http.StatusOK || header.Get("Content-Type") != "application/pdf" {
		t.Fatalf("allowed: %d %s", status, pdf)
	}

	text := e2e.PDFText(t, pdf)
	if !strings.Contains(text, "Static words") || !strings.Contains(text, "scripted words") {
		t.Errorf("the PDF says %q", text)
	}

	job := c.Job(header.Get("x-job-id"))
	if job.Kind != presswork.KindExport || job.Status != presswork.Completed ||
		time.Until(job.Artifact.ExpiresAt) > 11*time.Minute {
		t.Errorf("the job is %+v, its artifact %+v", job, job.Artifact)
	}

	status, header, picture := c.Do("POST", "/export-screenshot", "application/json", body(address))
	if status != http.StatusOK || header.Get("Content-Type") != "image/png" ||
		!strings.HasPrefix(string(picture), "\x89PNG") {
		t.Errorf("picture: %d %s", status, header.Get("Content-Type"))
	}

	status, _, answer = c.Do("POST", "/export-pdf", "application/json", body(address+"/missing"))
	if status != http.StatusUnprocessableEntity || !strings.Contains(string(answer), `"page_error"`) {
		t.Errorf("404: %d %s", status, answer)
	}

	status, _, answer = c.Do("POST", "/export-pdf", "application/json",
		[]byte(`{"url":"`+address+`/slow","options":{"timeout":700}}`))
	if status != http.StatusUnprocessableEntity || !strings.Contains(string(answer), `"page_timeout"`) {
		t.Errorf("slow: %d %s", status, answer)
	}

	status, _, answer = c.Do("POST", "/export-pdf", "application/json", body("http://nowhere.invalid/"))
	if status != http.StatusUnprocessableEntity || !strings.Contains(string(answer), `"page_unreachable"`) {
		t.Errorf("no such name: %d %s", status, answer)
	}

	if n := c.Metric("presswork_export_browser_launches_total"); n != 1 {
		t.Errorf("%v browsers were started", n)
	}

	_, _, answer = c.Do("GET", "/readyz", "", nil)
	if !strings.Contains(string(answer), `"export_browser":{"ok":true,"running":true,"sandbox":`) &&
		!strings.Contains(string(answer), `"export_browser":{"ok":true,"reason":`) {
		t.Errorf("readyz: %s", answer)
	}
}

func TestAnExportCanBeFollowedAndKept(t *testing.T) {
	t.Parallel()
	address, host, _ := site(t)
	_, c := e2e.Serve(t, map[string]string{"EXPORT_ALLOW_PRIVATE": host})
	status, _, answer := c.Do("POST", "/export-pdf", "application/json",
		[]byte(`{"url":"`+address+`","options":{"format":"a5","filename":"kept"}}`), "Prefer", "respond-async")

	var accepted e2e.Accepted
	if err := json.Unmarshal(answer, &accepted); err != nil || status != http.StatusAccepted {
		t.Fatalf("answered %d %s", status, answer)
	}

	job := c.Completed(accepted.JobID)
	if job.Artifact.Filename != "kept.pdf" || job.Artifact.Pages != 1 ||
		time.Until(job.Artifact.ExpiresAt) < 24*time.Hour {
		t.Errorf("the artifact is %+v", job.Artifact)
	}

	if size := e2e.PDFInfo(t, c.Download(job))["Page size"]; !strings.Contains(size, "A5") {
		t.Errorf("page size %q", size)
	}
}

func TestACancelledExportClosesThePage(t *testing.T) {
	t.Parallel()
	address, host, hits := site(t)
	_, c := e2e.Serve(t, map[string]string{"EXPORT_ALLOW_PRIVATE": host})
	_, _, answer := c.Do("POST", "/export-pdf", "application/json", []byte(`{"url":"`+address+`/slow"}`),
		"Prefer", "respond-async")

	var accepted e2e.Accepted
	if err := json.Unmarshal(answer, &accepted); err != nil {
		t.Fatalf("answered %s", answer)
	}
	wait.Until(t, "the page is asked for", func() bool { return hits.Load() > 0 })

	if status, _, answer := c.Do("DELETE", "/api/conversion/"+accepted.JobID, "", nil); status != http.StatusOK {
		t.Fatalf("cancelling answered %d %s", status, answer)
	}

	if job := c.Job(accepted.JobID); job.Status != presswork.Cancelled || job.Artifact != nil {
		t.Errorf("the job is %+v", job)
	}
	// The next one finds a free worker.
	status, _, answer := c.Do("POST", "/export-pdf", "application/json", []byte(`{"url":"`+address+`"}`))
	if status != http.StatusOK {
		t.Errorf("the next: %d %s", status, answer)
	}
}
