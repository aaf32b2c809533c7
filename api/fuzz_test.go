package api_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// FuzzConversionBodies checks that every body leads to a job or to a 4xx with a JSON body, never to a 5xx.
func FuzzConversionBodies(f *testing.F) {
	const boundary = "\r\n--x\r\nContent-Disposition: form-data; name="
	for _, seed := range []string{
		`{"content":"# Hi","options":{"toc":true},"webhook_url":"https://example.com/a"}`, `{"content":"x","options":{"margins":{"top":"1e9mm"}}}`,
		`{"content":"\ud800","theme":"nord","priority":"bulk"}`, `{"content":"x","webhook_url":"http://[::1%25lo]:0/"}`, strings.Repeat("[", 2000), `{"content":"---\ncss: |\n  a\n---\nx"}`, "# Hi\n",
		boundary + "\"content\"\r\n\r\n# Hi" + boundary + "\"assets\"; filename*=UTF-8''a%00b\r\n\r\nx\r\n--x--", boundary + "\"options\"\r\n\r\n{\"css\":1}\r\n--x--", boundary + "\"options.toc\"\r\n\r\n3\r\n--x",
	} {
		f.Add(seed)
	}
	var archive bytes.Buffer

	files := zip.NewWriter(&archive)
	for name, text := range map[string]string{"index.md": "# Hi\n", "img/a.txt": strings.Repeat("a", 300)} {
		if w, err := files.Create(name); err != nil {
			f.Fatal(err)
		} else if _, err := io.WriteString(w, text); err != nil {
			f.Fatal(err)
		}
	}

	if err := files.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(archive.String())
	h := serve(f)
	f.Fuzz(func(t *testing.T, body string) {
		h.t = t
		for _, media := range []string{"application/json", "multipart/form-data; boundary=x", "text/markdown", "application/zip"} {
			reply := h.do(http.MethodPost, "/api/conversion", strings.NewReader(body), "Content-Type: "+media)
			if !json.Valid(reply.body) ||
				reply.StatusCode != http.StatusAccepted && (reply.StatusCode < 400 || reply.StatusCode >= 500) {
				t.Errorf("%s %q: got %d %.300s, want 202 or a 4xx in JSON", media, body, reply.StatusCode, reply.body)
			}
		}
	})
}
