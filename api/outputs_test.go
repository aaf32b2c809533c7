package api_test

import (
	"net/http"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/fault"
)

// TestOutputIsNamedOrAcceptedByItsType also checks that HTML results have a policy that sandboxes them.
func TestOutputIsNamedOrAcceptedByItsType(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		body   string
		header string
		want   presswork.Output
		waits  bool // for the file, instead of the accepted job
	}{
		{`{"content":"# Hi","output":"html"}`, "Accept: application/json", presswork.HTML, false},
		{`{"content":"# Hi","output":"html"}`, "Accept: text/html", presswork.HTML, true},
		{`{"content":"# Hi"}`, "Accept: text/html", presswork.HTML, true},
		{`{"content":"# Hi","output":"html"}`, wantsPDF, presswork.HTML, false},
		{`{"content":"# Hi","output":"pdf"}`, wantsPDF, presswork.PDF, true},
		{`{"content":"# Hi"}`, "Accept: text/html, */*;q=0.8", "", false},
	} {
		t.Run(c.body+" "+c.header, func(t *testing.T) {
			h := serve(t)
			if c.waits {
				h.finishNext(c.want.ContentType(), []byte("the file"))
			}

			r := h.post(c.body, c.header)
			if got := payload(t, h.queue.last()).Output; got != c.want {
				t.Errorf("the output is %q, want %q", got, c.want)
			}

			if !c.waits {
				r.want(t, http.StatusAccepted, "")
				return
			}

			sandboxed := strings.HasPrefix(r.Header.Get("Content-Security-Policy"), "sandbox;")
			if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != c.want.ContentType() ||
				sandboxed != (c.want == presswork.HTML) {
				t.Errorf("got %d %v, want 200 as %s", r.StatusCode, r.Header, c.want.ContentType())
			}
		})
	}

	h := serve(t)

	e := h.post(`{"content":"# Hi","output":"docx"}`).want(t, http.StatusBadRequest, fault.InvalidOption)
	if e["param"] != "output" {
		t.Errorf("the error is %v, want the parameter output", e)
	}

	e = h.post(`{"content":"# Hi","output":"html","options":{"password":"secret"}}`).
		want(t, http.StatusBadRequest, fault.InvalidOption)
	if e["param"] != "options.password" {
		t.Errorf("the error is %v, want the parameter options.password", e)
	}
}
