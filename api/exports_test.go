package api_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"presswork"
	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// export sends a request for a page export.
func (h *harness) export(path, body string, headers ...string) reply {
	h.t.Helper()

	return h.do(
		http.MethodPost,
		path,
		strings.NewReader(body),
		append([]string{"Content-Type: application/json"}, headers...)...)
}

// disconnectWhileWaiting sends a request and closes the connection once the server waits for its job.
func (h *harness) disconnectWhileWaiting(path, body string, headers ...string) {
	h.t.Helper()
	ctx, disconnect := context.WithCancel(h.t.Context())
	h.queue.onNextWatch(func(string) { disconnect() })

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url(path), strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}

	for _, line := range append(headers, "Content-Type: application/json", "X-API-Key: "+h.key) {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}

	if _, err := h.client.Do(req); err == nil {
		h.t.Fatal("the request was answered")
	}
}

// finishNext completes the job of the next waiting request with data.
func (h *harness) finishNext(contentType string, data []byte) {
	h.queue.onNextWatch(func(id string) { h.finishAs(id, contentType, data) })
}

func TestExportReturnsTheResult(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		path, body, contentType, location string
		keep                              int64 // seconds; 0 for the retention time
	}{
		{"/export-pdf", `{"url":"https://example.com/"}`, "application/pdf", "", 600},
		{"/export-pdf", `{"url":"https://example.com/","options":{"save":true}}`, "application/pdf", "/api/artifacts/", 0},
		{"/export-screenshot", `{"url":"https://example.com/","options":{"type":"webp","quality":70}}`, "image/webp", "", 600},
	} {
		t.Run(c.path+" "+c.body, func(t *testing.T) {
			h := serve(t)
			h.finishNext(c.contentType, []byte("the bytes"))
			r := h.export(c.path, c.body)

			sub := h.queue.last()
			if r.StatusCode != 200 || string(r.body) != "the bytes" || r.Header.Get("Content-Type") != c.contentType ||
				r.Header.Get("x-job-id") != sub.ID ||
				!strings.HasPrefix(r.Header.Get("Content-Disposition"), "attachment;") {
				t.Errorf("got %d %s %v, want the bytes as %s", r.StatusCode, r.body, r.Header, c.contentType)
			}

			location := r.Header.Get("Content-Location")
			if !strings.HasPrefix(location, c.location) || (location != "") != (c.location != "") {
				t.Errorf("Content-Location is %q, want %q", location, c.location)
			}

			var task tasks.PageExport

			err := json.Unmarshal(sub.Task.Payload, &task)
			if err != nil || sub.Kind != presswork.KindExport || sub.Task.Queue != tasks.Export ||
				task.Keep != c.keep {
				t.Errorf("submitted %+v, %v; want an export that is kept for %d s", task, err, c.keep)
			}
		})
	}
}

func TestExportCanBeFetchedLater(t *testing.T) {
	t.Parallel()
	h := serve(t)

	r := h.export("/export-pdf", `{"url":"https://example.com/"}`, "Prefer: respond-async")
	if r.StatusCode != 202 || r.Header.Get("Preference-Applied") != "respond-async" || r.Header.Get("Location") == "" {
		t.Fatalf("got %d %s %v, want 202 and the applied preference", r.StatusCode, r.body, r.Header)
	}

	var task tasks.PageExport
	if err := json.Unmarshal(h.queue.last().Task.Payload, &task); err != nil || task.Keep != 0 {
		t.Errorf("the result is kept for %d s, %v; want 0 for the retention time", task.Keep, err)
	}
}

