package metadata_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/document/metadata"
	"presswork/internal/fault"
)

func TestYAMLFrontMatterIsRead(t *testing.T) {
	t.Parallel()
	src := "---\n# a comment\ntitle: 2024\nauthor: \"A: B\"\npage_size: Letter\nscale: 1.5\ntoc: true\nlandscape: false\n" +
		"keywords: [a, 1, yes]\nmargins:\n  top: 2cm\nlang: no\npage_ranges: 1-3\npdf_a: 2u\ncss: |\n  p { color: red }\ntheme: nord\nsubject: null\n---\n# x\n"

	m, err := metadata.Read([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := metadata.FrontMatter{
		Theme: "nord",
		Options: presswork.Options{
			Title:      "2024",
			Author:     "A: B",
			PageSize:   "Letter",
			Scale:      new(1.5),
			TOC:        new(presswork.Depth(3)),
			Landscape:  new(false),
			Keywords:   presswork.Keywords{"a", "1", "yes"},
			Margins:    presswork.Margins{Top: "2cm"},
			Lang:       "no",
			PageRanges: "1-3",
			PDFA:       new(presswork.PDFALevel("2u")),
			CSS:        "p { color: red }\n",
		},
		Authors: []metadata.Author{{Name: "A: B"}},
		Body:    []byte("# x\n"), BodyLine: 20,
	}

	if m.Lines["title"] != 3 || m.Lines["css"] != 15 {
		t.Errorf("got lines %v, want title in 3 and css in 15", m.Lines)
	}

	m.Lines, m.Fields = nil, nil
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTOMLFrontMatterIsRead(t *testing.T) {
	t.Parallel()
	src := "+++\n# a comment\ntitle = 2024\nauthor = 'A = B'\nscale = 1.5\ntoc = true\nkeywords = [\"a\", 1]\nmargins.top = \"2cm\"\n" +
		"subject = 2026-11-21\ncss = \"\"\"\np { color: red }\n\"\"\"\ntheme = \"nord\"\ndate = 2020-01-01T00:00:00Z\n\n[params]\ntitel = 1\n[[menu.main]]\nx = 1\n+++\n# x\n"

	m, err := metadata.Read([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := metadata.FrontMatter{
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
		Authors: []metadata.Author{{Name: "A = B"}},
		Date:    "2020-01-01T00:00:00Z",
		Body:    []byte("# x\n"), BodyLine: 21,
	}

	if m.Lines["title"] != 3 || m.Lines["margins"] != 8 || m.Lines["theme"] != 13 {
		t.Errorf("got lines %v, want title in 3, margins in 8 and theme in 13", m.Lines)
	}

	m.Lines, m.Fields = nil, nil
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSubstitutionsAreReadInTheFormsOfMySTAndSphinx(t *testing.T) {
	t.Parallel()

	for name, src := range map[string]string{
		"within myst": "myst:\n  substitutions:\n    key: a *word*\n    list: [a]\n",
		"top level":   "substitutions:\n  key: a *word*\n",
		"Sphinx":      "myst_substitutions:\n  key: a *word*\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := metadata.Read([]byte("---\n" + src + "---\n"))
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(map[string]string{"key": "a *word*"}, m.Substitutions); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
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

			m, err := metadata.Read([]byte(src))
			if err != nil && fault.CodeOf(err) != fault.FrontMatterInvalid {
				t.Errorf("%q: got %v, want %s or no error", matter, err, fault.FrontMatterInvalid)
			}

			if err == nil && !strings.HasSuffix(src, string(m.Body)) {
				t.Errorf("%q: the body is %q, want the end of the source", matter, m.Body)
			}
		}
	})
}
