package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"presswork/internal/pdffile"
)

// file returns a file with these objects. The first one is the catalog.
func file(objects ...string) *pdffile.File {
	f := &pdffile.File{Objects: [][]byte{nil}, Root: 1}
	for _, o := range objects {
		f.Add([]byte(o))
	}
	f.Info = f.Add([]byte("<<>>"))

	return f
}

func TestCopiesOfSharedObjectsAreLimited(t *testing.T) {
	t.Parallel()
	const many, large = 50_000, 1 << 20
	page := "<</Type /Page\n/MediaBox [0 0 9 9]>>"
	kids := strings.Repeat("3 0 R ", many)
	annotated := []string{
		"<</Pages 2 0 R>>", "", "[" + strings.Repeat("<</A ("+strings.Repeat("x", large)+")>> ", 8) + "]",
	}
	var leaves []string

	for n := range 100 {
		annotated = append(annotated, fmt.Sprintf("<</Annots 3 0 R\n/N %d>>", n))
		leaves = append(leaves, pdffile.RefTo(len(annotated)))
	}
	annotated[1] = fmt.Sprintf("<</Kids %s>>", leaves)

	for name, f := range map[string]*pdffile.File{
		"one page many times": file("<</Pages 2 0 R>>", "<</Kids ["+kids+"]>>", "<</X ("+strings.Repeat("x", large)+")>>"),
		"annotations":         file(annotated...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, err := Pages(f); !errors.Is(err, errGrowth) {
				t.Errorf("got %v, want %v", err, errGrowth)
			}
		})
	}

	// Entries that two pages inherit stay shared, so the file does not grow.
	f := file("<</Pages 2 0 R>>", "<</Kids [3 0 R 4 0 R]\n/Resources <</X ("+strings.Repeat("x", large)+")>>>>",
		page, page)

	pages, err := Pages(f)
	if err != nil || len(pages) != 2 || len(f.Objects[3]) > 200 {
		t.Fatalf("got pages %v, %v and an object of %d bytes; want two small pages", pages, err, len(f.Objects[3]))
	}

	if x := dictOf(f, dictOf(f, f.Objects[4]).Get("Resources")).Get("X"); len(x) != large+2 {
		t.Errorf("the resources have %d bytes, want %d", len(x), large+2)
	}
}

func TestAStampOnPagesThatShareResourcesIsLimited(t *testing.T) {
	t.Parallel()
	objects := []string{"<</Pages 2 0 R>>", "", "<</X (" + strings.Repeat("x", 1<<20) + ")>>"}
	var kids []string

	for n := range 1000 {
		objects = append(objects, fmt.Sprintf("<</MediaBox [0 0 9 9]\n/Resources <</XObject 3 0 R\n/N %d>>>>", n))
		kids = append(kids, pdffile.RefTo(len(objects)))
	}
	objects[1] = fmt.Sprintf("<</Kids %s>>", kids)
	mark := Mark{Form: 4, Width: 1, Height: 1, Place: Place{Scale: 0.5, Opacity: 1}}

	if _, err := Stamp(file(objects...), mark, func(int) bool { return true }); !errors.Is(err, errGrowth) {
		t.Errorf("got %v, want %v", err, errGrowth)
	}
}

