package pdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/pdf"
	"presswork/themes"
)

// allKinds is a document with all that a stylesheet may be about. Titles of links that
// nobody sees make it large enough for sections.
func allKinds() []byte {
	var b strings.Builder
	b.WriteString("# The report\n\nTo [the end](#part-3).\n\n")
	for i := range 14 {
		fmt.Fprintf(&b, "## Part %d\n\n%s\n\nAnother one, of [the first part](#part-0 %q) and `code`.\n\n", i, strings.Repeat("Some words, *set* in **lines** and going on. ", 3+i%5), strings.Repeat("large ", 10_000))
		for n := range 3 {
			fmt.Fprintf(&b, "### Heading %d.%d\n\nText of it, with a [link](https://example.com/%d) and <kbd>K</kbd>.\n\nA second paragraph. %s\n\n", i, n, i, strings.Repeat("It has words. ", 5+(i*7+n)%20))
			switch (i + n) % 4 {
			case 0:
				fmt.Fprintf(&b, "| a %d | b |\n|---|---:|\n| one | 1 |\n| two | %d |\n| three | 3 |\n\n", i, n)
			case 1:
				fmt.Fprintf(&b, "```go\n// f is %d.\nfunc f() int {\n\treturn %d\n}\n```\n\n> A quote of %d.\n>\n> Two paragraphs.\n\n", i, n, i)
			case 2:
				fmt.Fprintf(&b, "- one\n- two\n  - three of %d\n\n1. first\n2. second\n\n::: note\nA box of %d.\n:::\n\n", i, n)
			default:
				b.WriteString("> [!NOTE]\n> Mind this.\n\nTerm\n:   What it is.\n\n---\n\n")
			}
		}
	}
	return []byte(b.String())
}

// harmlessSheets are of the kind that people write, as a theme or as options.css.
func harmlessSheets() map[string]string {
	return map[string]string{
		"fonts":      `body { font-family: Georgia, "Times New Roman", serif; font-size: 11pt; line-height: 1.6; color: #222 } code, pre { font-family: "JetBrains Mono", monospace; font-size: 9pt }`,
		"web habits": `* { box-sizing: border-box; margin: 0; padding: 0 } html { font-size: 15px } body { max-width: 800px; margin: 0 auto; padding: 0; background: #fff; color: #24292e } a { color: #0366d6; text-decoration: none } img { display: block; max-width: 100%; margin: 1em auto }`,
		"headings":   `h1 { color: #0b3d91; border-bottom: 3px solid #0b3d91; padding-bottom: .2em; font-size: 26pt } h2 { margin-top: 2.5em; margin-bottom: .4em; color: navy; text-transform: uppercase; letter-spacing: .05em } h2::before { content: "§ "; color: #999 } h3 { font-style: italic; margin: 2em 0 .5em; border-left: 4px solid #e67e22; padding-left: .5em }`,
		"tables":     `table { border-collapse: collapse; width: 100%; margin: 1.5em 0 } th, td { border: 1px solid #ccc; padding: 6px 12px } th { background: #f0f0f0; text-align: left } tr:nth-child(even) td { background-color: #fafafa } td:first-child { font-weight: bold } td + td { color: #555 }`,
		"code":       `pre { background: #282c34; color: #abb2bf; padding: 16px; border-radius: 6px; overflow-x: auto; white-space: pre-wrap } pre code { display: block; background: none !important; } :not(pre) > code { background: rgba(27, 31, 35, .05); padding: .2em .4em }`,
		"paragraphs": `p { text-align: justify; hyphens: auto; margin: 1em 0; orphans: 3; widows: 3 } p + p { text-indent: 1.5em; margin-top: 0 } h2 + p, h3 + p { text-indent: 0 } h2 + p::first-letter { font-size: 2em; color: darkred }`,
		"print":      `@media print { a[href^="http"]::after { content: " (" attr(href) ")"; font-size: .8em; color: #666 } h1, h2, h3 { page-break-after: avoid } pre, blockquote, table { page-break-inside: avoid; break-inside: avoid } } @media screen { body { background: #eee } }`,
		"boxes":      `blockquote { border-left: 5px solid #42b983; background: #f3f5f7; padding: .8em 1.2em; margin: 1.5em 0; color: #476582 } blockquote > p:last-child { margin-bottom: 0 } .note { border: 1px solid #e0c36a; background: #fff8e1; padding: 1em; margin: 1.5em 0; border-radius: 4px; box-shadow: 0 2px 6px rgba(0,0,0,.3) } .alert { border-width: 0 0 0 6px } .alert-title { color: teal }`,
		"lists":      `ul { list-style-type: square; padding-left: 2em; margin: 1.2em 0 } ol { list-style: lower-roman } li { margin-bottom: .5em; line-height: 1.4 } li::marker { color: crimson } ul > li:first-child { font-weight: 600 } dt { color: #555; margin-top: 1em } hr { height: 3px; background: linear-gradient(90deg, red, blue); border: 0; margin: 3em 0 }`,
		"tokens":     `:root { --primary: #a21caf; --base-100: #fffdf7; --base-content: #1f2937; --heading-tracking: -.01em; --paragraph-indent: 1.5em; --paragraph-gap: 0; --headings: band; --tables: striped } h2 { color: var(--primary); border-bottom: 2px solid var(--accent, red) }`,
		"contents":   `.toc { font-size: .9em } .toc a { color: #333 } .toc-title { border-bottom: 2px solid; text-transform: uppercase } .cover-title { color: gold; letter-spacing: .1em } .cover::before { background: #123 } `,
	}
}

