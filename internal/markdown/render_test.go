package markdown_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2/lexers"
	"golang.org/x/net/html"

	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/test/cputime"
	"presswork/internal/test/golden"
)

func pixel() []byte {
	b, err := base64.StdEncoding.DecodeString(
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
	)
	if err != nil {
		panic(err)
	}

	return b
}

func assets(name string) ([]byte, error) {
	if name == "pixel.png" {
		return pixel(), nil
	}

	return nil, os.ErrNotExist
}

func render(t *testing.T, src string, o markdown.Options) markdown.Document {
	t.Helper()

	d, err := markdown.New().Parse(t.Context(), []byte(src), o)
	if err != nil {
		t.Fatal(err)
	}

	return d
}

// Each file in testdata/render is an input, a line of dashes, and the HTML and
// warnings it must give.
func TestRenderGolden(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("testdata/render/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}

	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			const line = "\n----------\n"

			pair, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			input, _, _ := strings.Cut(string(pair), line)
			// lang-fr.txt is in French, lists-dialect-pandoc.txt in the dialect of Pandoc.
			_, lang, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), "lang-")
			_, dialect, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), "dialect-")
			d := render(t, input, markdown.Options{Asset: assets, Lang: lang, Dialect: dialect})
			var out bytes.Buffer
			out.WriteString(input + line + d.HTML)

			for _, w := range d.Warnings {
				fmt.Fprintf(&out, "%s (line %d): %s\n", w.Code, w.Line, w.Message)
			}
			golden.Check(t, "render/"+filepath.Base(file), out.Bytes())
		})
	}
}