func TestExtractedPagesKeepTheirLabels(t *testing.T) {
	t.Parallel()
	objects := []string{
		"<</Pages 2 0 R\n/PageLabels <</Nums [0 <</S /r>> 2 <</S /D\n/St 5>> 4 <</P (A)>>]>>>>",
		"<</Kids [3 0 R 4 0 R 5 0 R 6 0 R 7 0 R]>>",
	}

	for range 5 {
		objects = append(objects, "<</MediaBox [0 0 9 9]>>")
	}
	f := file(objects...)

	if _, err := Extract(f, func(page int) bool { return page != 1 && page != 3 }); err != nil {
		t.Fatal(err)
	}
	labels := numbered(f, dictOf(f, f.Objects[1]).Get("PageLabels"))
	got := []string{string(labels[0]), string(labels[1]), string(labels[2])}

	if want := []string{"<</S /r\n/St 2>>", "<</S /D\n/St 6>>", "<</P (A)>>"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestADestinationThatContainsItselfLeadsToNoPage(t *testing.T) {
	t.Parallel()
	f := file("<</Pages 2 0 R\n/Dests <</a 4 0 R>>>>", "<</Kids [3 0 R]>>", "<</MediaBox [0 0 9 9]>>", "<</D 4 0 R>>")

	if _, err := Extract(f, func(int) bool { return true }); err != nil {
		t.Fatal(err)
	}

	if got := dictOf(f, f.Objects[1]).Get("Dests"); got != nil {
		t.Errorf("got destinations %s, want none", got)
	}
}

func TestMergedAttachmentsWithOneNameAreCounted(t *testing.T) {
	t.Parallel()
	const copies = 3000 // if each name were longer than the last, this would take 20 s
	names := strings.Repeat("(a) 4 0 R ", copies)

	f, _, err := Merge([]Input{{File: file("<</Pages 2 0 R\n/Names <</EmbeddedFiles <</Names ["+names+"]>>>>>>",
		"<</Kids [3 0 R]>>", "<</MediaBox [0 0 9 9]>>", "<</Type /Filespec>>")}})
	if err != nil {
		t.Fatal(err)
	}
	all := readTree(f, dictOf(f, dictOf(f, []byte(pdffile.RefTo(f.Root))).Get("Names")).Get("EmbeddedFiles"), "Names")
	got := map[string]bool{}

	for _, p := range all {
		got[string(pdffile.StringBytes(p.key))] = true
	}

	if len(got) != copies || !got["a"] || !got["a-2"] || !got[fmt.Sprintf("a-%d", copies)] {
		t.Errorf("got %d names of attachments, want %d: a, a-2 and so on", len(got), copies)
	}
}

func TestSignaturesAreRemoved(t *testing.T) {
	t.Parallel()
	f := file("<</Pages 2 0 R\n/Perms <</DocMDP 5 0 R>>\n/AcroForm <</Fields [4 0 R]\n/SigFlags 3>>>>",
		"<</Kids [3 0 R]>>", "<</MediaBox [0 0 9 9]\n/Annots [4 0 R]>>", "<</FT /Sig\n/T (s)\n/V 5 0 R>>",
		"<</ByteRange [0 1 2 3]\n/Contents <00>>>")

	if w := Unsign(f); len(w) != 1 {
		t.Errorf("got warnings %q, want one", w)
	}

	got := string(bytes.Join(f.Objects, nil))
	if strings.Contains(got, "/V ") || strings.Contains(got, "SigFlags") || strings.Contains(got, "Perms") ||
		!strings.Contains(got, "/T (s)") {
		t.Errorf("got %s, want the field without its signature", got)
	}

	if w := Unsign(f); w != nil {
		t.Errorf("a file without signatures: got warnings %q, want none", w)
	}
}

func TestMergedFilesKeepDestinationsAndTagsApart(t *testing.T) {
	t.Parallel()
	tagged := func() *pdffile.File {
		return file("<</Pages 2 0 R\n/Dests <</a [3 0 R /Fit]>>\n/StructTreeRoot 5 0 R>>", "<</Kids [3 0 R]>>",
			"<</MediaBox [0 0 9 9]\n/Annots [4 0 R]\n/StructParents 0>>", "<</Subtype /Link\n/Dest /a>>",
			"<</K [6 0 R]\n/ParentTree <</Nums [0 [6 0 R]]>>>>", "<</S /P\n/P 5 0 R\n/Pg 3 0 R\n/K 0>>")
	}
	untagged := file("<</Pages 2 0 R>>", "<</Kids [3 0 R]>>", "<</MediaBox [0 0 9 9]\n/StructParents 1>>")

	f, _, err := Merge([]Input{{tagged(), "A"}, {untagged, "B"}, {tagged(), "C"}})
	if err != nil {
		t.Fatal(err)
	}

	pages, err := Pages(f)
	if err != nil {
		t.Fatal(err)
	}
	dests := dictOf(f, dictOf(f, f.Objects[f.Root]).Get("Dests"))
	keys := map[string]bool{}

	for i, want := range []string{"0", "", "1"} {
		page := dictOf(f, f.Objects[pages[i]])
		if key := string(page.Get("StructParents")); key != want {
			t.Errorf("page %d has StructParents %q, want %q", i+1, key, want)
		}

		for _, a := range arrayOf(f, page.Get("Annots")) {
			name := strings.TrimPrefix(string(dictOf(f, a).Get("Dest")), "/")
			keys[name] = true

			if target := arrayOf(f, dests.Get(name)); len(target) == 0 || string(target[0]) != pdffile.RefTo(pages[i]) {
				t.Errorf("the link %q of page %d leads to %q, want its own page", name, i+1, target)
			}
		}
	}

	if len(keys) != 2 {
		t.Errorf("the links lead to %v, want two destinations", keys)
	}
}

func TestAPageAsMarkIsUpright(t *testing.T) {
	t.Parallel()

	for degrees, want := range map[int]string{
		0:   "[1 0 0 1 -10 -20]",
		90:  "[0 -1 1 0 -20 110]",
		180: "[-1 0 0 -1 110 70]",
		270: "[0 1 -1 0 70 -10]",
	} {
		t.Run(fmt.Sprintf("turned by %d", degrees), func(t *testing.T) {
			foreign := file("<</Pages 2 0 R>>", "<</Kids [3 0 R]>>",
				fmt.Sprintf("<</MediaBox [0 0 999 70]\n/CropBox [10 20 110 500]\n/Rotate %d>>", degrees))
			f := file("<</Pages 2 0 R>>")

			m, _, err := PageMark(f, foreign)
			if err != nil {
				t.Fatal(err)
			}
			width, height := 100.0, 50.0

			if degrees%180 == 90 {
				width, height = height, width
			}
			d, _, err := pdffile.ReadDict(f.Objects[m.Form])

			if got := string(d.Get("Matrix")); err != nil || got != want || m.Width != width || m.Height != height {
				t.Errorf("got %s of %v × %v, want %s of %v × %v", got, m.Width, m.Height, want, width, height)
			}
		})
	}
}