func TestPreferSetsTheWaitForAnExport(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		prefer, body string
		code         int
		keep         int64 // seconds; 0 for the retention time
	}{
		{"wait=20", `{"url":"https://example.com/"}`, 200, 0},
		{"respond-async, wait=20", `{"url":"https://example.com/"}`, 200, 0},
		{"wait=20", `{"url":"https://example.com/","options":{"save":false}}`, 200, 600},
		{"wait=1", `{"url":"https://example.com/"}`, 202, 0},
		{"wait=0", `{"url":"https://example.com/"}`, 202, 0},
	} {
		t.Run(c.prefer+" "+c.body, func(t *testing.T) {
			h := serve(t)
			if c.code == 200 {
				h.finishNext("application/pdf", []byte("the bytes"))
			}
			r := h.export("/export-pdf", c.body, "Prefer: "+c.prefer)

			id := h.queue.last().ID
			if r.StatusCode != c.code || (r.Header.Get("Location") == "/api/conversion/"+id) != (c.code == 202) ||
				(r.Header.Get("Content-Location") != "") != (c.code == 200 && c.keep == 0) {
				t.Errorf("got %d %s %v, want status %d", r.StatusCode, r.body, r.Header, c.code)
			}

			var task tasks.PageExport
			if err := json.Unmarshal(h.queue.last().Task.Payload, &task); err != nil || task.Keep != c.keep {
				t.Errorf("the result is kept for %d s, %v; want %d s", task.Keep, err, c.keep)
			}

			if rec, err := h.queue.Job(t.Context(), id); err != nil || c.code == 202 && rec.Status != presswork.Queued {
				t.Errorf("the job is %s, %v; want queued", rec.Status, err)
			}
		})
	}
}

func TestPreferDoesNotMakeAnExportAnotherRequest(t *testing.T) {
	t.Parallel()
	h := serve(t)
	const body = `{"url":"https://example.com/"}`
	h.export("/export-pdf", body, "Idempotency-Key: k", "Prefer: respond-async").want(t, 202, "")
	// A retry may reach a node of release 0.1, which compares the digest of the whole request.
	sub := h.queue.last()

	sum := sha256.Sum256([]byte("[" + string(sub.Task.Payload) + `,""]`))
	if sub.Fingerprint != hex.EncodeToString(sum[:]) {
		t.Errorf("the fingerprint is %s, want the digest of the request %s", sub.Fingerprint, sub.Task.Payload)
	}

	for _, prefer := range []string{"wait=0", "wait=1"} {
		r := h.export("/export-pdf", body, "Idempotency-Key: k", "Prefer: "+prefer)
		if r.StatusCode != 202 || r.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: got %d %s, want 202, replayed", prefer, r.StatusCode, r.body)
		}
	}
	h.finishNext("application/pdf", []byte("the bytes"))

	r := h.export("/export-pdf", body, "Idempotency-Key: k")
	if r.StatusCode != 200 || string(r.body) != "the bytes" || r.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("got %d %s, want the bytes, replayed", r.StatusCode, r.body)
	}
	h.export("/export-pdf", `{"url":"https://example.com/","options":{"save":true}}`, "Idempotency-Key: k").
		want(t, 409, fault.IdempotencyConflict)
}

func TestFailedExportReturnsItsError(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.queue.onNextWatch(func(id string) {
		h.queue.emit(id, presswork.Event{
			Type: presswork.EventFailed, Status: presswork.Failed,
			Error: fault.Errorf(fault.PageUnreachable, "the name example.com is not known"),
		})
	})

	r := h.export("/export-pdf", `{"url":"https://example.com/"}`)
	if r.StatusCode != 422 || !strings.Contains(string(r.body), `"page_unreachable"`) {
		t.Errorf("got %d %s, want 422, page_unreachable", r.StatusCode, r.body)
	}
}

func TestExportSurvivesABrokenWatch(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.queue.slow = 1 // each watch ends after one event
	// The first watch ends at 10 %. The second one gets the end of the job.
	h.queue.onNextWatch(func(id string) {
		h.queue.onNextWatch(func(id string) { h.finishAs(id, "application/pdf", []byte("the bytes")) })
		h.queue.progress(id, 10)
		h.queue.progress(id, 20)
	})

	r := h.export("/export-pdf", `{"url":"https://example.com/"}`)
	if r.StatusCode != 200 || string(r.body) != "the bytes" {
		t.Errorf("got %d %s, want 200 and the bytes", r.StatusCode, r.body)
	}
}