func hostile() []string {
	return []string{
		`<script src="http://x/"></script>`,
		`<img src=x onerror=alert(1)>`,
		`<img src="http://127.0.0.1/x">`,
		`<img src=http://169.254.169.254/>`,
		`<iframe src="file:///etc/passwd"></iframe>`,
		`<meta http-equiv="refresh" content="0;url=http://x/">`,
		`<base href="http://x/">`,
		`<link rel=stylesheet href="http://x/a.css">`,
		`<style>@import "http://x/";body{background:url(http://x/)}</style>`,
		`<div style="background:url(http://x/)">a</div>`,
		`<svg><image href="http://x/"/><script>x</script></svg>`,
		`<object data="http://x/"></object>`,
		`<video src="http://x/" poster="http://x/"></video>`,
		`<audio src="http://x/">`,
		`<embed src="http://x/">`,
		`<input type=image src="http://x/">`,
		`<form action="http://x/"><button>a</button></form>`,
		`<table background="http://x/"><tr><td background="http://x/">a`,
		`<body background="http://x/">`,
		`<img srcset="http://x/ 2x" src="data:text/html,x">`,
		`<picture><source srcset="http://x/"><img src="http://x/"></picture>`,
		`![a](http://x/%zz)`,
		`![a](//x/y.png)`,
		`![a](\\x\y.png)`,
		`![a](file:///etc/passwd)`,
		`![a](../../etc/passwd)`,
		`![a](javascript:x)`,
		`[a](javascript:alert(1))`,
		`[a](JaVaScRiPt&#58;alert(1))`,
		`<a href="&#106;avascript:x">a</a>`,
		`<a href="x" ping="http://x/" target=_blank>a</a>`,
		`<a href=data:text/html,x>a</a>`,
		`![a](data:image/svg+xml,<svg onload="x()"/>)`,
		`![a](data:text/html;base64,PHNjcmlwdD4=)`,
		"```\"><script>x</script>\nx\n```",
		"``` x onclick=alert(1)\nx\n```",
		`<x onclick=1>`,
		`<a name="x" id="y z">`,
		`<!--[if IE]><script>x</script><![endif]-->`,
		`<![CDATA[<script>x</script>]]>`,
		`<?php echo 1 ?>`,
		`<math><mi xlink:href="javascript:x">a</mi></math>`,
		`<p title="` + "`" + `<script>">x`,
		`<details ontoggle=x open>a`,
		`<template><script>x</script></template>`,
		`[a]{onclick=x style="background:url(http://x/)" src=http://x/ .x}`,
		`![a](pixel.png){onerror=x src=http://x/ srcset=http://x/ width=url(x)}`,
		`# a {#"><script>x</script> .b}`,
		"```go title=\"<script>x</script>\" {onclick=x .a\"><script>}\nx\n```",
		"```{.a\"><script>x</script>}\nx\n```",
		":::note <script>x</script>\n<script>y</script>\n:::",
		"!!! note \"<img src=x onerror=y>\"\n    x",
		"*[a]: \"><script>x</script>\n\na",
		`![a](http://x/ "<script>x</script>")`,
		`![a](http://x/ =100x100){.b}`,
		"|a|\n|-|\n\nTable: <img src=http://x/> {style=x #y}",
		`<p class="cover"onclick=x class='toc"x'>a</p>`,
		`==<b onclick=x>== ~<x^`,
		`<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
		`<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`,
		`<textarea><img src=x onerror=y></textarea>`,
	}
}

// fetchless lists every attribute and element by which HTML could fetch or run
// something, and reports the first one that does.
func fetchless(t *testing.T, source, out string) {
	t.Helper()

	root, err := html.Parse(strings.NewReader("<!DOCTYPE html><body>" + out))
	if err != nil {
		t.Fatalf("%q: %v", source, err)
	}
	linkForm := regexp.MustCompile(`(?i)^(#|https?://|mailto:|tel:)`)
	allowed := map[string]bool{
		"class":        true,
		"id":           true,
		"lang":         true,
		"dir":          true,
		"title":        true,
		"role":         true,
		"align":        true,
		"valign":       true,
		"name":         true,
		"alt":          true,
		"width":        true,
		"height":       true,
		"colspan":      true,
		"rowspan":      true,
		"span":         true,
		"scope":        true,
		"start":        true,
		"value":        true,
		"type":         true,
		"reversed":     true,
		"open":         true,
		"datetime":     true,
		"cite":         true,
		"checked":      true,
		"disabled":     true,
		"color":        true,
		"data-start":   true,
		"data-columns": true,
	}

	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}

		switch n.Data {
		case "script",
			"style",
			"iframe",
			"object",
			"embed",
			"link",
			"meta",
			"base",
			"svg",
			"video",
			"audio",
			"source",
			"form",
			"button",
			"template",
			"frame":
			t.Errorf("%q: <%s> got through: %s", source, n.Data, out)
		}

		for _, a := range n.Attr {
			switch {
			case n.Data == "img" && a.Key == "src" && strings.HasPrefix(a.Val, "data:image/"):
			case n.Data == "a" && a.Key == "href" && linkForm.MatchString(a.Val):
			case a.Key == "style" && !strings.Contains(strings.ToLower(a.Val), "url") && !strings.Contains(a.Val, "\\"):
			case allowed[a.Key]:
			case a.Key == "aria-label" && (n.Data == "span" || n.Data == "div"),
				mathOf(n) && harmless.MatchString(a.Key):
			default:
				t.Errorf("%q: attribute %s=%q on <%s> got through", source, a.Key, a.Val, n.Data)
			}
		}
	}
}

// harmless are the attributes of formulas: what says how to set them.
var harmless = regexp.MustCompile(
	`^(alttext|display|math[a-z]+|[a-z]+(align|space|spacing|size|lines|thickness|style)|fence|form|separator|stretchy|symmetric|accent|accentunder|movablelimits|largeop|lspace|rspace|depth|voffset|notation|xmlns)$`,
)

// mathOf reports whether an element is part of a formula, which is ours: MathML
// of the source is dropped.
func mathOf(n *html.Node) bool { return n.Namespace == "math" }