// tellingSheets show where a document is cut.
func tellingSheets() map[string]string {
	return map[string]string{
		"counters":              `body { counter-reset: h } h2::before { counter-increment: h; content: counter(h) ". " }`,
		"by a token":            `:root { --h1-mark: counter(page) }`,
		"by an escape":          `h2::before { content: c\6funter(page) }`,
		"quotes":                `blockquote::before { content: open-quote }`,
		"the first block":       `main > p:first-child { font-size: 20pt }`,
		"the first of its type": `p:first-of-type::first-letter { font-size: 3em }`,
		"every second":          `h2:nth-of-type(even) { color: red }`,
		"what follows":          `p:has(+ h2) { color: red }`,
		"what came before":      `pre + p { color: red }`,
		"somewhere before":      `h2 ~ p { color: red }`,
		"two before":            `p + p + p { color: red }`,
		"a class before":        `p.lead + p { color: red }`,
		"a list's first":        `ol > li:first-child { color: red }`,
		"floats":                `img { float: right }`,
		"running headers":       `h2 { position: running(head) }`,
		"named pages":           `h2 { page: chapter }`,
		"page margins":          `@page { margin: 30mm 20mm 25mm }`,
		"margin boxes":          `@page { @top-right { content: "x" } }`,
		"the first page":        `@page :first { margin-top: 10cm }`,
		"another size":          `@page { size: A5 landscape }`,
		"breaks":                `h2 { break-before: right }`,
		"page breaks":           `.page-break { padding: 1em }`,
		"hidden stand-ins":      `p { display: block }`,
		"all shown":             `[hidden] { display: block }`,
		"page's space":          `body { padding: 2em }`,
		"main's background":     `main { background: #eee }`,
		"two backgrounds":       `html { background: #eee } body { background: #fff }`,
		"a picture behind":      `body { background: url("data:image/png;base64,iVBORw0KGgo=") }`,
		"spaces between blocks": `main { white-space: pre-wrap }`,
		"negative space":        `h2 { margin-top: -2em }`,
		"negative by a token":   `:root { --paragraph-gap: -2em }`,
		"negative by reckoning": `:root { --paragraph-gap: calc(1em - 3em) }`,
		"space from a token":    `h2 { margin-top: var(--gap) }`,
		"important space":       `h2 { margin-top: 2em !important }`,
		"space within":          `pre code { display: block } .language-go { margin-top: 2em }`,
		"tables in a line":      `table { display: inline-block }`,
		"columns":               `main { columns: 2 }`,
		"nesting":               `p { & + p { color: red } }`,
		"transforms":            `h2 { transform: translateY(-3cm) }`,
		"a wide page":           `main { width: 300mm }`,
		"layers":                `@layer a { main > p:first-child { color: red } }`,
		"an open rule":          `p { color: red } main { columns: 2`,
		"an open comment":       `p { color: red /* `,
		"an unknown property":   `p { corner-shape: bevel }`,
	}
}

// What shows where a document is cut is printed in one piece; the themes that are ours,
// and what people write, mostly need not be.
func TestWhichStylesheetsAreDivisible(t *testing.T) {
	t.Parallel()
	for name, css := range harmlessSheets() {
		if clean, _ := themes.FilterCSS(css); !themes.Divisible(clean) {
			t.Errorf("%s: it is not divisible", name)
		}
	}
	for name, css := range tellingSheets() {
		if clean, _ := themes.FilterCSS(css); themes.Divisible(clean) {
			t.Errorf("%s: it is divisible", name)
		}
	}
	if !themes.Divisible("pre code { display: block }") || !themes.Divisible(".note { margin: 1em 0 }") || themes.Divisible("pre code { display: block }", ".note { margin: 1em 0 }") {
		t.Error("two sheets are not judged together")
	}
	for seed := range uint64(1000) {
		if css := generated(seed); !themes.Divisible(css) {
			t.Fatalf("seed %d: it is not divisible:\n%s", seed, css)
		}
	}
}

