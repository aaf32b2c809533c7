package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/tasks"
)

func TestHTMLDocumentsAreConverted(t *testing.T) {
	t.Parallel()
	h := serve(t)
	page := "<title>T</title><script>x()</script><h1 id=a>One</h1><p>*two*</p>"
	want := "---\ntitle: \"T\"\n---\n\n# One {#a}\n\n<p>&#42;two&#42;</p>\n\n"

	for name, r := range map[string]reply{
		"body": h.do(http.MethodPost, "/api/conversion?theme=nord", strings.NewReader(page), "Content-Type: text/html"),
		"form": h.form(file("content", "a.html", page)),
	} {
		r.want(t, http.StatusAccepted, "")
		var task tasks.Convert

		if err := json.Unmarshal(h.queue.last().Task.Payload, &task); err != nil || task.Content != want {
			t.Errorf("%s: got the content %q, error %v; want %q", name, task.Content, err, want)
		}
	}
	deep := strings.NewReader(strings.Repeat("<div>", 1000))
	h.do(http.MethodPost, "/api/conversion", deep, "Content-Type: text/html").want(t, 400, fault.InvalidRequest)
	h.form(file("content", "a.docx", "PK")).want(t, 415, fault.UnsupportedMediaType)

	word := "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

	r := h.do(http.MethodPost, "/api/conversion", strings.NewReader("PK"), "Content-Type: "+word)
	if r.want(t, 415, fault.UnsupportedMediaType); !strings.Contains(string(r.body), "text/html, text/markdown") {
		t.Errorf("got %s, want the allowed types in it", r.body)
	}
}

func TestNotebooksAreConverted(t *testing.T) {
	t.Parallel()
	h := serve(t)
	const (
		kind     = "Content-Type: application/x-ipynb+json"
		notebook = `{"nbformat":4,"cells":[{"cell_type":"raw","source":"---\ntheme: nord\n---"},` +
			`{"cell_type":"markdown","source":"# Wells"}]}`
	)

	for name, c := range map[string]struct {
		submit         func() reply
		path, filename string
	}{
		"body": {func() reply {
			return h.do("POST", "/api/conversion?output=html", strings.NewReader(notebook), kind)
		}, "notebook.ipynb", ""},
		"form": {func() reply { return h.form(file("content", "wells.ipynb", notebook)) }, "notebook.ipynb", "wells.pdf"},
		"zip":  {func() reply { return h.archive(zipped(t, nil, "a/wells.ipynb\n"+notebook), "") }, "wells.ipynb", ""},
	} {
		c.submit().want(t, http.StatusAccepted, "")

		sub := h.queue.last()

		task := payload(t, sub)
		if task.Content != notebook || task.Path != c.path || sub.Filename != c.filename || sub.Theme != "nord" {
			t.Errorf("%s: got %+v of %+v; want the notebook as %s, saved as %q", name, task, sub, c.path, c.filename)
		}
	}

	r := h.do("POST", "/api/preview", strings.NewReader(notebook), kind)
	if r.want(t, http.StatusOK, ""); !strings.Contains(string(r.body), "Wells</h1>") {
		t.Errorf("the preview is %s, want the heading Wells", r.body)
	}
	h.do("POST", "/api/analysis", strings.NewReader(notebook), kind).want(t, http.StatusOK, "")

	for name, r := range map[string]reply{
		"Markdown": h.do("POST", "/api/conversion", strings.NewReader("# Hi"), kind),
		"a part":   h.form(file("content", "a.md", "# Hi"), file("content", "b.ipynb", `{"nbformat":3}`)),
	} {
		r.want(t, http.StatusBadRequest, fault.InvalidRequest)

		if !strings.Contains(string(r.body), "notebook") {
			t.Errorf("%s: got %s, want an error with \"notebook\"", name, r.body)
		}
	}
}
