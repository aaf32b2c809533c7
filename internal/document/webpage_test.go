package document_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
)

// hostile is Markdown that tries to run scripts, load files and send data when its page is opened.
const hostile = "---\ntitle: \"</title><script>alert(1)</script>\"\nauthor: '\"><img src=x onerror=alert(2)>'\n---\n" +
	"# <img src=x onerror=alert(3)> \"\n\n<script>alert(4)</script>\n\n<svg onload=alert(5)><a href='javascript:alert(6)'>x</a></svg>\n\n" +
	"[x](javascript:alert(7)) [y](data:text/html,<script>alert(8)</script>) ![](http://127.0.0.1:9/beacon.png)\n\n" +
	"<iframe src=http://127.0.0.1:9/></iframe><form action=http://127.0.0.1:9/><input autofocus onfocus=alert(9)></form>\n\n" +
	"<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'><base href=http://127.0.0.1:9/><link rel=stylesheet href=http://127.0.0.1:9/x.css>\n\n" +
	"<p style=\"background:url(http://127.0.0.1:9/)\" onclick=alert(10)>p</p>\n"

// webPage converts a document to an HTML file.
func webPage(t *testing.T, d document.Document) string {
	t.Helper()
	d.Output = presswork.HTML
	c := converter(t, document.Options{})

	composed, err := c.Compose(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}

	made, err := c.Make(t.Context(), composed)
	if err != nil || made.Pages != 0 {
		t.Fatalf("got %d pages, %v; want an HTML file without pages", made.Pages, err)
	}

	return string(made.Data)
}

// TestAWebPageHoldsNothingThatRunsOrLoads tokenizes the file as browsers do.
func TestAWebPageHoldsNothingThatRunsOrLoads(t *testing.T) {
	t.Parallel()
	page := webPage(t, document.Document{
		Content: []byte(hostile),
		Options: presswork.Options{
			CSS: "@import 'http://127.0.0.1:9/';p{background:url(http://127.0.0.1:9/)}</style><script>alert(11)</script>",
		},
	})
	z := html.NewTokenizer(strings.NewReader(page))
	var elements []string
	policy := -1

	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		token := z.Token()

		if kind == html.TextToken || kind == html.DoctypeToken {
			continue
		}

		elements = append(elements, token.Data)
		switch token.Data {
		case "script", "iframe", "object", "embed", "form", "base", "link", "svg":
			t.Errorf("the page has an element %s", token.Data)
		}

		for _, a := range token.Attr {
			value := strings.ToLower(strings.TrimSpace(a.Val))
			switch {
			case strings.HasPrefix(a.Key, "on"),
				strings.HasPrefix(value, "javascript:"),
				a.Key == "src" && !strings.HasPrefix(value, "data:image/"):
				t.Errorf("%s has %s=%q", token.Data, a.Key, a.Val)
			case a.Key == "http-equiv" && value == "content-security-policy":
				policy = len(elements)
			case a.Key == "http-equiv":
				t.Errorf("the page has http-equiv %q", a.Val)
			}
		}
	}

	if policy < 0 || policy > 4 {
		t.Errorf("the content security policy is element %d, want one of the first four: %v", policy, elements[:6])
	}

	if !strings.Contains(page, "default-src 'none'") || strings.Contains(page, "127.0.0.1:9/x.css") ||
		strings.Contains(page, "url(http") {
		t.Error("want the policy default-src 'none', and no address of a stylesheet or picture")
	}
}

// TestAWebPageFitsNarrowAndWideScreens opens the rich sample in the browser at the widths of a phone and a desktop. Its
// fonts load, and only elements that scroll are wider than the window.
func TestAWebPageFitsNarrowAndWideScreens(t *testing.T) {
	t.Parallel()
	b := printer(t)

	rich, err := os.ReadFile("testdata/rich.md")
	if err != nil {
		t.Fatal(err)
	}

	for _, theme := range []string{"light", "synthwave"} {
		page, err := json.Marshal(webPage(t, document.Document{Content: rich, Theme: theme}))
		if err != nil {
			t.Fatal(err)
		}

		values, err := b.Script(t.Context(), "0", `(async () => {
			const f = document.createElement("iframe"), all = []
			f.style.border = 0; f.srcdoc = `+string(page)+`; document.body.append(f)
			await new Promise(done => f.onload = done)
			const d = f.contentDocument
			for (const width of [320, 1200]) {
				f.style.width = width + "px"; f.style.height = "900px"
				const faces = await Promise.all([...d.fonts].map(face => face.load().then(() => "", error => face.family + ": " + error)))
				all.push({width, scroll: d.documentElement.scrollWidth, faces: faces.length, lost: faces.filter(Boolean),
					scheme: getComputedStyle(d.documentElement).colorScheme, toc: d.querySelectorAll(".toc a").length,
					scripts: d.scripts.length, display: getComputedStyle(d.body).display})
			}
			return all
		})()`)
		if err != nil {
			t.Fatal(err)
		}

		var seen []struct {
			Width, Scroll, Faces, Toc, Scripts int
			Lost                               []string
			Scheme, Display                    string
		}
		if err := json.Unmarshal(values[0], &seen); err != nil {
			t.Fatal(err)
		}

		scheme := map[string]string{"light": "light", "synthwave": "dark"}[theme]
		for _, s := range seen {
			if s.Scroll > s.Width || s.Faces < 4 || len(s.Lost) > 0 || s.Scheme != scheme || s.Toc < 10 ||
				s.Scripts > 0 || s.Display != "block" {
				t.Errorf(
					"%s: got %+v, want no horizontal scrolling, 4 fonts, 10 links of contents, no script and the scheme %s",
					theme,
					s,
					scheme,
				)
			}
		}
	}
}

func TestOutputsRejectOptionsThatTheyCannotMeet(t *testing.T) {
	t.Parallel()

	c := converter(t, document.Options{})
	for name, test := range map[string]struct {
		d    document.Document
		want fault.Code
	}{
		"unknown output": {document.Document{Content: []byte("# x"), Output: "docx"}, fault.InvalidOption},
		"password of an HTML file": {document.Document{
			Content: []byte("# x"), Output: presswork.HTML, Options: presswork.Options{Password: "secret"},
		}, fault.InvalidOption},
		"password in front matter": {document.Document{
			Content: []byte("---\npassword: secret\n---\n# x"), Output: presswork.HTML,
		}, fault.FrontMatterInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.Compose(t.Context(), test.d); fault.CodeOf(err) != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestDefaultOutputHasTheKeyOfAPDF(t *testing.T) {
	t.Parallel()
	key := func(o presswork.Output) string {
		return compose(t, document.Document{Content: []byte("# x"), Output: o}).Key
	}

	if key("") != key(presswork.PDF) || key(presswork.HTML) == key(presswork.PDF) {
		t.Errorf("got the keys %s by default, %s for a PDF and %s for HTML; want the first two equal",
			key(""), key(presswork.PDF), key(presswork.HTML))
	}
}
