package document_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
)

// conformant is a document whose file must meet the standards that it claims.
type conformant struct {
	name string
	// group is the first column of its row in docs/lab/pdfa.md.
	group    string
	document document.Document
	claim    claim
}

// conformants lists the documents to check, with the standards that each must meet.
func conformants(t *testing.T) (all []conformant) {
	t.Helper()
	read := func(path string) []byte {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}

		return content
	}
	options := func(c claim) presswork.Options {
		o := presswork.Options{PDFUA: &c.ua, AttachSource: new(c.sources > 0)}
		if c.level != "" {
			o.PDFA = new(presswork.PDFALevel(c.level))
		}

		return o
	}

	groups := map[string]string{"testdata/conformance.md": "hard cases", "testdata/rich.md": "rich sample"}
	for _, sample := range slices.Sorted(maps.Keys(groups)) {
		claims := []claim{{level: "3b", sources: 1}, {level: "2u", ua: true}}
		if sample == "testdata/conformance.md" {
			claims = append(claims, claim{level: "2b"}, claim{ua: true})
		}

		for _, c := range claims {
			all = append(all, conformant{
				fmt.Sprintf("%s-%s-%v", strings.TrimSuffix(filepath.Base(sample), ".md"), c.level, c.ua),
				fmt.Sprintf("[%s](../../internal/document/%s)", groups[sample], sample),
				document.Document{Content: read(sample), Filename: "prüf bericht.md", Options: options(c)},
				c,
			})
		}
	}

	for _, c := range []claim{{level: "3b", sources: 1}, {level: "2u", ua: true}} {
		o := options(c)
		o.TOC, o.HeaderText = new(presswork.Depth(2)), new("{chapter}")
		all = append(all, conformant{
			"divided-" + c.level,
			"a long document, printed in sections",
			document.Document{Content: chapters("\\newpage\n\n"), Filename: "long.md", Options: o},
			c,
		})
	}
	// The sample skips a heading level, which PDF/UA forbids.
	sample := bytes.Replace(read("../../themes/sample.md"), []byte("\n#### "), []byte("\n### "), 1)

	list := catalogue(t).List()
	for _, theme := range list {
		c := claim{level: "2u", ua: true}
		all = append(all, conformant{
			theme.Name,
			fmt.Sprintf("[sample](../../themes/sample.md) in each of %d themes", len(list)),
			document.Document{Content: sample, Theme: theme.Name, Options: options(c)},
			c,
		})
	}
	bound := options(claim{level: "2u", ua: true})
	bound.CropMarks, bound.Binding = new(true), "5mm"
	all = append(all, conformant{
		"novel",
		"a novel, for a print shop",
		document.Document{Content: []byte(novel(12)), Theme: "fantasy", Options: bound},
		claim{level: "2u", ua: true},
	})

	for name, d := range laidOut(t) {
		c := claim{level: "2u", ua: true}
		o := options(c)
		d.Options.PDFA, d.Options.PDFUA = o.PDFA, o.PDFUA
		all = append(all, conformant{name, "the layouts, and a notebook", d, c})
	}
	untagged := options(claim{level: "2b"})
	untagged.Tagged = new(false)

	return append(all, conformant{
		"untagged",
		"[small sample](../../internal/document/testdata/sample.md), untagged",
		document.Document{Content: read("testdata/sample.md"), Options: untagged},
		claim{level: "2b"},
	})
}

// TestConformance prints every sample and theme as PDF/A and PDF/UA. The files must break no rule of faults and none
// of veraPDF.
func TestConformance(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: printer(t), Idle: func() int { return 2 }})
	dir := t.TempDir()
	printed := map[string]conformant{} // by path
	var mu sync.Mutex
	t.Run("own rules", func(t *testing.T) {
		for _, d := range conformants(t) {
			t.Run(d.name, func(t *testing.T) {
				t.Parallel()

				composed, err := c.Compose(t.Context(), d.document)
				if err != nil {
					t.Fatal(err)
				}

				r, err := c.Print(t.Context(), composed)
				if err != nil {
					t.Fatal(err)
				}

				for _, w := range r.Warnings {
					if w.Code == fault.PDFUAIncomplete {
						t.Error(w.Message)
					}
				}

				for _, fault := range faults(t, r.PDF, d.claim) {
					t.Error(fault)
				}

				path := filepath.Join(dir, d.name+".pdf")
				if err := os.WriteFile(path, r.PDF, 0o600); err != nil {
					t.Fatal(err)
				}

				for _, word := range brokenWords(d.document.Content, poppler(t, "pdftotext", path, "-")) {
					t.Errorf("a search does not find the word %q of a heading", word)
				}
				mu.Lock()
				printed[path] = d
				mu.Unlock()
			})
		}
	})
	t.Run("veraPDF", func(t *testing.T) { validate(t, printed) })
}