func TestExportHasTheRequestedFilename(t *testing.T) {
	t.Parallel()
	h := serve(t)

	for requested, want := range map[string]string{
		"page.pdf":         "page.pdf",
		"page.PNG":         "page.pdf",
		"page":             "page.pdf",
		"Q3 vs. Q4":        "Q3 vs. Q4.pdf",
		"v1.2":             "v1.2.pdf",
		"../../etc/passwd": "passwd.pdf",
		"..":               "",
	} {
		t.Run(requested, func(t *testing.T) {
			body, _ := json.Marshal(
				map[string]any{"url": "https://example.com/", "options": map[string]string{"filename": requested}},
			)

			r := h.export("/export-pdf", string(body), "Prefer: respond-async")
			if got := h.queue.last().Filename; r.StatusCode != 202 || got != want {
				t.Errorf("got %d with the file name %q, want %q", r.StatusCode, got, want)
			}
		})
	}
}

func TestDisconnectCancelsAnExport(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.disconnectWhileWaiting("/export-pdf", `{"url":"https://example.com/"}`)
	wait.Until(t, "the job is cancelled", func() bool {
		rec, err := h.queue.Job(t.Context(), h.queue.last().ID)
		return err == nil && rec.Status == presswork.Cancelled
	})
}

func TestInvalidExportsAreRejected(t *testing.T) {
	t.Parallel()

	h := serve(t)
	for _, c := range []struct {
		path, body string
		status     int
		code, says string
	}{
		{"/export-pdf", `{}`, 400, "invalid_url", "url is missing"},
		{"/export-pdf", `{"url":"ftp://example.com/"}`, 400, "invalid_url", "http"},
		{"/export-pdf", `{"url":"file:///etc/passwd"}`, 400, "invalid_url", "http"},
		{"/export-pdf", `{"url":"http://127.0.0.1/"}`, 403, "address_not_allowed", "127.0.0.1"},
		{"/export-pdf", `{"url":"http://2130706433/"}`, 403, "address_not_allowed", "127.0.0.1"},
		{"/export-pdf", `{"url":"http://[::ffff:10.0.0.1]/"}`, 403, "address_not_allowed", ""},
		{"/export-pdf", `{"url":"https://example.com:22/"}`, 403, "address_not_allowed", "22"},
		{"/export-pdf", `{"url":"https://example.com/","options":{"formt":"a4"}}`, 400, "unknown_field", `did you mean \"format\"`},
		{"/export-pdf", `{"url":"https://example.com/","options":{"format":"a44"}}`, 400, "invalid_option", "allowed"},
		{"/export-pdf", `{"url":"https://example.com/","options":{"waitUntil":"lod"}}`, 400, "invalid_option", `load`},
		{"/export-pdf", `{"url":"https://example.com/","options":{"timeout":120001}}`, 400, "invalid_option", "120000"},
		{"/export-pdf", `{"url":"https://example.com/","options":{"cookies":[{"name":"a","value":"b","domain":"other.com"}]}}`, 400, "invalid_option", "other.com"},
		{"/export-pdf", `{"url":"https://example.com/","options":{"theme":"nrod"}}`, 400, "theme_not_found", "nord"},
		{"/export-pdf", `{"url":"https://example.com/","options":{"fullPage":true}}`, 400, "unknown_field", "fullPage"},
		{"/export-screenshot", `{"url":"https://example.com/","options":{"type":"gif"}}`, 400, "invalid_option", "png, jpeg, webp"},
		{"/export-screenshot", `{"url":"https://example.com/","options":{"quality":10}}`, 400, "invalid_option", "jpeg"},
		{"/export-pdf", `{"url":"https://example.com/","webhook_url":"http://10.0.0.1/"}`, 403, "address_not_allowed", "10.0.0.1"},
	} {
		t.Run(c.path+" "+c.body, func(t *testing.T) {
			r := h.export(c.path, c.body)
			if r.StatusCode != c.status || !strings.Contains(string(r.body), `"`+c.code+`"`) ||
				!strings.Contains(string(r.body), c.says) {
				t.Errorf("got %d %s, want %d %s %s", r.StatusCode, r.body, c.status, c.code, c.says)
			}
		})
	}

	if n := h.queue.count(); n != 0 {
		t.Errorf("%d jobs were submitted", n)
	}
}

