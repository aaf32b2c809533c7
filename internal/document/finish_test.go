package document_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/pdffile/filetest"
	"presswork/internal/pdffile/pack"
)

func TestPasswordsProtectTextAndMetadata(t *testing.T) {
	t.Parallel()
	const password = "Gänse(füßchen) 漢" // with characters that PDF strings escape, and beyond Latin-1
	// Long enough for two object streams.
	_, path := printDocument(t, document.Document{
		Content: []byte("# Secret\n\n" + strings.Repeat("| a | b |\n|---|---|\n| c | d |\n\n", 200)),
		Options: presswork.Options{Password: password, Author: "Ann"},
	})

	info := poppler(t, "pdfinfo", "-upw", password, path)
	if field(info, "Author") != "Ann" ||
		!strings.HasPrefix(
			field(info, "Encrypted"),
			"yes (print:yes copy:yes change:yes addNotes:yes algorithm:AES-256)",
		) ||
		field(info, "Tagged") != "yes" {
		t.Errorf("want the author, tags and AES-256; pdfinfo says %s", info)
	}

	if text := poppler(t, "pdftotext", "-opw", password, path, "-"); !strings.Contains(text, "Secret") {
		t.Errorf("the text is %.100q, want it with Secret", text)
	}

	for _, wrong := range []string{"", "Gänse", password + "x"} {
		t.Run("wrong password "+wrong, func(t *testing.T) {
			if out, err := exec.CommandContext(t.Context(), "pdfinfo", "-upw", wrong, path).
				CombinedOutput(); err == nil ||
				!strings.Contains(string(out), "Incorrect password") {
				t.Errorf("got %v: %s, want that the password is incorrect", err, out)
			}
		})
	}

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	if strings.Contains(string(data), "Ann") || strings.Contains(string(data), "xmpmeta") {
		t.Error("metadata is readable without the password")
	}
}

func TestSourcesAreAttachedUnderSafeNames(t *testing.T) {
	t.Parallel()
	content := "# Größe\n\ntext\n"

	_, path := printDocument(t, document.Document{
		Content:  []byte(content),
		Filename: `..\../evil/Prüf "bericht".pdf`,
		Parts: []document.Part{
			{Path: "b/a.md", Content: []byte("# A\n")},
			{Path: "c/a.md", Content: []byte("# B\n")},
		},
		Options: presswork.Options{PDFA: new(presswork.PDFALevel("3b")), AttachSource: new(true)},
	})

	list := poppler(t, "pdfdetach", "-list", path)
	if !strings.Contains(list, "3 embedded files") || !strings.Contains(list, "3: Prüf \"bericht\".md") ||
		!strings.Contains(list, "a-2.md") {
		t.Errorf("want three files, with names without folders and not twice the same; pdfdetach says %s", list)
	}
	out := filepath.Join(t.TempDir(), "source.md")
	poppler(t, "pdfdetach", "-save", "3", "-o", out, path)

	if got, err := os.ReadFile(out); err != nil || string(got) != content {
		t.Errorf("the attached source is %q, %v; want %q", got, err, content)
	}
}

// Such documents are printed with a warning and without the claim, or rejected if they are strict.
func TestDocumentsThatBreakPDFUADoNotClaimIt(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: printer(t)})

	const dot = "(" + dotURI + ")"
	for content, says := range map[string]string{
		"# a\n\n### b\n":                     "a heading of level 3 follows one of level 1",
		"## a\n":                             "the first heading is of level 2, not 1",
		"# a\n\n![]" + dot + "\n\n![]" + dot: "2 images have no alternative text",
		"# a\n\n\ue123\n":                    "some characters are in no installed font",
		"# a\n\n<table><tr><td>a<td>b<tr><td>c</table>\n": "a table has rows of different lengths",
	} {
		t.Run(content, func(t *testing.T) {
			d := document.Document{Content: []byte(content), Options: presswork.Options{PDFUA: new(true)}}
			r, _ := convert(t, c, d)

			last := fault.Warning{}
			if len(r.Warnings) > 0 {
				last = r.Warnings[len(r.Warnings)-1]
			}

			if last.Code != fault.PDFUAIncomplete || last.Message != "the PDF does not claim PDF/UA: "+says {
				t.Errorf("got warnings %v, want that %s", r.Warnings, says)
			}

			for _, fault := range faults(t, r.PDF, claim{}) {
				t.Error(fault)
			}
			d.Options.Strict = new(true)
			composed, err := c.Compose(t.Context(), d)

			r = document.Result{}
			if err == nil {
				r, err = c.Print(t.Context(), composed)
			}

			if fault.CodeOf(err) != fault.StrictFindings || r.PDF != nil {
				t.Errorf("strict: got %v, %d bytes; want %s and no PDF", err, len(r.PDF), fault.StrictFindings)
			}
		})
	}
}

// strange is a Printer that returns a PDF without any object.
type strange struct{ blank }

func (strange) Print(context.Context, printable.Page) ([]byte, error) {
	return []byte("%PDF-1.4\n"), nil
}

