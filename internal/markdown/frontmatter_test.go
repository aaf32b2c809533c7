package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/markdown"
)

func TestFrontMatterIsRead(t *testing.T) {
	t.Parallel()
	src := "---\n# a comment\ntitle: 2024\nauthor: \"A: B\"\npage_size: Letter\nscale: 1.5\ntoc: true\nlandscape: false\n" +
		"keywords: [a, 1, yes]\nmargins:\n  top: 2cm\nlang: no\npage_ranges: 1-3\npdf_a: 2u\ncss: |\n  p { color: red }\ntheme: nord\nsubject: null\n---\n# x\n"

	m, err := markdown.FrontMatter([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := markdown.Matter{
		Theme: "nord",
		Options: presswork.Options{
			Title:     "2024",
			Author:    "A: B",
			PageSize:  "Letter",
			Scale:     new(1.5),
			TOC:       new(presswork.Depth(3)),
			Landscape: new(false),
			Keywords: presswork.Keywords{
				"a",
				"1",
				"yes",
			},
			Margins:    presswork.Margins{Top: "2cm"},
			Lang:       "no",
			PageRanges: "1-3",
			PDFA:       new(presswork.PDFALevel("2u")),
			CSS:        "p { color: red }\n",
		},
		Body: []byte("# x\n"), BodyLine: 20,
	}

	if m.Lines["title"] != 3 || m.Lines["css"] != 15 {
		t.Errorf("lines %v", m.Lines)
	}

	m.Lines = nil
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFrontMatterErrorsNameTheLine(t *testing.T) {
	t.Parallel()

	for src, says := range map[string]string{
		"---\ntitle: \"open\nauthor: x\n---\n":                             "line ",
		"---\ntitle: " + strings.Repeat("[", 40) + "\n---\n":               "nest deeper",
		"---\nkeywords:\n" + strings.Repeat("- ", 40) + "\n---\n":          "nest deeper",
		"---\ntitle: " + strings.Repeat("a", 9000) + "\n---\n":             "longer than 8 KB",
		"---\ntitle: |\n" + strings.Repeat("  aaaaaaaa\n", 7000) + "---\n": "longer than 64 KB",
	} {
		t.Run(src, func(t *testing.T) {
			_, err := markdown.FrontMatter([]byte(src))
			if fault.CodeOf(err) != fault.FrontMatterInvalid || !strings.Contains(err.Error(), says) {
				t.Errorf("%.60q: got %v, want %q", src, err, says)
			}
		})
	}
}

func TestTOMLFrontMatterIsRead(t *testing.T) {
	t.Parallel()
	src := "+++\n# a comment\ntitle = 2024\nauthor = 'A = B'\nscale = 1.5\ntoc = true\nkeywords = [\"a\", 1]\nmargins.top = \"2cm\"\n" +
		"subject = 2026-11-21\ncss = \"\"\"\np { color: red }\n\"\"\"\ntheme = \"nord\"\ndate = 2020-01-01T00:00:00Z\n\n[params]\ntitel = 1\n[[menu.main]]\nx = 1\n+++\n# x\n"

	m, err := markdown.FrontMatter([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := markdown.Matter{
		Theme: "nord",
		Options: presswork.Options{
			Title:    "2024",
			Author:   "A = B",
			Scale:    new(1.5),
			TOC:      new(presswork.Depth(3)),
			Keywords: presswork.Keywords{"a", "1"},
			Margins:  presswork.Margins{Top: "2cm"},
			Subject:  "2026-11-21",
			CSS:      "p { color: red }\n",
		},
		Date: "2020-01-01T00:00:00Z",
		Body: []byte("# x\n"), BodyLine: 21,
	}

	if m.Lines["title"] != 3 || m.Lines["margins"] != 8 || m.Lines["theme"] != 13 {
		t.Errorf("lines %v", m.Lines)
	}

	m.Lines = nil
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTOMLErrorsNameTheLine(t *testing.T) {
	t.Parallel()

	for src, says := range map[string]string{
		"+++\na = 1\ntitle = \"open\n+++\n":                                   "line 3: ",
		"+++\ntitle = \"x\"\ntitle = \"y\"\n+++\n":                            "line 3: ",
		"+++\na = " + strings.Repeat("[", 40) + "\n+++\n":                     "nest deeper",
		"+++\na = '''\n" + strings.Repeat("aaaaaaaaa\n", 7000) + "'''\n+++\n": "longer than 64 KB",
	} {
		t.Run(src, func(t *testing.T) {
			_, err := markdown.FrontMatter([]byte(src))
			if fault.CodeOf(err) != fault.FrontMatterInvalid || !strings.Contains(err.Error(), says) {
				t.Errorf("%.60q: got %v, want %q", src, err, says)
			}
		})
	}
}

func TestWhatIsNotFrontMatterStaysMarkdown(t *testing.T) {
	t.Parallel()

	for i, src := range []string{
		"# x\n---\na: b\n---\n", "---\nHello world\n---\n", "---\n- a: b\n---\n", "----\na: b\n---\n", "---\ntitle: x\n", "--- x\na: b\n---\n", "",
		"---\n# A heading between rules\n---\n", "---\nNote: a paragraph\nof two lines: [x\n---\n", "+++\nHello = there, world\n", "+++\ntext\n+++\n", "++++\na = 1\n++++\n", "+++\n\n+++ b\n", "---\nNote: a rule\n" + strings.Repeat("a line\n", 10_000),
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			m, err := markdown.FrontMatter([]byte(src))
			if err != nil || string(m.Body) != src || m.BodyLine != 1 {
				t.Errorf("%q: got body %q at line %d, %v", src, m.Body, m.BodyLine, err)
			}
		})
	}

	m, err := markdown.FrontMatter([]byte("---\ntitle: x\n--- abstract\n\nAn Internet-Draft.\n\n--- middle\n"))
	if err != nil || m.Options.Title != "x" || string(m.Body) != "--- abstract\n\nAn Internet-Draft.\n\n--- middle\n" ||
		m.BodyLine != 3 {
		t.Errorf("front matter that a part of a draft ends: %+v, %v", m, err)
	}

	m, err = markdown.FrontMatter([]byte("\ufeff---\r\ntitle: x\r\n...\r\nbody"))
	if err != nil || m.Options.Title != "x" || string(m.Body) != "body" || m.BodyLine != 4 {
		t.Errorf("a byte order mark and CRLF: %+v, %v", m, err)
	}
}

func FuzzFrontMatter(f *testing.F) {
	for _, seed := range []string{"title: x", "a: [b, {c: d}]", "x: &a [*a]", "? a\n: b", "a: |\n  b\n c", "\"", "{", "- - -", "a: !!x y", "%YAML 1.2\n---\n", "a: 'b", "css: \"p{}\""} {
		f.Add(seed)
	}

	for _, seed := range []string{"title = 'x'", "a = [1, {b = 2}]", "[a.b]\nc = 1979-05-27", "[[a]]\n[[a]]", "a.b = 1\na.c = 2", "a = '''\nb'''", "a = 0x1F"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, matter string) {
		for _, fence := range []string{"---", "+++"} {
			src := fence + "\n" + matter + "\n" + fence + "\nbody\n"

			m, err := markdown.FrontMatter([]byte(src))
			if err != nil && fault.CodeOf(err) != fault.FrontMatterInvalid {
				t.Errorf("%q: %v", matter, err)
			}

			if err == nil && !strings.HasSuffix(src, string(m.Body)) {
				t.Errorf("%q: body %q is no tail of it", matter, m.Body)
			}
		}
	})
}