// TestADividedDocumentWithAStylesheetIsTheSame compares every point of the pages.
// PRESSWORK_SHEETS="FIRST COUNT" prints those of the generated stylesheets.
func TestADividedDocumentWithAStylesheetIsTheSame(t *testing.T) {
	t.Parallel()
	browser := printer(t)
	harmless := harmlessSheets()
	sheets := map[string]string{ // several at once: a print of each takes long
		"text":  harmless["fonts"] + harmless["headings"] + harmless["paragraphs"] + harmless["lists"],
		"boxes": harmless["web habits"] + harmless["tables"] + harmless["boxes"] + harmless["contents"] + harmless["tokens"],
		"print": harmless["code"] + harmless["print"],
	}
	first, count := uint64(1), uint64(1)
	if seeds := os.Getenv("PRESSWORK_SHEETS"); seeds != "" {
		sheets = map[string]string{}
		if _, err := fmt.Sscan(seeds, &first, &count); err != nil {
			t.Fatal(err)
		}
	}
	for seed := first; seed < first+count; seed++ {
		sheets[fmt.Sprintf("seed %d", seed)] = generated(seed)
	}
	for name, css := range sheets {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			d := pdf.Document{Content: allKinds(), Options: presswork.Options{CSS: css, Footnotes: "end", Cover: new(true), TOC: new(presswork.Depth(2)), HeaderText: new("{chapter}")}}
			want, wantPath := convert(t, converter(t, pdf.Options{Printer: browser}), d)
			got, gotPath := convert(t, converter(t, pdf.Options{Printer: browser, Idle: func() int { return 2 },
				Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}), d)
			if !strings.Contains(log.String(), "printed in sections") || want.Pages != got.Pages {
				t.Fatalf("%d pages, want %d: %s", got.Pages, want.Pages, &log)
			}
			for _, args := range [][]string{{"pdfinfo", "-struct-text"}, {"pdfinfo", "-dests"}, {"pdfinfo", "-url"}} {
				want, got := poppler(t, args[0], args[1], wantPath), poppler(t, args[0], args[1], gotPath)
				if diff := cmp.Diff(strings.Split(objectNumber.ReplaceAllString(want, ""), "\n"), strings.Split(objectNumber.ReplaceAllString(got, ""), "\n")); diff != "" {
					t.Errorf("%v (-whole +divided):\n%.2000s", args, diff)
				}
			}
			differ(t, wantPath, gotPath)
			if t.Failed() {
				t.Log(css)
			}
		})
	}
}

