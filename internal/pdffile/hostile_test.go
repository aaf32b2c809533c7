package pdffile_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
	"presswork/internal/pdffile/inspect"
	"presswork/internal/pdffile/join"
	"presswork/internal/pdffile/pack"
)

// applyAll applies every operation of the package to a file and returns the errors.
func applyAll(ctx context.Context, data []byte) (errs []error) {
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	area := func(int, float64, float64) *inspect.Area {
		return &inspect.Area{Right: 100, Top: 200, LineEnd: 100, Smallest: 4}
	}

	uses := []func(*pdffile.File) error{
		func(f *pdffile.File) error { _, err := f.Pages(); return err },
		func(f *pdffile.File) error { _, err := f.Sizes(); return err },
		func(f *pdffile.File) error { _, err := f.Anchors(); return err },
		func(f *pdffile.File) error { _, err := inspect.Text(ctx, f, []rune("é"), area); return err },
		func(f *pdffile.File) error {
			other, err := pdffile.Read(data)
			add(err)
			_, err = join.Files(filetest.Each(f, other), nil)

			return err
		},
		func(f *pdffile.File) error {
			banners, err := pdffile.Read(data)
			add(err)
			_, err = join.Files(filetest.Each(f), []*pdffile.File{banners})

			return err
		},
	}
	for _, finish := range []pack.Finish{
		{}, {PDFA: "2b"}, {PDFUA: true}, {Password: "x"}, {Boxes: pack.Boxes{Bleed: 9, Marks: 30}}, {Notes: []pack.Note{{Anchor: "a", Text: "b"}}}, {Hyphenated: true, RightToLeft: true, DropCaps: true},
	} {
		uses = append(uses, func(f *pdffile.File) error { _, err := pack.Write(f, pack.Meta{}, finish); return err })
	}

	for _, use := range uses {
		f, err := pdffile.Read(data)
		if err != nil {
			return []error{err}
		}
		add(use(f))
	}

	return errs
}

func TestInvalidFilesAreRejected(t *testing.T) {
	t.Parallel()
	valid := string(filetest.Small(3))

	replaced := func(old, by string) string {
		if !strings.Contains(valid, old) {
			t.Fatalf("%q is not in the file", old)
		}

		return strings.Replace(valid, old, by, 1)
	}
	for name, data := range map[string]string{
		"another version":                         replaced("%PDF-1.4", "%PDF-2.0"),
		"a start past the end":                    replaced("startxref\n", "startxref\n9"),
		"a negative start":                        replaced("startxref\n", "startxref\n-"),
		"a start that is not a number":            replaced("startxref\n", "startxref\nx"),
		"a start that points at an object":        valid[:strings.LastIndex(valid, "startxref")] + "startxref\n15\n%%EOF\n",
		"a start more than 64 bytes from the end": valid + strings.Repeat("\n", 64),
		"a table of no objects":                   replaced("xref\n0 10\n", "xref\n0 0\n"),
		"a table of a negative size":              replaced("xref\n0 10\n", "xref\n0 -10\n"),
		"a table of more than eight million":      replaced("xref\n0 10\n", "xref\n0 8000001\n"),
		"a table longer than the file":            replaced("xref\n0 10\n", "xref\n0 1000\n"),
		"a table one entry short":                 replaced("xref\n0 10\n", "xref\n0 9\n"),
		"two objects at one offset":               strings.Replace(valid, offsetLine(valid, 4), offsetLine(valid, 5), 1),
		"an object in another one":                strings.Replace(valid, offsetLine(valid, 4), fmt.Sprintf("%010d 00000 n \n", offsetOf(valid, 4)+1), 1),
		"an entry of an unknown type":             replaced("00000 n", "00000 x"),
		"an object with another number":           replaced("\n4 0 obj\n", "\n8 0 obj\n"),
		"an object of another generation":         replaced("\n4 0 obj\n", "\n4 1 obj\n"),
		"an object without an end":                replaced("/MediaBox [0 0 100 100]>>\nendobj\n", "/MediaBox [0 0 100 100]>>\nendobx\n"),
		"a trailer that is not a dictionary":      replaced("trailer\n<<", "trailer\n[["),
		"a trailer without an end":                replaced("/Info 1 0 R>>", "/Info 1 0 R"),
		"a hybrid table":                          replaced("/Root", "/XRefStm 9\n/Root"),
		"a root without an object":                replaced("/Root 2 0 R", "/Root 0 0 R"),
		"a root in the trailer":                   replaced("/Root 2 0 R", "/Root <</Pages 3 0 R>>"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if f, err := pdffile.Read([]byte(data)); err == nil {
				t.Errorf("got a file of %d objects, want an error", len(f.Objects))
			}
		})
	}
}