func TestHostileHTMLReachesNothing(t *testing.T) {
	t.Parallel()

	for _, src := range append(hostile(), strings.Join(hostile(), "\n\n"), strings.Join(hostile(), " ")) {
		for _, escape := range []bool{false, true} {
			fetchless(t, src, render(t, src, markdown.Options{EscapeHTML: escape}).HTML)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, src := range hostile() {
		f.Add(src, false)
	}
	f.Add("> [!NOTE]\n> x\n\n\\newpage\n\n# h\n[^1]: x\n", true)
	f.Add(
		"![[a.png|<b>|9]] [[a|<script>]] [[#<i>]] %%<b%%\n\n{++<b>++} {~~a~><i>~~}\n\n(@\"a) b\n\n> [!a\"]- <b>\n",
		false,
	)
	f.Add("+---+--+\n| <b| - |\n+===+  |\n| a |  |\n+---+--+\n\n| <b>\n|  c\n", false)
	f.Add("+--+\n|é界|\n+==+\n|- |\n+--+\n: d\n", true)
	f.Add("{{#include a}}\n```{.include}\n<b>\n```\n!include <c>\n![[d#<e>]]\n", false)
	f.Add("import a from 'b'\n\n{/* <b> */}\n\n<A b={c}/>\n\na. b\nb. <c\n\n::: {.column width=\"9%\"}\n", true)
	f.Add(
		"```{note} <b>\n:name: a\n% c\n:::{figure} <a>\n---\nalt: |\n  <i>\n---\n{ref}`a` [](#a)\n:::\n```\n(b)=\n- ```{list-table}\n  * - <b>\n    - c\n  ```\n",
		false,
	)
	f.Add(
		"````{exercise-start}\n:label: e\n````\n{{s}}\n```{include} a\n:literal:\n```\n> ```{csv-table} <b>\n> \"a\", <i>|\n> ```\n```{solution} e\n```{index} pair: a; <b>\n",
		true,
	)
	r := markdown.New()
	dialects := append(markdown.Dialects(), "")
	f.Fuzz(func(t *testing.T, src string, escape bool) {
		d, err := r.Parse(
			context.Background(),
			[]byte(src),
			markdown.Options{
				Dialect:        dialects[len(src)%len(dialects)],
				EscapeHTML:     escape,
				LineNumbers:    escape,
				NumberHeadings: !escape,
				Asset:          assets,
				Substitutions:  map[string]string{"s": "a\n{{s}} {{s}}"},
				Include:        folder(map[string]string{"a": "<b>{{#include a}}"}),
			},
		)
		if err != nil {
			return
		}
		fetchless(t, src, d.HTML)
	})
}

// A language that Chroma lists is highlighted under each of its names, or
// printed as it is when its lexer fails on the sample; nothing is lost.
func TestEveryLanguageOfChroma(t *testing.T) {
	t.Parallel()
	const code = "if (x == 1) { return \"a\" } // b\n# c\n"
	r, highlighted := markdown.New(), 0

	names := lexers.Names(true)
	for _, name := range names {
		if strings.ContainsAny(name, " \t,{:") {
			continue // no info string can name it so; its aliases can
		}

		d, err := r.Parse(t.Context(), []byte("```"+name+"\n"+code+"```\n"), markdown.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}

		root, err := html.Parse(strings.NewReader(d.HTML))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder

		for n := range root.Descendants() {
			if n.Type == html.TextNode {
				text.WriteString(n.Data)
			}
		}

		if got := strings.TrimSpace(text.String()); got != strings.TrimSpace(code) {
			t.Errorf("%s: printed as %q", name, got)
		}

		if strings.Contains(d.HTML, "<span class=\"") {
			highlighted++
		}
	}

	if highlighted*10 < len(names)*8 {
		t.Errorf("%d of %d names are highlighted", highlighted, len(names))
	}
}

func TestEscapedHTMLIsShownAsText(t *testing.T) {
	t.Parallel()
	d := render(t, "a <b>c</b>\n\n<div>\nx &amp; y\n</div>\n\n<!-- pagebreak -->\n", markdown.Options{EscapeHTML: true})

	want := "<p>a &lt;b&gt;c&lt;/b&gt;</p>\n<p>&lt;div&gt;\nx &amp;amp; y\n&lt;/div&gt;\n</p>\n<div class=\"page-break\"></div>\n"
	if d.HTML != want {
		t.Errorf("got %q\nwant %q", d.HTML, want)
	}
}

func TestNumbersAndOutline(t *testing.T) {
	t.Parallel()
	src := "# Title\n\n## A\n\n### B\n\n## C\n"
	d := render(t, src, markdown.Options{NumberHeadings: true, FirstLine: 10})

	var got []string
	for _, h := range d.Headings {
		got = append(got, fmt.Sprintf("%d %s #%s @%d", h.Level, strings.TrimSpace(h.Number+" "+h.Text), h.ID, h.Line))
	}

	want := "1 Title #title @10, 2 1 A #a @12, 3 1.1 B #b @14, 2 2 C #c @16"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got %s\nwant %s", s, want)
	}

	if d.Title != "Title" {
		t.Errorf("title is %q", d.Title)
	}
}

func TestLineNumbersWrapEachLine(t *testing.T) {
	t.Parallel()

	d := render(t, "```go\n/* a\nb */\n```\n", markdown.Options{LineNumbers: true})
	if n := strings.Count(
		d.HTML,
		`<span class="line">`,
	); n != 2 ||
		!strings.Contains(d.HTML, `class="chroma keep numbered"`) {
		t.Errorf("%d line spans in %s", n, d.HTML)
	}
}

func TestRemoteImages(t *testing.T) {
	t.Parallel()
	fetched := make(chan string, 10)
	fetch := func(_ context.Context, url string) ([]byte, string, error) {
		fetched <- url

		switch url {
		case "https://ok.example/a.png":
			return pixel(), "text/html", nil // the bytes count, not the label
		case "https://blocked.example/":
			return nil, "", fault.Errorf(fault.AddressNotAllowed, "the address is not allowed")
		case "https://html.example/":
			return []byte("<html>"), "image/png", nil
		}

		return nil, "", errors.New("dial tcp 10.0.0.1:443: connection refused")
	}
	src := "![a](https://ok.example/a.png) ![b](https://ok.example/a.png)\n![c](https://blocked.example/)\n![d](https://html.example/)\n![e](https://secret.example/)\n"

	d := render(t, src, markdown.Options{Fetch: fetch})
	if len(fetched) != 4 {
		t.Errorf("%d fetches, want each address once", len(fetched))
	}

	if n := strings.Count(d.HTML, `src="data:image/png;base64,`); n != 2 {
		t.Errorf("%d images inlined, want 2", n)
	}

	want := []fault.Warning{
		{Code: fault.ImageFailed, Line: 2, Message: `image "https://blocked.example/": the address is not allowed`},
		{
			Code:    fault.ImageFailed,
			Line:    3,
			Message: `image "https://html.example/": it is not a PNG, JPEG, GIF, WebP, AVIF or SVG image`,
		},
		{Code: fault.ImageFailed, Line: 4, Message: `image "https://secret.example/": it could not be fetched`},
	}
	if fmt.Sprint(d.Warnings) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", d.Warnings, want)
	}
}

