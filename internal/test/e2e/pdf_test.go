package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// pdfForm returns a form for /api/pdf with files. fields are pairs of a name and a value.
func pdfForm(t *testing.T, files [][]byte, fields ...string) (contentType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)

	for i, data := range files {
		part, err := w.CreateFormFile("file", fmt.Sprintf("%d.pdf", i+1))
		if err != nil {
			t.Fatal(err)
		}

		if _, err := part.Write(data); err != nil {
			t.Fatal(err)
		}
	}

	for i := 0; i < len(fields); i += 2 {
		if err := w.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return w.FormDataContentType(), b.Bytes()
}

// pdfSample returns a file of internal/pdfops/testdata.
func pdfSample(t *testing.T, name string) []byte {
	t.Helper()

	data, err := os.ReadFile("../../pdfops/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}

	return data
}

func TestPDFOperations(t *testing.T) {
	t.Parallel()
	deliveries := make(chan presswork.Job, 8)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var d struct{ Data presswork.Job }

		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &d)
		}

		if err != nil {
			t.Error(err)
		}
		deliveries <- d.Data
	}))
	t.Cleanup(receiver.Close)
	_, c := e2e.Serve(t, map[string]string{
		"WEBHOOK_SECRET":         webhookSecret,
		"OUTBOUND_ALLOW_PRIVATE": strings.TrimPrefix(receiver.URL, "http://"),
	})
	one := pdfSample(t, "crazyones.pdf")
	edit := func(operation string, files [][]byte, fields []string, headers ...string) (int, http.Header, []byte) {
		t.Helper()
		contentType, body := pdfForm(t, files, fields...)

		return c.Do("POST", "/api/pdf/"+operation, contentType, body, headers...)
	}

	status, header, body := edit("merge", [][]byte{one, one}, []string{"webhook_url", receiver.URL})
	if status != http.StatusOK || header.Get("Content-Type") != "application/pdf" ||
		strings.Count(e2e.PDFText(t, body), "The Crazy Ones") != 2 {
		t.Fatalf("merge: status %d, headers %v; want 200 and both texts", status, header)
	}

	job := c.Job(header.Get("x-job-id"))
	if kept := time.Until(job.Artifact.ExpiresAt); job.Kind != presswork.KindPDF || kept > 11*time.Minute {
		t.Errorf("result in the response: job %+v keeps it for %s, want 10 minutes", job, kept)
	}

	delivered := wait.Receive(t, "a webhook", deliveries)
	if delivered.ID != job.ID || delivered.Status != presswork.Completed || delivered.Artifact == nil ||
		!bytes.Equal(c.Download(delivered), body) {
		t.Errorf("webhook %+v, want the completed job with the same result", delivered)
	}

	status, header, body = edit("text", [][]byte{one}, nil, "Prefer", "wait=30")
	if status != http.StatusOK || !strings.Contains(string(body), "The Crazy Ones") {
		t.Fatalf("text: status %d, headers %v, %s; want 200 and the text", status, header, body)
	}

	if job = c.Job(header.Get("x-job-id")); time.Until(job.Artifact.ExpiresAt) < 24*time.Hour {
		t.Errorf("with Prefer: wait, the result expires at %s, want in a day or more", job.Artifact.ExpiresAt)
	}

	status, _, body = edit("text", [][]byte{pdfSample(t, "r6-both-passwords.pdf")},
		[]string{"webhook_url", receiver.URL, "options", `{"password":"wrong"}`})
	if status != http.StatusUnprocessableEntity || !strings.Contains(string(body), `"pdf_password"`) {
		t.Errorf("wrong password: status %d, %s; want 422 pdf_password", status, body)
	}

	if delivered = wait.Receive(t, "a webhook", deliveries); delivered.Status != presswork.Failed {
		t.Errorf("webhook %+v, want the failed job", delivered)
	}

	status, _, body = edit("crop", [][]byte{one}, nil)
	if status != http.StatusNotFound || !strings.Contains(string(body), "the operations are") {
		t.Errorf("unknown operation: status %d, %s; want 404", status, body)
	}

	select {
	case d := <-deliveries:
		t.Errorf("unexpected further webhook: %+v", d)
	default:
	}
}

func TestPDFJobOfAKilledWorkerRunsAgain(t *testing.T) {
	t.Parallel()
	fleet := newFleet(t)
	_, c := fleet.API(nil)
	worker := fleet.Worker(nil)
	part := c.Download(c.Completed(c.Submit(e2e.Submission{Content: longDocument("part", 40)}).JobID))

	// If the job ends before its worker is killed, the test tries again with a longer one.
	for copies := 8; copies <= 256; copies *= 2 {
		files := make([][]byte, copies)
		for i := range files {
			files[i] = part
		}
		contentType, body := pdfForm(t, files)

		accepted := c.Accept(c.Do("POST", "/api/pdf/merge", contentType, body, "Prefer", "respond-async"))
		var job presswork.Job
		wait.Until(t, "the job runs", func() bool {
			job = c.Job(accepted.JobID)
			return job.Stage == presswork.StageRendering || job.Status.Terminal()
		})
		worker.Signal(syscall.SIGKILL)
		<-worker.Ended()
		worker = fleet.Worker(nil)

		if job = c.Completed(accepted.JobID); job.Attempts == 1 {
			continue
		}

		if job.Attempts != 2 || strings.Count(eventLog(t, c, job.ID), `"type":"completed"`) != 1 {
			t.Errorf("job %+v, want two attempts and one completed event", job)
		}

		if n := strings.Count(e2e.PDFText(t, c.Download(job)), "Long document part"); n != copies {
			t.Errorf("the result has %d files, want %d", n, copies)
		}

		return
	}
	t.Fatal("each job completed before its worker was killed, want one that did not")
}