// offsetOf returns the offset of an object.
func offsetOf(data string, number int) int {
	return strings.Index(data, fmt.Sprintf("\n%d 0 obj\n", number)) + 1
}

// offsetLine returns the line of an object in the cross-reference table.
func offsetLine(data string, number int) string {
	return fmt.Sprintf("%010d 00000 n \n", offsetOf(data, number))
}

func TestTruncatedFilesAreRejected(t *testing.T) {
	t.Parallel()
	valid := filetest.Small(3)

	whole := bytes.LastIndex(valid, []byte("\n%%EOF"))
	for end := range whole - 2 { // with one digit less, startxref is still a number
		if _, err := pdffile.Read(valid[:end]); err == nil {
			t.Fatalf("the first %d of %d bytes: got a file, want an error", end, len(valid))
		}
	}
}

func TestInvalidPartsAreErrorsWhenTheyAreUsed(t *testing.T) {
	t.Parallel()
	const tree = "-- pages --\n<</Type /Pages\n/Count 1\n/Kids [@page-1]>>\n"
	page := func(entries string) string {
		return tree + "-- page-1 --\n<</Type /Page\n/Parent @pages\n/MediaBox [0 0 9 9]" + entries + ">>\n"
	}

	content := func(text string) string { return filetest.Pages("", text) }
	for name, c := range map[string]struct{ file, want string }{
		"a page tree that is its own child": {"-- pages --\n<</Type /Pages\n/Count 1\n/Kids [@pages]>>\n", "the page tree is invalid"},
		"a page that occurs twice": {"-- pages --\n<</Type /Pages\n/Count 2\n/Kids [@page-1 @page-1]>>\n-- page-1 --\n<</Type /Page\n" +
			"/MediaBox [0 0 9 9]>>\n", "the page tree is invalid"},
		"a cycle of two nodes": {"-- pages --\n<</Type /Pages\n/Count 1\n/Kids [@more]>>\n" +
			"-- more --\n<</Type /Pages\n/Count 1\n/Kids [@pages]>>\n", "the page tree is invalid"},
		"a page that is not a reference":         {"-- pages --\n<</Type /Pages\n/Count 1\n/Kids [<</Type /Page>>]>>\n", "the page tree is invalid"},
		"a page past the last object":            {"-- pages --\n<</Type /Pages\n/Count 1\n/Kids [99 0 R]>>\n", "the page tree is invalid"},
		"a page that is not a dictionary":        {"-- pages --\n<</Type /Pages\n/Count 1\n/Kids [@page-1]>>\n-- page-1 --\n[1 2]\n", "not written as expected"},
		"a page tree of no pages":                {"-- pages --\n<</Type /Pages\n/Count 0\n/Kids []>>\n", "have no pages"},
		"a negative number of pages":             {strings.Replace(page(""), "Count 1", "Count -1", 1), "number of pages"},
		"more pages than objects":                {strings.Replace(page(""), "Count 1", "Count 4000000000", 1), "number of pages"},
		"a number of pages that is a word":       {strings.Replace(page(""), "Count 1", "Count many", 1), "number of pages"},
		"no number of pages":                     {strings.Replace(page(""), "\n/Count 1", "", 1), "number of pages"},
		"a page without a content":               {page(""), "not written as expected"},
		"a content that does not exist":          {page("\n/Contents 99 0 R"), "not written as expected"},
		"a content that is not a stream":         {page("\n/Contents @pages"), "not written as expected"},
		"a content of no parts":                  {page("\n/Contents []"), "not written as expected"},
		"a page without a size":                  {strings.Replace(content(""), "/MediaBox [0 0 100 200]\n", "", 1), "not written as expected"},
		"a size of three numbers":                {strings.Replace(content(""), "0 0 100 200", "0 0 100", 1), "not written as expected"},
		"a size of words":                        {strings.Replace(content(""), "0 0 100 200", "a b c d", 1), "not written as expected"},
		"a content that is not packed":           {page("\n/Contents @c") + "-- c --\n<</Filter /FlateDecodd>> stream\nBT ET\n", "not written as expected"},
		"a content that is packed by no format":  {page("\n/Contents @c") + "-- c --\n<</Filter [/FlateDecode]>> stream\nBT ET\n", "not written as expected"},
		"a transformation of five numbers":       {content("1 0 0 1 0 cm\n"), "not written as expected"},
		"a curve of eight numbers":               {content("0 0 m\n1 2 3 4 5 6 7 8 c\n"), "not written as expected"},
		"a curve of three numbers":               {content("0 0 m\n1 2 3 c\n"), "not written as expected"},
		"a font without a size":                  {content("BT\n/F1 Tf\nET\n"), "not written as expected"},
		"a font of a size that is a word":        {content("BT\n/F1 /big Tf\nET\n"), "not written as expected"},
		"text without a font":                    {content("BT\n<0001> Tj\nET\n"), "not written as expected"},
		"text of half a code":                    {filetest.Pages("/Font <</F1 @f>>", "BT\n/F1 9 Tf\n<000> Tj\n"+"ET\n") + filetest.Font("f", nil), "not written as expected"},
		"a resource that is not a reference":     {filetest.Pages("/Font <</F1 /None>>", ""), "resource F1"},
		"content cut off in a string":            {content("BT\n(abc"), "not written as expected"},
		"an array without an end":                {content("BT\n[<0001> Tj\nET\n"), "not written as expected"},
		"a marked content's broken properties":   {content("/P <</MCID>>BDC\nEMC\n"), "not written as expected"},
		"destinations that are not a dictionary": {"-- catalog --\n<</Pages @pages\n/Dests [1]>>\n" + content(""), "destinations"},
		"a destination without a place":          {"-- catalog --\n<</Pages @pages\n/Dests <</a [@page-1]>>>>\n" + content(""), "destination a"},
		"a destination at no height":             {"-- catalog --\n<</Pages @pages\n/Dests <</a [@page-1 /XYZ 0 null 0]>>>>\n" + content(""), "destination a"},
		"tags that do not exist":                 {"-- catalog --\n<</Pages @pages\n/StructTreeRoot 99 0 R>>\n" + content(""), "structure tree"},
		"tags without a tree of parents": {"-- catalog --\n<</Pages @pages\n/StructTreeRoot @tags>>\n" +
			"-- tags --\n<</Type /StructTreeRoot\n/K @tags>>\n" + content(""), "parent tree"},
		"an Info without a producer":           {"-- info --\n<</CreationDate (D:20261121044624+00'00')>>\n" + content(""), "info"},
		"an Info without a date":               {"-- info --\n<</Producer (Skia)>>\n" + content(""), "info"},
		"an Info of a day that does not exist": {"-- info --\n<</Producer (Skia)\n/CreationDate (D:20261399044624+00'00')>>\n" + content(""), "info"},
		"a catalog that is not a dictionary":   {"-- catalog --\n[@pages]\n" + content(""), "catalog"},
		"a gradient without a domain": {"-- p --\n<</Type /Pattern\n/PatternType 2\n/Shading <</ShadingType 1\n/Function 1>>>>\n" +
			content(""), "domain"},
		"a font without its text map": {"-- f --\n<</Type /Font\n/BaseFont /Face\n/ToUnicode 99 0 R>>\n" + content(""), "font /Face"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			errs := applyAll(t.Context(), filetest.Build(t, c.file).Data)
			for _, err := range errs {
				if strings.Contains(err.Error(), c.want) {
					return
				}
			}
			t.Errorf("got errors %v, want %q in one of them", errs, c.want)
		})
	}
}

