package api_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/tasks"
	"presswork/themes"
)

// studio answers preview tasks as a worker does, with the payload as the
// picture.
func studio(h *house) {
	h.queue.answer = func(t tasks.Task) (any, error) {
		var p tasks.Preview
		if err := json.Unmarshal(t.Payload, &p); err != nil || t.Kind != tasks.RenderPreview.Name {
			h.t.Errorf("task %s %s: %v", t.Kind, t.Payload, err)
			return nil, err
		}
		size := int64(len(t.Payload))
		_, err := h.store.Put(h.t.Context(), p.Key, bytes.NewReader(t.Payload), size, storage.Attrs{})

		return nil, err
	}
}

func TestManyWhoAskForAPreviewShareOneTask(t *testing.T) {
	t.Parallel()
	h := serve(t)
	studio(h)
	replies := make([]reply, 8)
	render := h.queue.answer
	h.queue.answer = func(task tasks.Task) (any, error) {
		// The first one lasts until all have asked.
		for deadline := time.Now().Add(wait.Patience); h.queue.asks.Load() < int64(len(replies)); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Error("not all callers ask")
				break
			}
		}

		return render(task)
	}

	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() { replies[i] = h.get("/api/themes/nord/preview.png") })
	}
	all.Wait()

	for _, res := range replies {
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "image/png" ||
			!bytes.Contains(res.body, []byte(`"theme":"nord","format":"png"`)) {
			t.Errorf("%d %s: %s", res.StatusCode, res.Header.Get("Content-Type"), res.body)
		}
	}

	if n := h.queue.runs.Load(); n != 1 {
		t.Errorf("%d tasks", n)
	}

	tag := replies[0].Header.Get("ETag")
	if res := h.get(
		"/api/themes/nord/preview.png",
		"If-None-Match: "+tag,
	); res.StatusCode != http.StatusNotModified ||
		len(res.body) > 0 {
		t.Errorf("If-None-Match %s: %d", tag, res.StatusCode)
	}

	other := h.get("/api/themes/dark/preview.png")
	if other.StatusCode != http.StatusOK || other.Header.Get("ETag") == tag {
		t.Errorf("another theme: %d, ETag %s", other.StatusCode, other.Header.Get("ETag"))
	}

	if res := h.get(
		"/api/themes/nord/preview.pdf",
	); res.StatusCode != http.StatusOK ||
		res.Header.Get("Content-Type") != "application/pdf" {
		t.Errorf("PDF: %d %s", res.StatusCode, res.Header.Get("Content-Type"))
	}

	if res := h.get("/api/conversion"); !bytes.Contains(res.body, []byte(`"data":[]`)) {
		t.Errorf("a preview is listed among the jobs: %s", res.body)
	}
}

func TestAPreviewThatNobodyRenders(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.PreviewWait = 3 * time.Second })
	res := h.get("/api/themes/nord/preview.pdf")
	res.want(t, http.StatusServiceUnavailable, "queue_unavailable")

	if res.Header.Get("Retry-After") == "" || res.Header.Get("ETag") != "" {
		t.Errorf("headers %v", res.Header)
	}
	h.get("/api/themes/nrod/preview.png").want(t, http.StatusNotFound, fault.ThemeNotFound)
	h.queue.refuse = fault.Errorf(fault.QueueFull, "10 jobs are waiting already")
	h.get("/api/themes/dark/preview.png").want(t, http.StatusTooManyRequests, "queue_full")
	h.key = ""
	h.get("/api/themes/nord/preview.png").want(t, http.StatusUnauthorized, "invalid_api_key")
}

func TestAPreviewThatFailsAnswersAtOnce(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.PreviewWait = time.Hour })
	h.queue.answer = func(tasks.Task) (any, error) {
		return nil, fault.Errorf(fault.RenderFailed, "the browser failed")
	}
	h.get("/api/themes/nord/preview.png").want(t, http.StatusUnprocessableEntity, fault.RenderFailed)
}

func TestAChangedThemeGetsAnotherPreview(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(primary string) {
		t.Helper()

		css := ":root{--primary:" + primary + ";--base-100:#ffffff;--base-content:#000000}"
		if err := os.WriteFile(filepath.Join(dir, "own.css"), []byte(css), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tagOf := func(primary string) string {
		t.Helper()
		write(primary)
		h := serve(t, func(o *api.Options) {
			catalogue := themes.Open(themes.Options{Dir: dir})
			o.Themes = catalogue
		})
		studio(h)

		return h.get("/api/themes/own/preview.png").Header.Get("ETag")
	}

	first, again, changed := tagOf("#102030"), tagOf("#102030"), tagOf("#302010")
	if first == "" || first != again || first == changed {
		t.Errorf("ETags %s, %s, %s", first, again, changed)
	}
}

// holds fails the test unless the body holds each text.
func (r reply) holds(t *testing.T, texts ...string) {
	t.Helper()

	for _, text := range texts {
		if !bytes.Contains(r.body, []byte(text)) {
			t.Errorf("%d, without %s: %.300s", r.StatusCode, text, r.body)
		}
	}
}

// pixel is the smallest of pictures.
func pixel(t *testing.T) []byte {
	t.Helper()

	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
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
	res.holds(t, "<title>T</title>", `data-theme="nord"`)

	if bytes.Contains(res.body, []byte("<script")) {
		t.Error("a script is in the page")
	}

	if policy := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "sandbox; default-src 'none'") ||
		!strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		t.Errorf("headers %v", res.Header)
	}
	preview("text/markdown", "---\ntheme: dark\n---\nHi").holds(t, `data-theme="dark"`)

	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("content", "![one](img/a.png)")

	part, err := w.CreateFormFile("assets[img/a.png]", "a.png")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write(pixel(t))
	_ = w.Close()
	preview(w.FormDataContentType(), form.String()).holds(t, `src="data:image/png;base64,`)

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
		t.Errorf("%d jobs were submitted", n)
	}
}