// plainHeading matches a heading without markup.
var plainHeading = regexp.MustCompile(`(?m)^#+ ([A-Za-z ]+)$`)

// brokenWords returns the words of headings that the text of a print does not contain. Letters that are set too
// far apart become separate words in a search.
func brokenWords(markdown []byte, printed string) (broken []string) {
	found := map[string]bool{}
	for word := range strings.FieldsSeq(strings.ToLower(printed)) {
		found[word] = true
	}

	for _, heading := range plainHeading.FindAllSubmatch(markdown, -1) {
		for word := range strings.FieldsSeq(strings.ToLower(string(heading[1]))) {
			if !found[word] {
				broken = append(broken, word)
			}
		}
	}

	return broken
}

// Each change breaks one rule of a conformant file. The message names the rule.
func TestOwnRulesFindFaults(t *testing.T) {
	t.Parallel()
	yes := true
	good, _ := printDocument(t, document.Document{
		Content:  []byte("# x\n\n- a [b](https://example.com)\n"),
		Filename: "a.md",
		Options: presswork.Options{
			PDFA:         new(presswork.PDFALevel("3b")),
			PDFUA:        &yes,
			AttachSource: &yes,
			Author:       "Ann",
		},
	})

	is := claim{level: "3b", ua: true, sources: 1}
	if found := faults(t, good.PDF, is); len(found) > 0 {
		t.Fatalf("the unchanged file has faults: %v", found)
	}

	for says, change := range map[string][2]string{
		"the header": {"%PDF-1.7", "%PDF-1.4"}, "no file id": {"/ID [", "/IX ["}, "claims PDF/A": {"<pdfaid:part>3", "<pdfaid:part>2"},
		"claims PDF/UA": {"<pdfuaid:part>1", "<pdfuaid:part>2"}, "in XMP": {"/Author (Ann)", "/Author (Eve)"},
		"output intent": {"/GTS_PDFA1", "/GTS_PDFX1"}, "is not a link": {"/F 4\n", "/F 0\n"}, "not embedded": {"/FontFile2", "/FontFixe2"},
		"not associated": {"/AFRelationship /Source", "/AFRelationship /Sourxe"}, "JavaScript": {"/Border [0 0 0]", "/JavaScript 123"},
		"has a Table": {"/S /LBody", "/S /Table"}, "leads": {"/Contents (", "/Contentz ("}, "not marked": {"/Marked true", "/Marked null"},
	} {
		t.Run(says, func(t *testing.T) {
			bad := strings.Replace(string(good.PDF), change[0], change[1], 1)

			found := faults(t, []byte(bad), is)
			if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, says) }) {
				t.Errorf("got faults %q, want one with %q", found, says)
			}
		})
	}
}

// With a fixed date, each browser prints the same bytes, whatever it has printed before.
func TestFixedDatesMakeReproducibleFiles(t *testing.T) {
	t.Parallel()

	content, err := os.ReadFile("testdata/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	epoch := time.Unix(0, 0)
	documents := map[string]document.Document{
		"plain": {Content: content, Options: presswork.Options{FooterText: new("{date}")}},
		"PDF/UA": {
			Content: content,
			Options: presswork.Options{PDFA: new(presswork.PDFALevel("2u")), PDFUA: new(true)},
		},
	}
	first := map[string]string{}

	for round := range 2 {
		// Each round has a new browser. The second browser prints another document first.
		c := converter(t, document.Options{Printer: printerWith(t, ""), Epoch: epoch})
		for range round {
			convert(t, c, document.Document{Content: []byte("# Other\n\n| a |\n|---|\n| b |\n")})
		}

		for name, d := range documents {
			r, path := convert(t, c, d)
			switch {
			case round == 0:
				first[name] = string(r.PDF)
			case first[name] != string(r.PDF):
				t.Errorf("%s: the second print differs: %d bytes, the first has %d", name, len(r.PDF), len(first[name]))
			}

			if got := field(poppler(t, "pdfinfo", "-isodates", path), "CreationDate"); got != "1970-01-01T00:00:00Z" {
				t.Errorf("%s: created at %s, want 1970-01-01T00:00:00Z", name, got)
			}
		}
	}

	if !strings.Contains(first["plain"], "<xmp:CreateDate>1970-01-01T00:00:00Z<") {
		t.Error("the metadata lacks the fixed date")
	}
}
