package markdown_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// Each file in testdata/render has a source, a line of dashes, and the HTML and the warnings for it.
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

func TestEscapedHTMLIsShownAsText(t *testing.T) {
	t.Parallel()
	d := render(t, "a <b>c</b>\n\n<div>\nx &amp; y\n</div>\n\n<!-- pagebreak -->\n", markdown.Options{EscapeHTML: true})

	want := "<p>a &lt;b&gt;c&lt;/b&gt;</p>\n<p>&lt;div&gt;\nx &amp;amp; y\n&lt;/div&gt;\n</p>\n<div class=\"page-break\"></div>\n"
	if d.HTML != want {
		t.Errorf("got %q\nwant %q", d.HTML, want)
	}
}

func TestHeadingsAreNumberedInTheOutline(t *testing.T) {
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

	n := strings.Count(d.HTML, `<span class="line">`)
	if n != 2 || !strings.Contains(d.HTML, `class="chroma keep numbered"`) {
		t.Errorf("%d line spans in %s", n, d.HTML)
	}
}

// Chroma's lexers take quadratic to exponential time on hostile code. Such code is printed plain, in bounded time.
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
		t.Errorf("got %d of 300000 characters", n)
	}
}
