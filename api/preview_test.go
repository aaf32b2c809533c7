package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/api"
	"presswork/internal/analysis/finding"
	"presswork/internal/fault"
	"presswork/internal/markdown/diagram"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// drawDiagrams answers a task as a worker does. Each picture contains its source.
func drawDiagrams(h *harness, task tasks.Task) (d tasks.Drawing, pictures []diagram.Picture) {
	if err := json.Unmarshal(task.Payload, &d); err != nil || task.Kind != tasks.DrawDiagrams.Name {
		h.t.Errorf("got the task %s %s, error %v; want %s", task.Kind, task.Payload, err, tasks.DrawDiagrams.Name)
		return d, nil
	}

	for _, source := range d.Sources {
		if strings.Contains(source, "wrong") {
			pictures = append(pictures, diagram.Picture{Problem: "it is wrong"})
			continue
		}
		pictures = append(
			pictures,
			diagram.Picture{
				SVG: fmt.Sprintf(`<svg width="1" height="1"><title>%s</title></svg>`, strings.TrimSpace(source)),
			},
		)
	}

	return d, pictures
}

// mermaidBlock returns a code block with a diagram.
func mermaidBlock(source string) string { return "```mermaid\n" + source + "\n```\n\n" }

// preview requests the preview of a Markdown document.
func (h *harness) preview(markdown string) reply {
	h.t.Helper()
	return h.do(http.MethodPost, "/api/preview", strings.NewReader(markdown), "Content-Type: text/markdown")
}

func TestPreviewDiagramsAreDrawnByAWorker(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.queue.workers = 1
	seen := make(chan tasks.Drawing, 9)
	h.queue.answer = func(task tasks.Task) (any, error) {
		d, pictures := drawDiagrams(h, task)
		seen <- d

		return pictures, nil
	}
	// The server keeps drawn diagrams and retries failed ones.
	for _, want := range []string{"one\n|wrong\n|two\n", "wrong\n"} {
		res := h.preview(mermaidBlock("one") + mermaidBlock("wrong") + mermaidBlock("one") + mermaidBlock("two"))
		res.want(t, http.StatusOK, "")
		res.contains(t, "<svg", "<title>one</title>", "<title>two</title>", "<code", "wrong")

		if n := bytes.Count(res.body, []byte("<title>one</title>")); n != 2 {
			t.Errorf("a diagram that occurs twice is in the page %d times, want 2", n)
		}

		d := <-seen
		if got := strings.Join(d.Sources, "|"); got != want || d.Style.Page == "" {
			t.Errorf("the task has the sources %q and the style %+v, want %q and a page colour", got, d.Style, want)
		}
	}
	large := strings.Repeat("x", diagram.MaxSource-10)
	res := h.preview(mermaidBlock("three"+large) + mermaidBlock("four"+large))
	res.contains(t, "<title>three", "four")

	if d := <-seen; len(d.Sources) != 1 || bytes.Contains(res.body, []byte("<title>four")) {
		t.Errorf("the task has %d large diagrams, want 1", len(d.Sources))
	}
}

func TestPreviewWithoutAWorker(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		change func(*fakeQueue)
		wait   time.Duration
		asks   int64
	}{
		"no worker":      {func(q *fakeQueue) { q.workers = 0 }, time.Hour, 0},
		"a full queue":   {func(q *fakeQueue) { q.submitErr = fault.Errorf(fault.QueueFull, "full") }, time.Hour, 0},
		"a worker hangs": {func(*fakeQueue) {}, 200 * time.Millisecond, 1},
		"a worker fails": {func(q *fakeQueue) {
			q.answer = func(tasks.Task) (any, error) { return nil, fault.Errorf(fault.RenderFailed, "no worker can") }
		}, time.Hour, 1},
		"queue is down": {func(q *fakeQueue) { q.submitErr = fault.Errorf(fault.QueueUnavailable, "down") }, time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := serve(t, func(o *api.Options) { o.DrawWait = tc.wait })
			h.queue.workers = 1
			tc.change(h.queue)
			res := h.preview("# Hi\n\n" + mermaidBlock("one"))
			res.want(t, http.StatusOK, "")
			res.contains(t, "<code", "one")

			if bytes.Contains(res.body, []byte("<svg")) || h.queue.asks.Load() != tc.asks {
				t.Errorf("%d tasks were asked, want %d; the page is %s, want no picture", h.queue.asks.Load(),
					tc.asks, res.body)
			}

			strict := h.do(http.MethodPost, "/api/preview",
				strings.NewReader(`{"content":"`+"```mermaid\\none\\n```"+`","options":{"strict":true}}`),
				"Content-Type: application/json")
			strict.want(t, http.StatusUnprocessableEntity, fault.StrictFindings)

			if !bytes.Contains(strict.body, []byte("no worker")) {
				t.Errorf("strict: got %s, want an error with \"no worker\"", strict.body)
			}
		})
	}
}

// TestWaitingPreviewFreesItsSlot is not parallel: it needs as many waiting previews as the machine has CPUs.
func TestWaitingPreviewFreesItsSlot(t *testing.T) {
	h := serve(t, func(o *api.Options) { o.DrawWait = time.Hour })
	h.queue.workers = 1
	proceed := make(chan struct{}) // closed when the diagrams may be drawn

	release := sync.OnceFunc(func() { close(proceed) })
	defer release()
	h.queue.answer = func(task tasks.Task) (any, error) {
		<-proceed
		_, pictures := drawDiagrams(h, task)

		return pictures, nil
	}

	var all sync.WaitGroup
	for i := range runtime.NumCPU() {
		all.Go(func() { h.preview(mermaidBlock(fmt.Sprint("wait", i))).contains(t, "<svg") })
	}

	wait.Until(t, "every preview asks a worker", func() bool {
		return h.queue.asks.Load() == int64(runtime.NumCPU())
	})
	h.preview("# Hi").want(t, http.StatusOK, "")
	release()
	all.Wait()
}