func TestImageBombsAreRefused(t *testing.T) {
	t.Parallel()
	bomb := pixel()
	copy(bomb[16:24], []byte{0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff})

	for name, data := range map[string][]byte{
		"pixels":     bomb,
		"entities":   []byte(`<!DOCTYPE svg [<!ENTITY a "x">]><svg>&a;</svg>`),
		"damaged":    []byte("\x89PNG\r\n\x1a\nxxxx"),
		"webp":       append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0),
		"huge":       append(pixel(), make([]byte, 21<<20)...),
		"avif":       []byte("\x00\x00\x00\x14ftypavif\x00\x00\x00\x00mif1\x00\x00\x00\x1cmeta\x00\x00\x00\x14ispe\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\xff\xff"),
		"not images": []byte("hello"),
	} {
		t.Run(name, func(t *testing.T) {
			d := render(t, "![a](x.png)", markdown.Options{Asset: func(string) ([]byte, error) { return data, nil }})
			if strings.Contains(d.HTML, "<img") || len(d.Warnings) != 1 {
				t.Errorf("%s: got %.100s, %v", name, d.HTML, d.Warnings)
			}

			if len(data) > 1<<20 {
				return // it would be a document of its own size
			}

			d = render(t, "![a](data:image/png;base64,"+base64.StdEncoding.EncodeToString(data)+")", markdown.Options{})
			if strings.Contains(d.HTML, "<img") || len(d.Warnings) != 1 {
				t.Errorf("%s as a data URI: got %.100s, %v", name, d.HTML, d.Warnings)
			}
		})
	}
}

// allImages is the most that the images of a document may take, as data URIs.
const allImages = 60 << 20

