package studio_test

import (
	"net/http"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
)

// TestAdminRetriesDeadLetterWithOtherInput replaces a document that takes too long to print by a short one.
func TestAdminRetriesDeadLetterWithOtherInput(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, map[string]string{"RENDER_TIMEOUT": "2s"})
	long := strings.Repeat("## Late\n\n"+strings.Repeat("The text of a section. ", 20)+"\n\n", 8_000)

	failed := c.Submit(e2e.Submission{Content: long, Filename: "late.pdf", Theme: "nord"}).JobID
	if job := c.Wait(failed); job.Status != presswork.Failed {
		t.Fatalf("the job of a document of %d bytes is %s, want failed", len(long), job.Status)
	}

	p := browsertest.NewVisitor(t).Open(c.Base+"/admin", 1280, 800, false)
	p.Allow = []string{"400 (Bad Request)"}
	p.Click("Jobs")
	p.Click("Dead letters")
	p.Click("late.pdf")
	p.Click("Edit and retry")
	p.Until(
		"the dialog has the input of the job",
		`() => document.querySelector(".edit textarea")?.value.startsWith("## Late") &&
			document.querySelector(".edit input").value === "nord"`,
	)

	// The dialog stays open with its input after a value that the server rejects.
	replace := func(selector, text string) { p.See(selector).MustSelectAllText().MustInput(text) }
	replace(".edit textarea", "# Short")
	replace(".edit input", "nrod")
	p.Click("Retry as a new job")
	p.Reads("dialog .notice.error", `did you mean "nord"?`)

	replace(".edit input", "dracula")
	p.Click("Retry as a new job")
	p.Until("the new job is shown",
		`id => { const d = document.querySelector(".detail .id"); return d && d.innerText !== id }`, failed)
	job := c.Completed(p.Text(".detail .id"))

	if job.Theme != "dracula" || job.Artifact.Pages != 1 {
		t.Errorf("the new job has the theme %s and %d pages, want dracula and 1", job.Theme, job.Artifact.Pages)
	}

	// The first job stays failed and names the new one.
	if first := c.Job(failed); first.Status != presswork.Failed {
		t.Errorf("the first job is %s, want failed", first.Status)
	}

	status, _, body := c.Do(http.MethodGet, "/admin/api/jobs/"+failed, "", nil)
	if status != http.StatusOK || !strings.Contains(string(body), job.ID) {
		t.Errorf("first job: status %d, %s; want 200 and the id %s of the new job", status, body, job.ID)
	}
}
