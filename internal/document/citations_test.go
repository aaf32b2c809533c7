package document_test

import (
	"io/fs"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
)

// TestCitationsArePrinted follows a citation in a printed document to its entry.
func TestCitationsArePrinted(t *testing.T) {
	t.Parallel()
	result, path := printDocument(t, document.Document{
		Content: []byte(
			"---\nbibliography: [refs.bib, more.json]\ncsl: vancouver\nnocite: |\n  @c\nlang: en\n---\n# Paper\n\nSaid before [@a; @b; @none].\n\n\\newpage\n",
		),
		Asset: func(name string) ([]byte, error) {
			switch name {
			case "refs.bib":
				return []byte(
					"@book{a, author={Knuth, Donald}, title={The {\\TeX}book}, year=1984}\n@book{c, title={Uncited}, author={Cee, C}}",
				), nil
			case "more.json":
				return []byte(
					`[{"id":"b","type":"book","title":"Second <i>work</i>","author":[{"family":"Bee","given":"Bob"}]}]`,
				), nil
			}

			return nil, fs.ErrNotExist
		},
	})

	pages := pageTexts(t, path)
	if len(pages) != 2 || !strings.Contains(pages[0], "(1,2,none?)") {
		t.Fatalf("got pages %q, want two, and (1,2,none?) on the first", pages)
	}

	for _, want := range []string{"References", "1.", "Knuth D. The TeXbook. 1984", "Bee B. Second work", "Cee C. Uncited"} {
		if !strings.Contains(strings.Join(strings.Fields(pages[1]), " "), want) {
			t.Errorf("page 2 lacks %q: %s", want, pages[1])
		}
	}

	if dests := poppler(t, "pdfinfo", "-dests", path); !strings.Contains(dests, `"ref-a"`) ||
		!strings.Contains(dests, `"ref-b"`) {
		t.Errorf("the entries are no link targets: %s", dests)
	}

	if len(result.Warnings) != 1 || result.Warnings[0].Code != fault.CitationMissing || result.Warnings[0].Line != 10 {
		t.Errorf("got warnings %v, want %s in line 10", result.Warnings, fault.CitationMissing)
	}
}

func TestCitationOptionsAreChecked(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		options presswork.Options
		want    string
	}{
		"misspelt style":     {presswork.Options{CSL: "apaa"}, `csl "apaa" does not exist; did you mean "apa"?; allowed: acm, acs,`},
		"long style":         {presswork.Options{CSL: strings.Repeat("x", 600) + ".csl"}, "does not exist"},
		"NUL in a file name": {presswork.Options{Bibliography: presswork.Files{"a\x00b"}}, "is not the name of a file"},
		"too many files":     {presswork.Options{Bibliography: make(presswork.Files, 21)}, "names 21 files; at most 20"},
		"long nocite":        {presswork.Options{NoCite: strings.Repeat("@a ", 5000)}, "nocite is longer than 10000"},
		"misspelt numbering": {presswork.Options{Numbering: "chapters"}, `numbering "chapters" is not allowed; did you mean "chapter"?; allowed: document, chapter`},
	} {
		t.Run(name, func(t *testing.T) {
			err := document.CheckOptions(c.options)
			if fault.CodeOf(err) != fault.InvalidOption || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}

	for name, fine := range map[string]presswork.Options{
		"built-in style": {CSL: "ieee"},
		"files":          {CSL: "My Style.CSL", Bibliography: presswork.Files{"a/b.bib"}},
		"numbering":      {Numbering: "document", LOF: new(true)},
	} {
		t.Run(name, func(t *testing.T) {
			if err := document.CheckOptions(fine); err != nil {
				t.Errorf("got %v, want no error", err)
			}
		})
	}
}