// Each img element carries its image, so 3000 × one asset is 3000 assets.
func TestAnImageCountsWhereverItStands(t *testing.T) {
	t.Parallel()
	svg := []byte("<svg>" + strings.Repeat(" ", 200_000) + "</svg>")
	fit := allImages / len("data:image/svg+xml;base64,"+base64.StdEncoding.EncodeToString(svg))

	d := render(
		t,
		strings.Repeat("![a](a.svg)\n", 3000)+"![p](pixel.png)\n",
		markdown.Options{Asset: func(name string) ([]byte, error) {
			if name == "pixel.png" {
				return pixel(), nil
			}

			return svg, nil
		}},
	)
	if len(d.HTML) > allImages+1<<20 {
		t.Errorf("%d bytes of HTML", len(d.HTML))
	}

	if n := strings.Count(d.HTML, `src="data:image/svg+xml`); n != fit {
		t.Errorf("%d images are there, want %d", n, fit)
	}

	if n := strings.Count(d.HTML, `<span class="image-missing">a</span>`); n != 3000-fit {
		t.Errorf("%d images are missing, want %d", n, 3000-fit)
	}

	if !strings.Contains(d.HTML, `src="data:image/png`) {
		t.Error("a small image that has room is missing")
	}

	want := []fault.Warning{
		{
			Code:    fault.ImageFailed,
			Line:    fit + 1,
			Message: `image "a.svg": left out from here on: the document's images exceed 60 MB together, each counted wherever it stands`,
		},
	}
	if fmt.Sprint(d.Warnings) != fmt.Sprint(want) {
		t.Errorf("got %.500v\nwant %v", fmt.Sprint(d.Warnings), want)
	}
}

func TestImagesBeyondTheTotalAreNotFetched(t *testing.T) {
	t.Parallel()
	large := append(pixel(), make([]byte, 15<<20)...) // as a data URI over a third of the total
	var fetches atomic.Int32

	var src strings.Builder
	for i := range 100 {
		fmt.Fprintf(&src, "![a](https://ok.example/%d.png)\n", i)
	}
	d := render(t, src.String(), markdown.Options{Fetch: func(context.Context, string) ([]byte, string, error) {
		fetches.Add(1)
		return large, "image/png", nil
	}})
	// Two fit, and six are under way when they have come.
	if n := fetches.Load(); n < 3 || n > 8 {
		t.Errorf("%d fetches, want at most 8", n)
	}

	if n := strings.Count(d.HTML, "<img"); n != 2 {
		t.Errorf("%d images inlined, want 2", n)
	}

	if len(d.Warnings) != 98 || d.Warnings[97].Code != fault.ImageFailed ||
		!strings.HasSuffix(d.Warnings[97].Message, "the document's images exceed 60 MB together") {
		t.Errorf("%d warnings: %.300v", len(d.Warnings), fmt.Sprint(d.Warnings))
	}
	// What is left out only while the HTML is written was held until then.
	if strings.Contains(fmt.Sprint(d.Warnings), "left out from here on") {
		t.Error("an image beyond the total was held")
	}
}

// Which of these may be opened is for Asset to say; what reaches it is the clean
// path, decoded, and nothing that names another scheme.
func TestAssetIsAskedForCleanPaths(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	render(
		t,
		"![a](a%20b.png) ![b](./img/../c.png) ![c](/etc/passwd) ![d](c:x.png) ![e](..%2f..%2fetc/passwd) ![f](x.png?raw=true#y)",
		markdown.Options{
			Asset: func(name string) ([]byte, error) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, name)

				return pixel(), nil
			},
		},
	)
	slices.Sort(asked)

	want := []string{"../../etc/passwd", "/etc/passwd", "a b.png", "c.png", "x.png"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

// Chroma's lexers take quadratic to exponential time on code made for it; the
// code is printed all the same, in bounded time and plain.
func TestHostileCodeIsPrintedPlain(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("takes seconds; `make test` runs this test")
	}
	code := strings.Repeat("<", 100_000)
	src := strings.Repeat("```abap\n"+code+"\n```\n\n", 3) + "```go\nfunc main() {}\n```\n"
	var d markdown.Document

	if took := cputime.Of(func() { d = render(t, src, markdown.Options{}) }); took > 2*time.Minute {
		t.Errorf("took %s", took)
	}

	if n := strings.Count(d.HTML, "&lt;"); n != 300_000 {
		t.Errorf("%d of 300000 characters are left", n)
	}
}

func TestAStoreThatIsAwayIsNoMissingImage(t *testing.T) {
	t.Parallel()
	away := fault.Errorf(fault.StoreUnavailable, "the store does not answer")

	_, err := markdown.New().
		Parse(t.Context(), []byte("![a](x.png)"), markdown.Options{Asset: func(string) ([]byte, error) { return nil, away }})
	if !errors.Is(err, away) {
		t.Errorf("got %v, want the store's error", err)
	}
}
