package markdown_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown"
)

// svgBomb returns an SVG that draws 10^levels rectangles.
func svgBomb(levels int) string {
	var b strings.Builder
	b.WriteString(
		`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><defs><g id="l0"><rect width="2" height="2"/></g>`,
	)

	for i := range levels {
		fmt.Fprintf(&b, `<g id="l%d">%s</g>`, i+1, strings.Repeat(fmt.Sprintf(`<use href="#l%d"/>`, i), 10))
	}
	fmt.Fprintf(&b, `</defs><use href="#l%d"/></svg>`, levels)

	return b.String()
}

func dataURI(svg string) string {
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg))
}

// pipeTable returns a table whose cells are all equal.
func pipeTable(rows, columns int, cell string) string {
	row := strings.Repeat("|"+cell, columns) + "|\n"

	return strings.Repeat("|h", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" + strings.Repeat(row, rows)
}

// mdx begins a document in MDX.
const mdx = "import A from \"b\"\n\n<A/>\n\n"

func footnotes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "text[^%d]\n\n[^%d]: a note\n\n", i, i)
	}

	return b.String()
}

// The work of printing grows with the content of a document. Too much is rejected before a browser is started. The
// error names the count, the limit and, if known, the line.
func TestDocumentsTooLargeForTheBrowserAreRejected(t *testing.T) {
	t.Parallel()
	bomb := svgBomb(8)
	chain := strings.Builder{}
	chain.WriteString("a[^0]\n\n")

	for i := range 50_000 {
		fmt.Fprintf(&chain, "[^%d]: b[^%d]\n", i, i+1)
	}

	files := map[string]string{"bomb.svg": bomb}
	for name, c := range map[string]struct{ content, want string }{
		"an SVG as a data URI":   {"text\n\n![a](" + dataURI(bomb) + ")\n", "line 3: image \"data:image/svg+xml;base64,"},
		"an SVG file":            {"![a](bomb.svg)\n", "line 1: image \"bomb.svg\": the SVG draws 1853086359 elements"},
		"an SVG from elsewhere":  {"\n![a](http://example.test/bomb.svg)\n", "line 2: image \"http://example.test/bomb.svg\": the SVG draws"},
		"an SVG in raw HTML":     {"<p><img src=\"bomb.svg\" width=\"9\"></p>\n", "image \"bomb.svg\""},
		"SVGs in an SVG":         {"![a](" + dataURI(`<svg xmlns="http://www.w3.org/2000/svg"><image href="`+dataURI(bomb)+`"/></svg>`) + ")\n", "elements once its references are followed; at most 120000"},
		"a chain":                {"![a](" + dataURI(`<svg xmlns="http://www.w3.org/2000/svg">`+strings.Repeat("<g>", 3000)+strings.Repeat("</g>", 3000)+`</svg>`) + ")\n", "deeper than 1000 levels"},
		"many SVGs":              {manySVGs(40), "line 31: the SVG images up to this one draw"},
		"a table":                {pipeTable(7000, 8, "c"), "with 56008 table cells"},
		"a table of HTML":        {"<table>" + strings.Repeat("<tr><td colspan=1000>a</td></tr>", 100) + "</table>\n", "100000 table cells"},
		"quotes":                 {strings.Repeat("> a\n\n", 20_000), "40000 blocks and 0 other elements it has 120000 parts; at most 100000 are allowed"},
		"footnotes":              {chain.String(), "at most 100000 are allowed"},
		"marks on a letter":      {"text\n\nxy a" + strings.Repeat("\u0301", 250_000), "line 3: a letter with over 500 combining marks; at most 500"},
		"marks as entities":      {strings.Repeat("a&#x301;&#x302;", 300) + "b" + strings.Repeat("&#x301;", 1000), "the document holds a letter with over 500 combining marks"},
		"marks of Hangul":        {strings.Repeat("\u1112", 100_000), "line 1: a letter with over 500 combining marks"},
		"a word":                 {"a\n\nb " + strings.Repeat("x", 600_000), "line 3: a word of over 500000 characters without a space; at most 500000"},
		"spans of a paragraph":   {strings.Repeat("[a]{.b} ", 15_000), "the largest has 30000 pieces of text, line breaks, images and formulas"},
		"lines of a paragraph":   {strings.Repeat("a\\\n", 15_000), "the squares of all are"},
		"formulas":               {strings.Repeat("$a$\n\n", 30_000), "at most 100000 are allowed (a cell"},
		"tags of MDX":            {mdx + strings.Repeat("<A ", 300_000), "for example in line 5: end each tag with > within 8000 bytes"},
		"quotes of MDX":          {mdx + strings.Repeat(`<A b="`, 150_000), "for example in line 5: end each tag with > within 8000 bytes"},
		"a word in a code block": {"```\n" + strings.Repeat("x", 600_000) + "\n```\n", "line 2: a word of over 500000 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := markdown.New().Parse(t.Context(), []byte(c.content), markdown.Options{
				Asset: func(name string) ([]byte, error) { return []byte(files[name]), nil },
				Fetch: func(context.Context, string) ([]byte, string, error) { return []byte(bomb), "image/svg+xml", nil },
			})
			if fault.CodeOf(err) != fault.ContentTooComplex || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %.300v; want %s", name, err, c.want)
			}
		})
	}
}

