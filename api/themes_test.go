package api_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
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

// renderPreviews answers preview tasks as a worker does. The picture is the payload.
func renderPreviews(h *harness) {
	h.queue.answer = func(t tasks.Task) (any, error) {
		var p tasks.Preview
		if err := json.Unmarshal(t.Payload, &p); err != nil || t.Kind != tasks.RenderPreview.Name {
			h.t.Errorf("got the task %s %s, error %v; want %s", t.Kind, t.Payload, err, tasks.RenderPreview.Name)
			return nil, err
		}
		size := int64(len(t.Payload))
		_, err := h.store.Put(h.t.Context(), p.Key, bytes.NewReader(t.Payload), size, storage.Attrs{})

		return nil, err
	}
}

func TestSimultaneousPreviewsShareOneTask(t *testing.T) {
	t.Parallel()
	h := serve(t)
	renderPreviews(h)
	replies := make([]reply, 8)
	render := h.queue.answer
	allAsked := make(chan struct{})
	h.queue.answer = func(task tasks.Task) (any, error) {
		<-allAsked
		return render(task)
	}

	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() { replies[i] = h.get("/api/themes/nord/preview.png") })
	}
	wait.Until(t, "all callers ask", func() bool { return h.queue.asks.Load() == int64(len(replies)) })
	close(allAsked)
	all.Wait()

	for _, res := range replies {
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "image/png" ||
			!bytes.Contains(res.body, []byte(`"theme":"nord","format":"png"`)) {
			t.Errorf("got %d %s: %s; want the picture of nord", res.StatusCode, res.Header.Get("Content-Type"),
				res.body)
		}
	}

	if n := h.queue.runs.Load(); n != 1 {
		t.Errorf("%d tasks ran, want 1", n)
	}

	tag := replies[0].Header.Get("ETag")

	res := h.get("/api/themes/nord/preview.png", "If-None-Match: "+tag)
	if res.StatusCode != http.StatusNotModified || len(res.body) > 0 {
		t.Errorf("If-None-Match %s: got %d, want 304", tag, res.StatusCode)
	}

	other := h.get("/api/themes/dark/preview.png")
	if other.StatusCode != http.StatusOK || other.Header.Get("ETag") == tag {
		t.Errorf("another theme: got %d, ETag %s; want another ETag", other.StatusCode, other.Header.Get("ETag"))
	}

	res = h.get("/api/themes/nord/preview.pdf")
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/pdf" {
		t.Errorf("PDF: got %d %s, want application/pdf", res.StatusCode, res.Header.Get("Content-Type"))
	}

	if res := h.get("/api/conversion"); !bytes.Contains(res.body, []byte(`"data":[]`)) {
		t.Errorf("a preview is listed among the jobs: %s", res.body)
	}
}

func TestThemePreviewWithoutAWorkerTimesOut(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.PreviewWait = 3 * time.Second })
	res := h.get("/api/themes/nord/preview.pdf")
	res.want(t, http.StatusServiceUnavailable, "queue_unavailable")

	if res.Header.Get("Retry-After") == "" || res.Header.Get("ETag") != "" {
		t.Errorf("the headers are %v, want Retry-After and no ETag", res.Header)
	}
	h.get("/api/themes/nrod/preview.png").want(t, http.StatusNotFound, fault.ThemeNotFound)
	h.queue.submitErr = fault.Errorf(fault.QueueFull, "10 jobs are waiting already")
	h.get("/api/themes/dark/preview.png").want(t, http.StatusTooManyRequests, "queue_full")
	h.key = ""
	h.get("/api/themes/nord/preview.png").want(t, http.StatusUnauthorized, "invalid_api_key")
}

func TestFailedThemePreviewIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.PreviewWait = time.Hour })
	h.queue.answer = func(tasks.Task) (any, error) {
		return nil, fault.Errorf(fault.RenderFailed, "the browser failed")
	}
	h.get("/api/themes/nord/preview.png").want(t, http.StatusUnprocessableEntity, fault.RenderFailed)
}

func TestChangedThemeGetsAnotherPreview(t *testing.T) {
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
		renderPreviews(h)

		return h.get("/api/themes/own/preview.png").Header.Get("ETag")
	}

	first, again, changed := tagOf("#102030"), tagOf("#102030"), tagOf("#302010")
	if first == "" || first != again || first == changed {
		t.Errorf("the ETags are %s, %s and %s; want the third to differ", first, again, changed)
	}
}

// contains fails the test unless the body contains each text.
func (r reply) contains(t *testing.T, texts ...string) {
	t.Helper()

	for _, text := range texts {
		if !bytes.Contains(r.body, []byte(text)) {
			t.Errorf("status %d: the body lacks %s: %.300s", r.StatusCode, text, r.body)
		}
	}
}

// pixel returns a PNG of one pixel.
func pixel(t *testing.T) []byte {
	t.Helper()

	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

func TestThemesAreListed(t *testing.T) {
	t.Parallel()
	h := serve(t)
	var list struct {
		Default string
		Count   int
		Themes  []map[string]any
	}
	h.get("/api/themes").decode(t, &list)

	if list.Default != "light" || list.Count != len(list.Themes) || list.Count != 35 {
		t.Errorf("the default is %s, with %d of %d themes; want light, with 35", list.Default, len(list.Themes),
			list.Count)
	}
	res := h.get("/api/themes/nord")
	res.want(t, http.StatusOK, "")

	if !strings.Contains(string(res.body), `"name":"nord"`) {
		t.Errorf("got %s, want the theme nord", res.body)
	}
}

func TestTheListOfThemesHasTheLimitsOfAConversion(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.MaxContentBytes, o.MaxUploadBytes = 2000, 3000 })

	const want = `"limits":{"content_bytes":2000,"upload_bytes":3000,"files":200}`
	if body := string(h.get("/api/themes").body); !strings.Contains(body, want) {
		t.Errorf("no %s in %.200s", want, body)
	}
}
