package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks"
)

// fail submits a form and fails its job.
func (h *harness) fail(t *testing.T, content string) string {
	t.Helper()
	res := h.form(
		file("content", "README.md", content), field("theme", "nord"),
		field("options", `{"cover":true,"password":"pass"}`), file("assets", "a.png", "PNG"),
	)
	res.want(t, http.StatusAccepted, "")
	var job struct {
		ID string `json:"job_id"`
	}
	res.decode(t, &job)
	h.queue.emit(job.ID, presswork.Event{
		Type: presswork.EventFailed, Status: presswork.Failed, Stage: presswork.StageDone,
		Error: fault.Errorf(fault.RenderFailed, "no"),
	})

	return job.ID
}

func TestADeadLetterIsRetriedWithChanges(t *testing.T) {
	t.Parallel()
	h := serve(t)
	long := strings.Repeat("word ", tasks.InlineLimit/5+1)
	id := h.fail(t, "# One\n\n"+long)

	res := h.get("/admin/api/jobs/" + id + "/input")
	res.want(t, http.StatusOK, "")
	var input struct {
		Content, Theme, Output string
		Options                map[string]any
		Files                  []string
	}
	res.decode(t, &input)

	if !strings.HasPrefix(input.Content, "# One") || input.Theme != "nord" || input.Output != "pdf" ||
		input.Options["cover"] != true || input.Options["password"] != nil || !slices.Equal(input.Files, []string{"a.png"}) {
		t.Errorf("got the input %s, want that of the first job without its password", res.body)
	}

	for name, row := range map[string]struct {
		change string
		want   func(p tasks.Convert, content string) bool
	}{
		"nothing": {`{}`, func(p tasks.Convert, content string) bool {
			return p.Theme == "nord" && *p.Options.Cover && strings.HasPrefix(content, "# One")
		}},
		"theme and options": {`{"theme":"light","options":{"toc":2}}`, func(p tasks.Convert, _ string) bool {
			return p.Theme == "light" && p.Options.Cover == nil && p.Options.TOC != nil
		}},
		"short content": {`{"content":"# Two\n"}`, func(p tasks.Convert, content string) bool {
			return p.ContentKey == "" && content == "# Two\n"
		}},
		"long content": {`{"content":"` + "# Three " + long + `"}`, func(p tasks.Convert, content string) bool {
			return strings.HasPrefix(p.ContentKey, "sources/"+id+"/") && strings.HasPrefix(content, "# Three")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			res := h.do(
				http.MethodPost,
				"/admin/api/jobs/"+id+"/retry",
				strings.NewReader(row.change),
				"Content-Type: application/json",
			)
			res.want(t, http.StatusAccepted, "")
			var got struct {
				JobID string `json:"job_id"`
			}
			res.decode(t, &got)
			p := payload(t, h.submission(got.JobID))

			if p.Options.Password != "pass" || len(p.Assets) != 1 || !row.want(p, h.content(p)) {
				t.Errorf("got the new job %+v, want the changed field, the password and one file", p)
			}
		})
	}
}

func TestInvalidChangesOfADeadLetterAreRejected(t *testing.T) {
	t.Parallel()
	h := serve(t)
	id := h.fail(t, "# One\n")
	open := h.submit().JobID

	for name, row := range map[string]struct {
		id, change string
		status     int
		code       fault.Code
	}{
		"unknown theme":  {id, `{"theme":"nrod"}`, 400, fault.ThemeNotFound},
		"invalid option": {id, `{"options":{"scale":9}}`, 400, fault.InvalidOption},
		"unknown field":  {id, `{"owner":"ann"}`, 400, fault.UnknownField},
		"invalid matter": {id, `{"content":"---\ntitle: [\n---\n# A\n"}`, 400, fault.FrontMatterInvalid},
		"open job":       {open, `{}`, 409, fault.JobFinished},
		"unknown job":    {tasks.NewID(), `{}`, 404, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			h.do(
				http.MethodPost,
				"/admin/api/jobs/"+row.id+"/retry",
				strings.NewReader(row.change),
				"Content-Type: application/json",
			).want(t, row.status, row.code)
		})
	}
}

// content returns the content of a payload.
func (h *harness) content(p tasks.Convert) string {
	if p.ContentKey == "" {
		return p.Content
	}

	return string(h.stored(p.ContentKey))
}

// submission returns the submission of a job.
func (h *harness) submission(id string) tasks.Submission {
	h.queue.mu.Lock()
	defer h.queue.mu.Unlock()
	i := slices.IndexFunc(h.queue.submissions, func(s tasks.Submission) bool { return s.ID == id })

	return h.queue.submissions[i]
}