// manySVGs returns n different pictures that are costly to draw.
func manySVGs(n int) string {
	var b strings.Builder

	for i := range n {
		svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><title>%d</title>%s</svg>`,
			i, strings.Repeat("<rect/>", 7500))
		fmt.Fprintf(&b, "![a](%s)\n\n", dataURI(svg))
	}

	return b.String()
}

// Real documents, even large ones, are far below the limits.
func TestLargeRealDocumentsAreAccepted(t *testing.T) {
	t.Parallel()
	blob := make([]byte, 200<<10)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(blob) // never fails

	figure := "![a](" + dataURI(svgBomb(2)) + ")\n\n"
	for name, content := range map[string]string{
		"a table":          pipeTable(5000, 8, "some text"),
		"footnotes":        footnotes(2000),
		"CJK":              strings.Repeat("漢字仮名交じり文、", 20_000),
		"Tibetan":          strings.Repeat("བོད་སྐད་དང་བོད་ཡིག་ནི", 5000),
		"harakat":          strings.Repeat("بِسْمِ اللَّهِ الرَّحْمَٰنِ الرَّحِيمِ ", 5000),
		"Devanagari":       strings.Repeat("हिन्दी में लिखा हुआ पाठ ", 5000),
		"Thai":             strings.Repeat("ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำ", 5000),
		"Hangul in pieces": strings.Repeat("\u1112\u1161\u11ab\u1100\u1173\u11af ", 20_000),
		"Zalgo":            strings.Repeat("Z"+strings.Repeat("\u0301\u0323", 30)+"algo ", 1000),
		"emoji families":   strings.Repeat("👨‍👩‍👧‍👦", 2000),
		"a blob":           "```\n" + base64.StdEncoding.EncodeToString(blob) + "\n```\n",
		"bold words":       strings.Repeat("**a** ", 9_000),
		"numbers in code":  "```python\nx = [\n" + strings.Repeat(strings.Repeat("1, ", 200)+"\n", 100) + "]\n```\n",
		"minified code":    "```js\n" + strings.Repeat("a=b(1);", 10_000) + "\n```\n",
		"code":             "```go\n" + strings.Repeat("x := map[string]int{\"a\": 1, \"b\": f(y[3], \"c\")}\n", 20_000) + "```\n",
		"prose":            strings.Repeat("The *quick* **brown** fox `jumps` over [the](http://lazy.dog) dog. "+strings.Repeat("It goes on. ", 40)+"\n\n", 8000),
		"one icon often":   strings.Repeat(figure, 500),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := markdown.New().Parse(t.Context(), []byte(content), markdown.Options{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// If each line could begin a table of all that follows, the search reads the text a few times, not once for each
// line.
func TestSearchForTablesOfDashesIsBounded(t *testing.T) {
	t.Parallel()
	const table = "A  B\n-- --\n1  2\n"

	var b strings.Builder
	for columns := 3; columns < 150; columns++ {
		b.WriteString(strings.Repeat("-- ", columns) + "\n\n")
	}

	for before, want := range map[string]bool{"text\n\n": true, b.String(): false} {
		if d := render(t, before+table, markdown.Options{}); strings.Contains(d.HTML, "<table") != want {
			t.Errorf("after %d bytes: table %v, want %v", len(before), !want, want)
		}
	}
}

// A browser reads all frames of an animation to show the first.
func TestFramesOfAnimationsAreBounded(t *testing.T) {
	t.Parallel()

	frame := ",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00"
	for frames, want := range map[int]string{2000: "", 40_000: "it is animated in 40000 frames; at most 2000 are allowed"} {
		gif := "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff" + strings.Repeat(frame, frames) + ";"

		d := render(
			t,
			"![a](a.gif)\n",
			markdown.Options{Asset: func(string) ([]byte, error) { return []byte(gif), nil }},
		)
		if got := fmt.Sprint(d.Warnings); want == "" && len(d.Warnings) > 0 || !strings.Contains(got, want) {
			t.Errorf("%d frames: %s", frames, got)
		}
	}
}
