package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"

	"presswork"
	"presswork/api"
	"presswork/internal/fault"
	"presswork/tasks"
)

// postPDF sends a form to /api/pdf.
func (h *harness) postPDF(operation string, parts []part, headers ...string) reply {
	h.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)

	for _, p := range parts {
		out, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {p.disposition}})
		if err != nil {
			h.t.Fatal(err)
		}
		io.WriteString(out, p.data)
	}
	w.Close()

	return h.do("POST", "/api/pdf/"+operation, &b, append(headers, "Content-Type: "+w.FormDataContentType())...)
}

func TestPDFOperationBecomesAJob(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.finishNext("application/pdf", []byte("%PDF-result"))

	r := h.postPDF("stamp", []part{
		file("file", "C:\\docs\\report.pdf", "%PDF-one"), file("mark", "logo.png", "PNG"),
		field("options", `{"pages":"1-2","opacity":0.5}`),
	})
	if r.StatusCode != 200 || string(r.body) != "%PDF-result" || r.Header.Get("x-job-id") == "" {
		t.Fatalf("got %d %s, want the result with its job id", r.StatusCode, r.body)
	}
	sub := h.queue.last()
	var task tasks.PDFEdit

	if err := json.Unmarshal(sub.Task.Payload, &task); err != nil {
		t.Fatal(err)
	}

	if sub.Kind != presswork.KindPDF || sub.Task.Queue != tasks.Render || task.Operation != "stamp" ||
		task.Keep != 600 || task.Options.Pages != "1-2" || *task.Options.Opacity != 0.5 ||
		len(task.Files) != 1 || task.Mark == nil {
		t.Fatalf("got %+v of %+v, want the operation, the options and the files of the form", task, sub)
	}

	source, mark := h.stored(task.Files[0].Key), h.stored(task.Mark.Key)
	if string(source) != "%PDF-one" || string(mark) != "PNG" || task.Files[0].Name != "report.pdf" {
		t.Errorf("stored %q as %s, and the mark %q; want the files of the form", source, task.Files[0].Name, mark)
	}
}

func TestPDFOperationCanBeFetchedLater(t *testing.T) {
	t.Parallel()
	h := serve(t)
	parts := []part{file("file", "a.pdf", "%PDF-a"), file("file", "b.pdf", "%PDF-b")}

	r := h.postPDF("merge", parts, "Prefer: respond-async", "Idempotency-Key: k")
	if r.StatusCode != 202 || r.Header.Get("Preference-Applied") != "respond-async" {
		t.Fatalf("got %d %s, want 202 and the applied preference", r.StatusCode, r.body)
	}
	var task tasks.PDFEdit

	err := json.Unmarshal(h.queue.last().Task.Payload, &task)
	if err != nil || task.Keep != 0 || len(task.Files) != 2 || task.Files[0].Name != "a.pdf" {
		t.Errorf("got %+v, %v; want both files in their order", task, err)
	}
}

func TestPreferSetsTheWaitForAPDFOperation(t *testing.T) {
	t.Parallel()

	for prefer, want := range map[string]int{
		"wait=20": 200, "respond-async, wait=20": 200, "wait=1": 202, "wait=0": 202,
	} {
		t.Run(prefer, func(t *testing.T) {
			t.Parallel()

			h := serve(t)
			if want == 200 {
				h.finishNext("text/plain", []byte("the text"))
			}
			r := h.postPDF("text", []part{file("file", "a.pdf", "%PDF-a")}, "Prefer: "+prefer)

			id := h.queue.last().ID
			if r.StatusCode != want || (r.Header.Get("Location") == "/api/conversion/"+id) != (want == 202) ||
				(r.Header.Get("Content-Location") != "") != (want == 200) {
				t.Errorf("got status %d, headers %v and %s; want %d and the address of its result", r.StatusCode,
					r.Header, r.body, want)
			}

			// The caller fetches the result later, so it stays as long as others do.
			var task tasks.PDFEdit
			if err := json.Unmarshal(h.queue.last().Task.Payload, &task); err != nil || task.Keep != 0 {
				t.Errorf("got a result kept for %d s, error %v; want the default, 0", task.Keep, err)
			}
		})
	}
}

func TestAPDFRequestWithAKeyIsRepeatedOnce(t *testing.T) {
	t.Parallel()
	h := serve(t)
	parts := []part{file("file", "a.pdf", "%PDF-a"), field("webhook_url", "https://example.com/hook")}
	headers := []string{"Idempotency-Key: k", "Prefer: respond-async"}

	h.postPDF("text", parts, headers...).want(t, 202, "")
	sub := h.queue.last()

	if sub.WebhookURL != "https://example.com/hook" {
		t.Errorf("got the webhook %q, want https://example.com/hook", sub.WebhookURL)
	}

	if r := h.postPDF("text", parts, headers...); r.StatusCode != 202 ||
		r.Header.Get("Idempotent-Replayed") != "true" || h.queue.last().ID != sub.ID {
		t.Errorf("repeated: got status %d and %s, want 202 and a replay of job %s", r.StatusCode, r.body, sub.ID)
	}
	h.postPDF("info", parts, headers...).want(t, 409, fault.IdempotencyConflict)

	if keys := h.storedKeys(); len(keys) != 1 {
		t.Errorf("got the stored files %v, want only the first", keys)
	}
}

func TestInvalidPDFRequestsAreRejected(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.MaxUploadBytes = 1000 })
	pdf := file("file", "a.pdf", "%PDF-a")

	for name, c := range map[string]struct {
		operation string
		parts     []part
		status    int
		code      fault.Code
		param     string
	}{
		"unknown operation": {"crop", []part{pdf}, 404, fault.NotFound, ""},
		"no file":           {"rotate", []part{field("options", `{"degrees":90}`)}, 400, fault.InvalidRequest, ""},
		"two for rotate":    {"rotate", []part{pdf, pdf, field("options", `{"degrees":90}`)}, 400, fault.InvalidRequest, ""},
		"bad option":        {"rotate", []part{pdf, field("options", `{"degrees":45}`)}, 400, fault.InvalidOption, "options.degrees"},
		"unknown option":    {"rotate", []part{pdf, field("options", `{"degree":90}`)}, 400, fault.UnknownField, "options.degree"},
		"unknown field":     {"rotate", []part{pdf, field("pages", "1")}, 400, fault.UnknownField, "pages"},
		"two marks":         {"stamp", []part{pdf, file("mark", "a", "x"), file("mark", "b", "x")}, 400, fault.InvalidType, "mark"},
		"too large":         {"text", []part{file("file", "a.pdf", strings.Repeat("x", 1001))}, 413, fault.ContentTooLarge, "file"},
		"bad webhook":       {"text", []part{pdf, field("webhook_url", "ftp://x")}, 400, fault.WebhookInvalid, "webhook_url"},
	} {
		t.Run(name, func(t *testing.T) {
			r := h.postPDF(c.operation, c.parts)

			var got struct{ Error fault.Error }

			err := json.Unmarshal(r.body, &got)
			if err != nil || r.StatusCode != c.status || got.Error.Code != c.code || got.Error.Param != c.param {
				t.Errorf("got %d %s, %v; want %d, %s of %q", r.StatusCode, r.body, err, c.status, c.code, c.param)
			}
		})
	}

	if keys := fmt.Sprint(h.storedKeys()); keys != "[]" {
		t.Errorf("rejected requests stored %s", keys)
	}
}