func TestCyclicTreesAreVisitedOnce(t *testing.T) {
	t.Parallel()
	const tags = "-- catalog --\n<</Type /Catalog\n/Pages @pages\n/StructTreeRoot @root\n/Outlines @outline\n" +
		"/Lang (en)>>\n" +
		"-- root --\n<</Type /StructTreeRoot\n/K @document\n/ParentTree @parents\n/ParentTreeNextKey 0\n" +
		"/IDTree @ids>>\n-- parents --\n<</Type /ParentTree\n/Nums []>>\n" +
		"-- ids --\n<</Kids [@ids @ids]>>\n-- document --\n<</Type /StructElem\n/S /Document\n/P @root\n" +
		"/K [@document @list @list]>>\n" +
		"-- list --\n<</Type /StructElem\n/S /L\n/P @document\n/K [@list @document]>>\n" +
		"-- outline --\n<</Type /Outlines\n/First @entry>>\n-- entry --\n<</Title (a)\n/Next @entry\n" +
		"/First @outline\n/SE @entry>>\n"

	data := filetest.Build(t, tags, filetest.Pages("", "")).Data
	for _, finish := range []pack.Finish{{PDFUA: true, PDFA: "2b"}, {Headings: []pack.Heading{{Level: 1, Text: "a"}}}} {
		if _, err := pack.Pack(data, pack.Meta{}, finish); err != nil {
			t.Error(err)
		}
	}

	if whole, err := join.Files(filetest.Each(mustRead(t, data), mustRead(t, data)), nil); err == nil {
		if _, err := pack.Write(whole, pack.Meta{}, pack.Finish{PDFUA: true}); err != nil {
			t.Error(err)
		}
	}
}

