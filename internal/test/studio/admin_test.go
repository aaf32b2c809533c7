package studio_test

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"presswork"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
)

func TestAdminListsAndRetriesJobs(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, map[string]string{"API_KEY": "right-key", "INFERENCE_CONFIG": writeModels(t)})
	completed := c.Submit(e2e.Submission{Content: "# A good report", Filename: "good.pdf"}).JobID
	c.Completed(completed)
	failing := e2e.Submission{
		Content:  "![gone](missing.png)",
		Filename: "broken.pdf",
		Options:  presswork.Options{Strict: new(true)},
	}
	rejected := c.Submit(failing).JobID
	c.Wait(rejected)
	failed := submitRecording(t, c, "ears-broken")
	c.Wait(failed)

	status, _, body := c.Do(http.MethodPost, "/v1/chat/completions", "application/json",
		[]byte(`{"model":"whole","messages":[{"role":"user","content":"Hi"}]}`))
	if status != http.StatusOK {
		t.Fatalf("status %d, %s; want 200", status, body)
	}

	p := browsertest.NewVisitor(t).Open(c.Base+"/admin", 1280, 800, false)
	p.Allow = []string{"401 (Unauthorized)"}
	p.See("#key").MustInput("right-key").MustType(input.Enter)
	worker := p.See(".worker header b").MustText()
	p.Until("the seven queues are shown", `() => document.querySelectorAll("table tbody tr").length === 7`)
	p.Until("the worker's browser is shown", `() => document.querySelector(".worker").innerText.includes(" old, ")`)

	// The list is filtered by status. The dialog of a job has its timeline and its PDF.
	p.Click("Jobs")
	p.Until("all jobs are listed", `() => document.querySelectorAll("tr[data-id]").length === 3`)
	// Failures that only the caller can repair have their own filter.
	p.See("select[aria-label=Status]").MustSelect("Failed: document or page")
	p.Until("only that job is listed",
		`id => [...document.querySelectorAll("tr[data-id]")].map(r => r.dataset.id).join() === id`, rejected)
	p.See("select[aria-label=Status]").MustSelect("Completed")
	p.Until("only the completed job is listed",
		`id => [...document.querySelectorAll("tr[data-id]")].map(r => r.dataset.id).join() === id`, completed)
	p.Click("good.pdf")
	p.Until("its timeline is shown",
		`worker => document.querySelector(".timeline")?.innerText.includes("attempt 1 began on " + worker)`,
		worker)
	recordDownloads(p)
	p.Click("1 page")
	p.Until("its PDF is saved", `() => window.saved === "%PDF-"`)
	p.Page.Keyboard.MustType(input.Escape)

	// A job that is submitted later appears without a reload.
	p.Click("Clear")
	c.Submit(e2e.Submission{Content: "# Later", Filename: "later.pdf"})
	p.Until("the new job is listed", `() => document.querySelector("tr[data-id]")?.innerText.includes("later.pdf")`)

	// Retrying a dead letter submits a new job. That job fails too, and is dismissed.
	p.Click("Dead letters")
	p.Until("the failed job is a dead letter", `id => document.querySelector("tr[data-id]")?.dataset.id === id`, failed)
	p.Press(".batch input")
	p.Click("Retry")
	p.Until(
		"the new job is the only dead letter",
		`id => {
			const rows = [...document.querySelectorAll("tr[data-id]")];
			return rows.length === 1 && rows[0].dataset.id !== id;
		}`,
		failed,
	)
	p.Press(".batch input")
	p.Click("Dismiss")
	p.Until("no dead letter is left",
		`() => document.querySelector(".desk .empty")?.innerText.startsWith("No dead letters")`)

	if job := c.Job(failed); job.Status != presswork.Failed {
		t.Errorf("status %s of the first job, want failed", job.Status)
	}

	p.Click("Keys")
	p.Until("the usage is drawn", `() => document.querySelectorAll(".usage rect").length > 0`)

	for _, size := range []int{1280, 390} {
		p.Page.MustSetViewport(size, 800, 1, false)

		for _, tab := range []string{"Overview", "Jobs", "Webhooks", "Keys"} {
			p.Click(tab)
			p.Until(fmt.Sprintf("%s is no wider than a window of %d", tab, size),
				`() => document.documentElement.scrollWidth <= innerWidth`)
		}
	}

	checkKeyIsNotStored(t, p, "right-key")
}

// submitRecording submits a recording for transcription and returns the id of its job.
func submitRecording(t *testing.T, c *e2e.Client, model string) string {
	t.Helper()
	contentType, form := fileForm(t, "memo.wav", sampleWAV(), "model", model)

	return c.Accept(
		c.Do(http.MethodPost, "/v1/audio/transcriptions", contentType, form, "Prefer", "respond-async"),
	).JobID
}

// fileForm returns a form with a file. fields are pairs of a name and a value.
func fileForm(t *testing.T, name string, data []byte, fields ...string) (contentType string, body []byte) {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)

	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write(data)
	}

	for i := 0; i < len(fields); i += 2 {
		err = errors.Join(err, w.WriteField(fields[i], fields[i+1]))
	}

	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}

	return w.FormDataContentType(), form.Bytes()
}

func TestAdminFiltersJobsByKind(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, nil)
	printed := c.Completed(c.Submit(e2e.Submission{Content: "# A report"}).JobID)

	contentType, form := fileForm(t, "report.pdf", c.Download(printed))

	status, header, body := c.Do(http.MethodPost, "/api/pdf/info", contentType, form)
	if status != http.StatusOK {
		t.Fatalf("status %d, %s; want 200", status, body)
	}

	p := browsertest.NewVisitor(t).Open(c.Base+"/admin#jobs", 1280, 800, false)
	p.See("select[aria-label=Kind]").MustSelect("PDF operation")
	p.Until("only the operation is listed",
		`id => [...document.querySelectorAll("tr[data-id]")].map(r => r.dataset.id).join() === id`,
		header.Get("X-Job-Id"))
	p.Reads("tr[data-id]", "PDF operation")
}

// checkMonitorHasNoForeignLinks checks that the monitor links to no other site.
func checkMonitorHasNoForeignLinks(t *testing.T, h *shared) {
	c := h.client.For(t)
	c.Completed(c.Submit(e2e.Submission{Content: "# Hi"}).JobID)
	p := h.visitor.For(t).Open(c.Base+"/monitor", 1280, 800, false)
	p.Until("the queues are listed", `() => document.body.innerText.includes("render")`)
	p.Reads("header.presswork", "Overview", "Dead letters", "Monitor")

	shown := p.Eval(`() => [...document.links].filter(a => a.origin !== location.origin && a.checkVisibility())
		.map(a => a.href).join(" ")`)
	if shown != "" {
		t.Errorf("the monitor links to %s, want no other origin", shown)
	}
}
