package browse_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

	"presswork/internal/inference/browse"
)

func TestPagesAreDecodedFromTheirCharacterSet(t *testing.T) {
	t.Parallel()
	latin, _ := charmap.ISO8859_1.NewEncoder().String("Größe")
	shift, _ := japanese.ShiftJIS.NewEncoder().String("日本語のページ")

	site := serve(t, map[string]http.HandlerFunc{
		"/declared":   serveText("text/html; charset=iso-8859-1", "<p>"+latin),
		"/meta":       serveText("text/html", `<meta charset="shift_jis"><p>`+shift),
		"/mark":       serveText("text/plain", "\xff\xfeG\x00r\x00\xf6\x00"),
		"/wrong":      serveText("text/html; charset=utf-8", "<p>"+latin),
		"/unknown":    serveText("text/html; charset=klingon", "<p>Größe"),
		"/undeclared": serveText("", "plain words"),
		"/json":       serveText("application/problem+json", `{"a": "Größe"}`),
		"/feed":       serveText("application/rss+xml", "<rss><title>Größe</title></rss>"),
	})
	for path, want := range map[string]string{
		"/declared":   "Größe",
		"/meta":       "日本語のページ",
		"/mark":       "Grö",
		"/wrong":      "Gr\uFFFD\uFFFDe",
		"/unknown":    "Größe",
		"/undeclared": "plain words",
		"/json":       `{"a": "Größe"}`,
		"/feed":       "<rss><title>Größe</title></rss>",
	} {
		t.Run(path, func(t *testing.T) {
			got := textOf(t, open(t, browser(t, site, nil).Session(), site.url(path)))
			// The number of replacement characters for invalid bytes does not matter.
			if got != want && strings.ReplaceAll(got, "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestPagesWithoutTextAreRendered(t *testing.T) {
	t.Parallel()
	site := serve(t, map[string]http.HandlerFunc{
		"/app":   serveHTML(`<div id=root></div><script>render()</script>`),
		"/short": serveHTML(`<p>Short, and whole.`),
		"/long":  serveHTML("<p>" + strings.Repeat("Words enough. ", 50) + "<script>more()</script>"),
		"/stays": serveHTML(`<noscript>Please enable JavaScript.</noscript><script>x()</script>`),
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
	if textOf(t, r) != "# Made by scripts" || r.Pages[0].URL != site.url("/app/final") || r.Pages[0].Title != "App" {
		t.Errorf("got %+v, want the rendered page", r)
	}

	for path, want := range map[string]string{"/short": "Short, and whole.", "/stays": "Please enable JavaScript."} {
		if r := open(t, session, site.url(path)); textOf(t, r) != want {
			t.Errorf("%s: got %+v, want %q", path, r, want)
		}
	}
	open(t, session, site.url("/long"))

	if rendered != site.url("/app")+site.url("/stays") {
		t.Errorf("rendered %s, want /app and /stays", rendered)
	}
}

func TestPDFTextIsSplitIntoPages(t *testing.T) {
	t.Parallel()
	site := serve(t, map[string]http.HandlerFunc{
		"/a.pdf":    serveText("application/pdf", "%PDF-1.7 a"),
		"/bad.pdf":  serveText("application/pdf", "%PDF-1.7 bad"),
		"/scan.pdf": serveText("application/pdf", "%PDF-1.7 scan"),
	})

	session := browser(t, site, func(o *browse.Options) {
		o.PDFText = func(_ context.Context, pdf []byte) (string, error) {
			switch string(pdf) {
			case "%PDF-1.7 a":
				return "One\n\fTwo\n\f", nil // a form feed ends a page
			case "%PDF-1.7 scan":
				return "\f\f", nil
			default:
				return "", errors.New("broken")
			}
		}
	}).Session()

	r := open(t, session, site.url("/a.pdf"))
	if textOf(t, r) != "## Page 1\n\nOne\n\n## Page 2\n\nTwo" || r.Pages[0].Title != "a.pdf" {
		t.Errorf("got %+v, want the text of two pages", r)
	}

	for path, want := range map[string]string{"/bad.pdf": "cannot be read", "/scan.pdf": "without text"} {
		r := open(t, session, site.url(path))
		if !r.Failed || !strings.Contains(r.Output, want) || strings.Contains(r.Output, "broken") {
			t.Errorf("%s: got %+v, want an error with %q", path, r, want)
		}
	}
}