// differ reports pages that differ by more than what rounding does: in sections, the
// numbers in header and footer are texts of their own, in places of their own.
func differ(t *testing.T, wantPath, gotPath string) {
	t.Helper()
	const (
		resolution    = 150
		bannerHeight  = 20 * resolution * 10 / 254
		rounding      = 32    // levels of a colour
		roundedPoints = 8     // of a page
		roundedText   = 32000 // levels of header and footer
	)
	dirs := [2]string{t.TempDir(), t.TempDir()}
	for i, path := range []string{wantPath, gotPath} {
		poppler(t, "pdftoppm", "-r", strconv.Itoa(resolution), path, filepath.Join(dirs[i], "p"))
	}
	pages, err := filepath.Glob(filepath.Join(dirs[0], "*"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages: ", err)
	}
	for _, page := range pages {
		want, err := os.ReadFile(page)
		got, otherErr := os.ReadFile(filepath.Join(dirs[1], filepath.Base(page)))
		if err := errors.Join(err, otherErr); err != nil {
			t.Fatal(err)
		}
		var width, height int
		if _, err := fmt.Fscanf(bytes.NewReader(want), "P6\n%d %d", &width, &height); err != nil || len(want) != len(got) {
			t.Fatalf("%s: %v, %d bytes and %d", page, err, len(want), len(got))
		}
		inText, inBanners, header := 0, 0, len(want)-3*width*height
		for i := range want {
			d := int(max(want[i], got[i]) - min(want[i], got[i]))
			switch y := (i - header) / (3 * width); {
			case y < bannerHeight || y > height-bannerHeight:
				inBanners += d
			case d > rounding:
				inText++
			}
		}
		if inText > 3*roundedPoints || inBanners > roundedText {
			t.Errorf("%s: %d colours of points of the text differ, %d levels of header and footer", filepath.Base(page), inText, inBanners)
		}
	}
}

// generated is a stylesheet of rules that show no border between sections.
func generated(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	length := func() string {
		return pick("0", "1px", ".5em", "1em", "2.5em", "7mm", "24pt", "1.3rem", "3%")
	}
	colour := func() string {
		return pick("red", "#0366d6", "rgb(10 80 20)", "hsl(200, 50%, 40%)", "rgba(0,0,0,.4)", "var(--primary)", "color-mix(in srgb, red, blue)")
	}
	border := func() string { return pick("1px", "3pt", ".3em") + pick(" solid ", " dashed ", " double ") + colour() }
	values := map[string]func() string{
		"color": colour, "font-size": func() string { return pick("9pt", "1.2em", "14px", "85%", "1.7rem") }, "line-height": func() string { return pick("1", "1.3", "2", "20pt") },
		"font-family": func() string { return pick("serif", "Inter, sans-serif", "monospace", "Georgia") }, "font-weight": func() string { return pick("300", "bold", "normal") },
		"letter-spacing": func() string { return pick("-.02em", ".1em", "1pt") }, "text-indent": func() string { return pick("1.5em", "-1em", "0") },
		"text-align": func() string { return pick("justify", "right", "center") }, "text-transform": func() string { return pick("uppercase", "capitalize") },
		"orphans": func() string { return pick("1", "4") }, "widows": func() string { return pick("1", "4") }, "hyphens": func() string { return pick("auto", "none") },
		"text-decoration": func() string { return pick("underline", "line-through red") }, "list-style": func() string { return pick("square", "upper-roman inside", "none") },
		"text-shadow": func() string { return "2px -9px 3px " + colour() },
	}
	boxes := map[string]func() string{
		"margin": func() string { return length() + pick("", " auto", " 1em 2em") }, "margin-top": length, "margin-bottom": length, "margin-block": length, "padding": length, "padding-top": length, "padding-block-end": length,
		"border": border, "border-top": border, "border-bottom": border, "border-radius": length, "background": func() string { return pick(colour(), "linear-gradient(red, transparent)") },
		"box-shadow": func() string { return pick("0 2px 6px ", "0 -30px 9px ", "3px 60px 2px ") + colour() }, "outline": border, "outline-offset": length, "width": func() string { return pick("80%", "fit-content", "140mm") },
		"break-inside": func() string { return pick("avoid", "auto") }, "break-after": func() string { return pick("avoid", "auto") }, "break-before": func() string { return pick("avoid", "auto") },
		"opacity": func() string { return ".7" }, "white-space": func() string { return pick("pre-wrap", "nowrap", "normal") }, "box-decoration-break": func() string { return pick("clone", "slice") },
	}
	names := func(m map[string]func() string) []string { return slices.Sorted(maps.Keys(m)) }
	var b strings.Builder
	for range 6 + r.IntN(10) {
		selector, from := pick("p", "h1", "h2", "h3", "h2, h3", "ul", "ol", "li", "dl", "dt", "blockquote", "pre", "table", "td, th", "main > p", "blockquote p", "li > p", "p + p", "h2 + p", "hr", ".note", "div.alert", ".alert-title", "tr:nth-child(odd) td", "ul > li:last-child", "h2:not(.x)", ":is(h2, h3)", "body h3", "a", "code", "strong"), boxes
		if r.IntN(4) == 0 {
			selector, from = pick("body", "html", "main", "*", "div", ".toc a", "h1::first-line", "nav li"), values
		}
		fmt.Fprintf(&b, "%s {", selector)
		for range 1 + r.IntN(4) {
			list := values
			if r.IntN(3) > 0 {
				list = from
			}
			name := pick(names(list)...)
			if strings.Contains(selector, ".") && strings.HasPrefix(name, "break-") {
				continue
			}
			fmt.Fprintf(&b, " %s: %s;", name, list[name]())
		}
		b.WriteString(" }\n")
		if r.IntN(4) == 0 {
			fmt.Fprintf(&b, "%s::%s { content: %s; display: %s; padding: %s; border-bottom: %s; color: %s }\n", pick("h2", "h3", "p", "blockquote", "pre", ".note", "a"), pick("before", "after"),
				pick(`""`, `"§ "`, "attr(href)"), pick("block", "inline-block", "inline"), length(), border(), colour())
		}
	}
	return b.String()
}
