package studio_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// checkShareLink shares a result and opens the link without a key, before and after the result is deleted.
func checkShareLink(t *testing.T, h *shared) {
	_, p, c := h.open(t)
	pasteText(p, "text/plain", "# For a friend\n")
	convert(p)
	p.Click("Share")
	p.Reads("dialog", "Anyone with the link", "without a key", "on this computer only")
	p.See("#lifetime").MustSelect("1 hour")
	p.Click("Create link")
	p.Reads("dialog .link", "Works until")
	link := p.Eval(`() => document.querySelector("#share-link").value`)

	get := func() (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
		if err != nil {
			t.Fatal(err)
		}

		res, err := c.HTTP.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()

		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}

		return res.StatusCode, string(body)
	}
	if status, body := get(); status != http.StatusOK || !strings.HasPrefix(body, "%PDF-") {
		t.Errorf("%s: status %d, %.100q; want 200 and the PDF", link, status, body)
	}
	p.Click("Delete the result")
	p.Reads(".says", "Expired")

	if status, body := get(); status != http.StatusGone {
		t.Errorf("%s after the result was deleted: status %d, %.100q; want 410", link, status, body)
	}
}
