package api_test

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
)

const (
	wantsPDF = "Accept: application/pdf"
	pdfBytes = "%PDF-1.7 the bytes"
)

func TestWaitingClientGetsThePDF(t *testing.T) {
	t.Parallel()

	for _, headers := range [][]string{
		{wantsPDF},
		{"Accept: application/pdf, application/json;q=0.5"},
		{"Prefer: wait=20"},
		{`Prefer: handling=lenient, Wait="999"`},
		{"Prefer: handling=lenient", "Prefer: wait=20"},
		{"Accept: application/json;q=0.5", wantsPDF},
		{wantsPDF, "Prefer: respond-async, wait=20"},
		{wantsPDF, "Idempotency-Key: k"},
	} {
		t.Run(strings.Join(headers, ", "), func(t *testing.T) {
			h := serve(t)
			h.finishNext("application/pdf", []byte(pdfBytes))
			r := h.post(`{"content":"# Hi"}`, headers...)

			id := h.queue.last().ID
			if r.StatusCode != http.StatusOK || string(r.body) != pdfBytes ||
				r.Header.Get("Content-Type") != "application/pdf" || r.Header.Get("x-job-id") != id ||
				!strings.HasPrefix(r.Header.Get("Content-Disposition"), "attachment;") ||
				r.Header.Get("ETag") == "" ||
				r.Header.Get("Content-Location") != "/api/artifacts/"+id+"/download" {
				t.Errorf("got %d %s %v, want the PDF", r.StatusCode, r.body, r.Header)
			}
		})
	}
}

func TestClientThatDoesNotWaitGetsTheJob(t *testing.T) {
	t.Parallel()

	h := serve(t)
	for _, headers := range [][]string{
		nil,
		{"Accept: */*"},
		{"Accept: application/json"},
		{"Accept: application/json, application/pdf;q=0.9"},
		{"Accept: application/pdf; q=0, */*"},
		{"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"},
		{wantsPDF, "Prefer: respond-async"},
		{wantsPDF, "Prefer: wait=0"},
		{"Prefer: wait=-1"},
	} {
		t.Run(cmp.Or(strings.Join(headers, ", "), "no header"), func(t *testing.T) {
			r := h.post(`{"content":"# Hi"}`, headers...)
			r.want(t, http.StatusAccepted, "")

			if r.Header.Get("Location") == "" {
				t.Error("the response has no Location")
			}
		})
	}

	if n := h.queue.allWatches(); n != 0 {
		t.Errorf("%d requests waited for their job, want none", n)
	}
}

func TestWaitingClientGetsTheJobAfterItsTimeout(t *testing.T) {
	t.Parallel()
	h := serve(t)
	r := h.post(`{"content":"# Hi"}`, "Prefer: wait=1")
	r.want(t, http.StatusAccepted, "")

	rec, err := h.queue.Job(t.Context(), h.queue.last().ID)
	if err != nil || rec.Status != presswork.Queued || r.Header.Get("Location") != "/api/conversion/"+rec.ID {
		t.Errorf("the job is %s, %v, Location %q; want it queued, at its address", rec.Status, err,
			r.Header.Get("Location"))
	}
}

func TestStopReturnsTheJobToWaitingClients(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.queue.onNextWatch(func(string) {
		// Stop waits for this request. The test may end before Stop does, so Stop has a context of its own.
		go h.server.Stop(context.WithoutCancel(t.Context()))
	})
	h.post(`{"content":"# Hi"}`, wantsPDF).want(t, http.StatusAccepted, "")

	if rec, err := h.queue.Job(t.Context(), h.queue.last().ID); err != nil || rec.Status != presswork.Queued {
		t.Errorf("the job is %s, %v; want queued", rec.Status, err)
	}
}

func TestWaitingClientGetsTheErrorOfItsJob(t *testing.T) {
	t.Parallel()

	h := serve(t)
	for _, c := range []struct {
		event  presswork.Event
		status int
		code   fault.Code
	}{
		{presswork.Event{Type: presswork.EventFailed, Status: presswork.Failed, Error: fault.Errorf(fault.StrictFindings, "an image is missing")}, 422, fault.StrictFindings},
		{presswork.Event{Type: presswork.EventFailed, Status: presswork.Failed, Error: fault.Errorf(fault.RenderTimeout, "too long")}, 504, fault.RenderTimeout},
		{presswork.Event{Type: presswork.EventCancelled, Status: presswork.Cancelled}, 409, fault.JobFinished},
	} {
		t.Run(string(c.code), func(t *testing.T) {
			h.queue.onNextWatch(func(id string) { h.queue.emit(id, c.event) })
			r := h.post(`{"content":"# Hi"}`, wantsPDF)
			r.want(t, c.status, c.code)

			if r.Header.Get("x-job-id") != h.queue.last().ID {
				t.Errorf("X-Job-Id is %q, want the id of the job", r.Header.Get("x-job-id"))
			}
			wait.Until(t, "the wait is over", func() bool { return h.queue.openWatches() == 0 })
		})
	}
}

func TestDisconnectCancelsOnlyWithoutAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.disconnectWhileWaiting("/api/conversion", `{"content":"# Hi"}`, wantsPDF)
	wait.Until(t, "the job is cancelled", func() bool {
		rec, err := h.queue.Job(t.Context(), h.queue.last().ID)
		return err == nil && rec.Status == presswork.Cancelled
	})
	wait.Until(t, "the wait is over", func() bool { return h.queue.openWatches() == 0 })

	h.disconnectWhileWaiting("/api/conversion", `{"content":"# Hi"}`, wantsPDF, "Idempotency-Key: again")
	first := h.queue.last().ID
	wait.Until(t, "the server notices that the client has left", func() bool { return h.queue.openWatches() == 0 })
	h.finishNext("application/pdf", []byte(pdfBytes))

	r := h.post(`{"content":"# Hi"}`, wantsPDF, "Idempotency-Key: again")
	if r.StatusCode != http.StatusOK || string(r.body) != pdfBytes || r.Header.Get("x-job-id") != first ||
		r.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("got %d %s %v, want the PDF of job %s, replayed", r.StatusCode, r.body, r.Header, first)
	}
}

func TestLongPollUntilDone(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	answer := make(chan reply, 1)
	// A different tag does not end this wait.
	go func() { answer <- h.get(a.StatusURL+"?wait=60s&until=done", `If-None-Match: "x"`) }()
	wait.Until(t, "the request waits", func() bool { return h.queue.allWatches() == 1 })
	h.queue.progress(a.JobID, 20)
	h.queue.progress(a.JobID, 40)
	h.finish(a.JobID, []byte(pdfBytes))

	if r := <-answer; r.StatusCode != http.StatusOK || !strings.Contains(string(r.body), `"status":"completed"`) {
		t.Errorf("got %d %s, want 200 and the completed job", r.StatusCode, r.body)
	}
	// A job that has ended is returned at once.
	h.get(a.StatusURL+"?wait=60s&until=done").want(t, http.StatusOK, "")

	// When the time is up, the answer is the job as it is then.
	b := h.submit()
	h.queue.onNextWatch(func(id string) { h.queue.progress(id, 40) })
	began := time.Now()

	r := h.get(b.StatusURL + "?wait=1s&until=done")
	if took := time.Since(began); took < time.Second || !strings.Contains(string(r.body), `"progress":40`) {
		t.Errorf("after %s got %s; want the progress 40 after 1s", took, r.body)
	}

	for _, query := range []string{"?wait=1s&until=end", "?until=done"} {
		h.get(b.StatusURL+query).want(t, http.StatusBadRequest, fault.InvalidOption)
	}
}

func TestSubmissionUntilDone(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.queue.onNextWatch(func(id string) { h.finish(id, []byte(pdfBytes)) })

	r := h.do(http.MethodPost, "/api/conversion?wait=60s&until=done", strings.NewReader(`{"content":"# Hi"}`),
		"Content-Type: application/json")
	if r.StatusCode != http.StatusOK || !strings.Contains(string(r.body), `"status":"completed"`) {
		t.Errorf("got %d %s, want 200 and the completed job", r.StatusCode, r.body)
	}

	// When the time is up, the job is accepted and goes on.
	r = h.do(http.MethodPost, "/api/conversion?wait=1s&until=done&theme=nord", strings.NewReader("# Hi"),
		"Content-Type: text/markdown")
	r.want(t, http.StatusAccepted, "")

	for _, query := range []string{"?until=done", "?wiat=1s", "?theem=nord"} {
		r := h.do(http.MethodPost, "/api/conversion"+query, strings.NewReader(`{"content":"# Hi"}`),
			"Content-Type: application/json")
		if r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: got %d %s, want 400", query, r.StatusCode, r.body)
		}
	}
}
