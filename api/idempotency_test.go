package api_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"presswork/api"
	"presswork/internal/fault"
)

func TestIdempotencyKeyReturnsTheSameJob(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.Keys = []string{testKey, "other"} })
	const key = "Idempotency-Key: a-1"
	first := h.post(`{"content":"# Hi","options":{"landscape":true,"scale":1}}`, key)
	first.want(t, http.StatusAccepted, "")
	// The second body is the same JSON in another form.
	again := h.post(`{"options":{"scale":1.0, "landscape":true},"content":"# H\u0069"}`, key)
	again.want(t, http.StatusAccepted, "")
	var a, b struct {
		JobID string `json:"job_id"`
	}
	first.decode(t, &a)
	again.decode(t, &b)

	if a != b || again.Header.Get("Idempotent-Replayed") != "true" || first.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("got the jobs %v and %v, replayed %q; want one job, replayed", a, b,
			again.Header.Get("Idempotent-Replayed"))
	}

	same := h.post(`{"content":"# Hi","output":"pdf","options":{"scale":1,"landscape":true}}`, key)
	if same.StatusCode != http.StatusAccepted || same.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("with the default output: got %d %s, want the job again", same.StatusCode, same.body)
	}
	h.post(`{"content":"# Hi","output":"html","options":{"scale":1,"landscape":true}}`, key).
		want(t, http.StatusConflict, fault.IdempotencyConflict)
	h.post(`{"content":"# Ho"}`, key).want(t, http.StatusConflict, fault.IdempotencyConflict)
	h.post(`{"content":"# Ho"}`, key, "X-API-Key: other").want(t, http.StatusAccepted, "")
	h.post(`{"content":"x"}`, "Idempotency-Key: "+strings.Repeat("x", 256)).want(t, 400, fault.InvalidOption)

	if n := h.queue.count(); n != 2 {
		t.Errorf("%d jobs were submitted, want 2", n)
	}
}

func TestIdempotencyComparesAssetsAndStoresThemOnce(t *testing.T) {
	t.Parallel()
	h := serve(t)
	send := func(data string) reply {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		w.WriteField("content", "# Hi")
		out, _ := w.CreateFormFile("assets", "a.png")
		io.WriteString(out, data)
		w.Close()

		return h.do(http.MethodPost, "/api/conversion", &b, "Content-Type: "+w.FormDataContentType(),
			"Idempotency-Key: k")
	}
	send("one").want(t, http.StatusAccepted, "")
	send("one").want(t, http.StatusAccepted, "")
	send("two").want(t, http.StatusConflict, fault.IdempotencyConflict)
	h.queue.racing = true
	send("one").want(t, http.StatusAccepted, "")
	send("two").want(t, http.StatusConflict, fault.IdempotencyConflict)

	if keys := h.storedKeys(); len(keys) != 1 {
		t.Errorf("the store has %q, want the asset of the first request", keys)
	}
}
