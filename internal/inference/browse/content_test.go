package browse_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

	"presswork/internal/inference/browse"
)

func TestCharacterSets(t *testing.T) {
	t.Parallel()
	latin, _ := charmap.ISO8859_1.NewEncoder().String("Größe")
	shift, _ := japanese.ShiftJIS.NewEncoder().String("日本語のページ")

	site := serve(t, map[string]http.HandlerFunc{
		"/declared":   page("text/html; charset=iso-8859-1", "<p>"+latin),
		"/meta":       page("text/html", `<meta charset="shift_jis"><p>`+shift),
		"/mark":       page("text/plain", "\xff\xfeG\x00r\x00\xf6\x00"),
		"/wrong":      page("text/html; charset=utf-8", "<p>"+latin),
		"/unknown":    page("text/html; charset=klingon", "<p>Größe"),
		"/undeclared": page("", "plain words"),
		"/json":       page("application/problem+json", `{"a": "Größe"}`),
		"/feed":       page("application/rss+xml", "<rss><title>Größe</title></rss>"),
	})
	for path, want := range map[string]string{
		"/declared": "Größe", "/meta": "日本語のページ", "/mark": "Grö", "/wrong": "Gr\uFFFD\uFFFDe", "/unknown": "Größe", "/undeclared": "plain words", "/json": `{"a": "Größe"}`,
		"/feed": "<rss><title>Größe</title></rss>",
	} {
		t.Run(path, func(t *testing.T) {
			got := body(t, open(t, browser(t, site, nil).Session(), site.url(path)))
			if got != want && strings.ReplaceAll(got, "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
				t.Errorf("%s: %q", path, got)
			}
		})
	}
}

func TestScriptsAreRunWhereThereIsNoTextWithout(t *testing.T) {
	t.Parallel()
	site := serve(t, map[string]http.HandlerFunc{
		"/app":   htmlPage(`<div id=root></div><script>render()</script>`),
		"/short": htmlPage(`<p>Short, and whole.`),
		"/long":  htmlPage("<p>" + strings.Repeat("Words enough. ", 50) + "<script>more()</script>"),
		"/stays": htmlPage(`<noscript>Please enable JavaScript.</noscript><script>x()</script>`),
	})
	rendered := ""

	session := browser(t, site, func(o *browse.Options) {
		o.Render = func(_ context.Context, address string) (string, string, error) {
			rendered += address
			if strings.HasSuffix(address, "/stays") {
				return "", "", errors.New("no browser")
			}

			return "<title>App</title><noscript>off</noscript><h1>Made by scripts</h1>", address + "/final", nil
		}
	}).Session()

	r := open(t, session, site.url("/app"))
	if body(t, r) != "# Made by scripts" || r.Pages[0].URL != site.url("/app/final") || r.Pages[0].Title != "App" {
		t.Errorf("%+v", r)
	}

	for path, want := range map[string]string{"/short": "Short, and whole.", "/stays": "Please enable JavaScript."} {
		if r := open(t, session, site.url(path)); body(t, r) != want {
			t.Errorf("%s: %+v", path, r)
		}
	}
	open(t, session, site.url("/long"))

	if rendered != site.url("/app")+site.url("/stays") {
		t.Errorf("rendered %s", rendered)
	}
}

func TestPDFsAreReadInTheSandbox(t *testing.T) {
	t.Parallel()
	site := serve(t, map[string]http.HandlerFunc{
		"/a.pdf":    page("application/pdf", "%PDF-1.7 a"),
		"/bad.pdf":  page("application/pdf", "%PDF-1.7 bad"),
		"/scan.pdf": page("application/pdf", "%PDF-1.7 scan"),
	})

	session := browser(t, site, func(o *browse.Options) {
		o.PDFText = func(_ context.Context, pdf []byte) (string, error) {
			return map[string]string{"%PDF-1.7 a": "One\n\fTwo\n\f", "%PDF-1.7 scan": "\f\f"}[string(pdf)], map[bool]error{true: errors.New("broken")}[bytes.HasSuffix(pdf, []byte("bad"))]
		}
	}).Session()

	r := open(t, session, site.url("/a.pdf"))
	if body(t, r) != "## Page 1\n\nOne\n\n## Page 2\n\nTwo" || r.Pages[0].Title != "a.pdf" {
		t.Errorf("%+v", r)
	}

	for path, want := range map[string]string{"/bad.pdf": "cannot be read", "/scan.pdf": "without text"} {
		r := open(t, session, site.url(path))
		if !r.Failed || !strings.Contains(r.Output, want) || strings.Contains(r.Output, "broken") {
			t.Errorf("%s: %+v", path, r)
		}
	}
}