func mustRead(t testing.TB, data []byte) *pdffile.File {
	t.Helper()

	f, err := pdffile.Read(data)
	if err != nil {
		t.Fatal(err)
	}

	return f
}

func FuzzPack(f *testing.F) {
	f.Add(filetest.Small(0))
	f.Add(filetest.Small(3))
	f.Add(filetest.Write(filetest.Tagged()))
	f.Add(bytes.Replace(filetest.Small(0), []byte("/Lang (en)"), []byte("/StructTreeRoot -1 0 R"), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		joinWithItself(data)

		for _, finish := range []pack.Finish{{}, {PDFA: "3b", PDFUA: true, Sources: []pack.Attachment{{Name: "a.md"}}}, {Password: "secret"}} {
			p, err := pack.Pack(data, pack.Meta{Title: "x"}, finish)
			if err == nil && (len(p.Data) == 0 || p.Pages < 0) {
				t.Errorf("got %d bytes and %d pages without an error", len(p.Data), p.Pages)
			}
		}
	})
}

// joinWithItself joins a file with itself. It must neither panic nor take long.
func joinWithItself(data []byte) {
	read := func() *pdffile.File {
		f, _ := pdffile.Read(data)
		return f
	}

	f := read()
	if f == nil {
		return
	}

	if whole, err := join.Files(filetest.Each(f, read()), []*pdffile.File{read(), read()}); err == nil {
		_, _ = pack.Write(whole, pack.Meta{}, pack.Finish{})
	}
}