func TestPreviewOfADocument(t *testing.T) {
	t.Parallel()
	h := serve(t)
	preview := func(kind, body string) reply {
		t.Helper()
		return h.do(http.MethodPost, "/api/preview", strings.NewReader(body), "Content-Type: "+kind)
	}
	res := preview(
		"application/json",
		`{"content":"# Hi <script>alert(1)</script>","theme":"nord","options":{"title":"T"}}`,
	)
	res.want(t, http.StatusOK, "")
	res.contains(t, "<title>T</title>", `data-theme="nord"`)

	if bytes.Contains(res.body, []byte("<script")) {
		t.Error("a script is in the page")
	}

	policy := res.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "sandbox; default-src 'none'") ||
		!strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the headers are %v, want HTML in a sandbox", res.Header)
	}
	preview("text/markdown", "---\ntheme: dark\n---\nHi").contains(t, `data-theme="dark"`)

	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("content", "![one](img/a.png)")

	part, err := w.CreateFormFile("assets[img/a.png]", "a.png")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write(pixel(t))
	_ = w.Close()
	preview(w.FormDataContentType(), form.String()).contains(t, `src="data:image/png;base64,`)

	for body, code := range map[string]fault.Code{
		`{"content":""}`:                                        "content_empty",
		`{"content":"x","theme":"nrod"}`:                        "theme_not_found",
		`{"content":"x","optoins":{}}`:                          "unknown_field",
		`{"content":"x","options":{"page_size":"A9"}}`:          "invalid_option",
		`{"content":"x","webhook_url":"https://example.com/x"}`: "unknown_field",
		`{"content":"---\ntitle: [\n---\ny"}`:                   "front_matter_invalid",
	} {
		preview("application/json", body).want(t, http.StatusBadRequest, code)
	}

	if n := h.queue.count(); n > 0 {
		t.Errorf("%d jobs were submitted, want none", n)
	}
}

func TestAnalysisOfADocument(t *testing.T) {
	t.Parallel()
	h := serve(t)
	const recipe = "# Pancakes\n\nServes 4.\n\n## Ingredients\n\n- 200 g flour\n- 2 eggs\n- 300 ml milk\n- a pinch of salt\n\n## Method\n\n" +
		"1. Whisk the eggs and the milk.\n2. Stir in the flour and the salt.\n3. Rest the batter for half an hour.\n4. Fry in butter over medium heat until golden.\n"

	body, err := json.Marshal(map[string]string{"content": recipe})
	if err != nil {
		t.Fatal(err)
	}
	res := h.do("POST", "/api/analysis", bytes.NewReader(body), "Content-Type: application/json")

	var a finding.Analysis
	if err := json.Unmarshal(res.body, &a); err != nil || res.StatusCode != 200 {
		t.Fatalf("got %d %s, want 200 and an analysis", res.StatusCode, res.body)
	}

	if a.DocumentType != "recipe" || a.Language != "en" || a.ReadingMinutes != 1 ||
		len(a.Recommendation.Alternatives) != 2 || len(a.Keywords) == 0 {
		t.Errorf("got %s, want an English recipe with two alternatives and keywords", res.body)
	}

	plain := h.do("POST", "/api/analysis", strings.NewReader(recipe), "Content-Type: text/markdown")
	if string(plain.body) != string(res.body) {
		t.Errorf("as text/markdown: got %s, want %s as for JSON", plain.body, res.body)
	}

	for body, want := range map[string]string{
		`{"content":""}`:                       `"content_empty"`,
		`{"content":"x","theme":"nord"}`:       `"unknown_field"`,
		`{"content":"x","options":{"toc":9}}`:  `"param":"options`,
		`{"contents":"x"}`:                     "did you mean",
		`{"content":"---\ntoc: [\n---\nText"}`: `"front_matter_invalid"`,
	} {
		t.Run(body, func(t *testing.T) {
			res := h.do("POST", "/api/analysis", strings.NewReader(body), "Content-Type: application/json")
			if res.StatusCode != 400 || !strings.Contains(string(res.body), want) {
				t.Errorf("got %d %s, want 400 with %s", res.StatusCode, res.body, want)
			}
		})
	}
}

func TestAPreviewAsJSONHasItsWarnings(t *testing.T) {
	t.Parallel()
	h := serve(t)

	const source = "---\nscale: 9\n---\n# Hi\n"
	res := h.do(
		"POST",
		"/api/preview",
		strings.NewReader(source),
		"Content-Type: text/markdown",
		"Accept: application/json",
	)
	res.want(t, http.StatusOK, "")
	var got struct {
		Page     string
		Warnings []fault.Warning
	}

	err := json.Unmarshal(res.body, &got)
	if err != nil || !strings.Contains(got.Page, `data-line="4">Hi</h1>`) || len(got.Warnings) != 1 ||
		got.Warnings[0].Line != 2 {
		t.Errorf("got %s, error %v; want the heading of line 4 and a warning for line 2", res.body, err)
	}

	for _, accept := range []string{"*/*", "text/html", "text/html, application/json;q=0.5"} {
		res := h.do("POST", "/api/preview", strings.NewReader(source), "Content-Type: text/markdown", "Accept: "+accept)
		if kind := res.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" {
			t.Errorf("Accept: %s: got the type %q, want text/html; charset=utf-8", accept, kind)
		}
	}
}