// A print that cannot meet PDF/A or be encrypted fails. It must not be returned without them.
func TestPrintsThatCannotMeetTheirOptionsFail(t *testing.T) {
	t.Parallel()
	level := new(presswork.PDFALevel("2b"))

	browser := printer(t)
	for name, c := range map[string]struct {
		printer document.Printer
		content string
		options presswork.Options
		want    fault.Code
	}{
		"a character in no font":    {browser, "\ue123", presswork.Options{PDFA: level}, fault.RenderFailed},
		"an endless address":        {browser, "[x](https://example.com/" + strings.Repeat("x", 40000) + ")", presswork.Options{PDFA: level}, fault.RenderFailed},
		"another browser: PDF/A":    {strange{}, "x", presswork.Options{PDFA: level}, fault.RenderFailed},
		"another browser: password": {strange{}, "x", presswork.Options{Password: "x"}, fault.RenderFailed},
		"another browser: plain":    {strange{}, "x", presswork.Options{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			converter := converter(t, document.Options{Printer: c.printer})

			composed, err := converter.Compose(
				t.Context(),
				document.Document{Content: []byte(c.content), Options: c.options},
			)
			if err != nil {
				t.Fatal(err)
			}

			r, err := converter.Print(t.Context(), composed)
			if fault.CodeOf(err) != c.want || (err == nil) != (r.PDF != nil) {
				t.Errorf("got %v, %d bytes; want %q, and bytes only without an error", err, len(r.PDF), c.want)
			}
		})
	}
}

// Tags add at most 20 % to prose. Tables have a tag for each cell, so they may triple.
func TestTagsAddLittleToTheSize(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: printer(t)})
	var table strings.Builder
	table.WriteString("# T\n\n| a | b | c | d |\n|---|---|---|---|\n")

	for i := range 600 {
		fmt.Fprintf(&table, "| %d | cell %d | %d | yes |\n", i, i*7, i*i)
	}
	// Words in random order, so that the text compresses as badly as a real one.
	words := strings.Fields(
		"time person year way day thing man world life hand part child eye woman place work week case point government company number group problem " +
			"fact be have do say get make go know take see come think look want give use find tell ask seem feel try leave call good new first last long great little own other old right big",
	)
	random := rand.New(rand.NewPCG(1, 2))

	var prose strings.Builder
	for range 10 {
		prose.WriteString("\n\n## Chapter\n")

		for i := range 900 {
			switch word := words[random.IntN(len(words))]; {
			case i%60 == 0:
				prose.WriteString("\n\n" + word)
			case i%31 == 0:
				prose.WriteString(" *" + word + "*")
			default:
				prose.WriteString(" " + word)
			}
		}
	}

	for name, d := range map[string]struct {
		content string
		limit   float64 // bytes tagged, in bytes untagged
	}{"prose": {"# P\n\n" + prose.String(), 1.2}, "tables": {table.String(), 3}} {
		t.Run(name, func(t *testing.T) {
			tagged, _ := convert(t, c, document.Document{Content: []byte(d.content)})
			untagged, _ := convert(
				t,
				c,
				document.Document{Content: []byte(d.content), Options: presswork.Options{Tagged: new(false)}},
			)
			ratio := float64(len(tagged.PDF)) / float64(len(untagged.PDF))

			if ratio > d.limit {
				t.Errorf("%d bytes tagged, %d untagged: %.2f ×, want at most %g ×",
					len(tagged.PDF), len(untagged.PDF), ratio, d.limit)
			}
		})
	}
}

func TestOutlineHasTheWordsOfTheHeadings(t *testing.T) {
	t.Parallel()
	_, path := printDocument(t, document.Document{
		Content: []byte(
			"# One *two* three\n\n## \n\n## 🎉\n\n## The law $E = mc^2$ holds\n\n<h3>Raw <b>HTML</b></h3>\n\n## `code`\n",
		),
		Options: presswork.Options{NumberedHeadings: new(true), TOC: new(presswork.Depth(2))},
	})

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string

	for _, o := range filetest.Objects(t, data) {
		if title := match(o, `^<</Title (.*)\n/Dest`); title != "" {
			titles = append(titles, text(title))
		}
	}

	for _, want := range []string{"One two three", "🎉", "The law E = mc^2 holds", "Raw HTML", "code"} {
		if !strings.Contains(strings.Join(titles, "\n"), want) {
			t.Errorf("got titles %q, want %q among them", titles, want)
		}
	}
}

// BenchmarkFinish measures the print, the inspection and the packing of a document, each by option.
func BenchmarkFinish(b *testing.B) {
	rich, err := os.ReadFile("testdata/rich.md")
	if err != nil {
		b.Fatal(err)
	}
	browser := printer(b)

	c := converter(b, document.Options{Printer: browser})
	for _, o := range []struct {
		name    string
		options presswork.Options
	}{
		{"untagged", presswork.Options{Tagged: new(false)}},
		{"tagged", presswork.Options{}},
		{"PDFA", presswork.Options{PDFA: new(presswork.PDFALevel("2b"))}},
		{"PDFA+UA", presswork.Options{PDFA: new(presswork.PDFALevel("2u")), PDFUA: new(true)}},
		{"password", presswork.Options{Password: "x"}},
	} {
		composed, err := c.Compose(b.Context(), document.Document{Content: rich, Options: o.options})
		if err != nil {
			b.Fatal(err)
		}
		composed.Page.Sheet.PageRanges = ""

		printed, err := browser.Print(b.Context(), composed.Page)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("print/"+o.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := browser.Print(b.Context(), composed.Page); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("check/"+o.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := document.Inspect(b.Context(), composed, printed); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("pack/"+o.name, func(b *testing.B) {
			b.SetBytes(int64(len(printed)))

			for b.Loop() {
				if _, err := pack.Pack(printed, composed.Meta, document.FinishOf(composed)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