func TestExportsCanWorkWithoutAKey(t *testing.T) {
	t.Parallel()
	h := serve(t)

	h.key = ""
	if r := h.export("/export-pdf", `{"url":"ftp://x"}`); r.StatusCode != 401 {
		t.Errorf("without a key: got %d, want 401", r.StatusCode)
	}
	h = serve(t, func(o *api.Options) { o.ExportAuthOff = true })

	h.key = ""
	if r := h.export("/export-pdf", `{"url":"ftp://x"}`); r.StatusCode != 400 {
		t.Errorf("ExportAuthOff, no key: got %d %s, want 400", r.StatusCode, r.body)
	}

	if r := h.get("/api/conversion"); r.StatusCode != 401 {
		t.Errorf("ExportAuthOff, another route: got %d, want 401", r.StatusCode)
	}
	// A key that is sent anyway must be valid, and its owner is the caller.
	r := h.export("/export-pdf", `{"url":"https://example.com/"}`, "Prefer: respond-async")
	if r.StatusCode != 202 || h.queue.last().Owner != "" {
		t.Errorf("ExportAuthOff, without a key: got %d, owner %q; want 202 without an owner", r.StatusCode,
			h.queue.last().Owner)
	}

	r = h.export("/export-pdf", `{"url":"https://example.com/"}`, "Prefer: respond-async", "X-API-Key: wrong")
	if r.StatusCode != 401 || r.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("ExportAuthOff, with an invalid key: got %d, want 401", r.StatusCode)
	}

	r = h.export("/export-pdf", `{"url":"https://example.com/"}`, "Prefer: respond-async", "X-API-Key: "+testKey)

	id := h.queue.last().ID
	if r.StatusCode != 202 || h.get("/api/conversion/"+id, "X-API-Key: "+testKey).StatusCode != 200 {
		t.Errorf("ExportAuthOff, with a key: got %d, owner %q; want 202 and a job of the key", r.StatusCode,
			h.queue.last().Owner)
	}
}

func TestExportsAcceptOnlyPostedJSON(t *testing.T) {
	t.Parallel()
	h := serve(t)

	for _, path := range []string{"/export-pdf", "/export-screenshot"} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete} {
			t.Run(method+" "+path, func(t *testing.T) {
				r := h.do(method, path, nil)
				if r.StatusCode != 405 || !strings.Contains(r.Header.Get("Allow"), "POST") {
					t.Errorf("got %d, Allow %q; want 405, POST", r.StatusCode, r.Header.Get("Allow"))
				}
			})
		}

		for _, kind := range []string{"multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text/plain", ""} {
			t.Run(path+" as "+cmp.Or(kind, "nothing"), func(t *testing.T) {
				r := h.do(http.MethodPost, path, strings.NewReader("--x\r\n\r\n--x--"), "Content-Type: "+kind)
				if r.StatusCode != 415 || !strings.Contains(string(r.body), "allowed: application/json") {
					t.Errorf("got %d %s, want 415 and application/json", r.StatusCode, r.body)
				}
			})
		}
	}
}

func TestIdempotencyKeyFetchesAnAbandonedExport(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.disconnectWhileWaiting("/export-pdf", `{"url":"https://example.com/"}`, "Idempotency-Key: again")
	first := h.queue.last().ID
	wait.Until(t, "the server notices the disconnection", func() bool { return h.queue.openWatches() == 0 })
	h.finishNext("application/pdf", []byte("the bytes"))

	r := h.export("/export-pdf", `{"url":"https://example.com/"}`, "Idempotency-Key: again")
	if r.StatusCode != 200 || string(r.body) != "the bytes" || r.Header.Get("Idempotent-Replayed") != "true" ||
		r.Header.Get("x-job-id") != first {
		t.Errorf("got %d %s %v, want the bytes of job %s, replayed", r.StatusCode, r.body, r.Header, first)
	}
}
