package pdffile

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile/filetest"
)

func TestPlacesAndAnchorsReadTheDestinations(t *testing.T) {
	t.Parallel()
	built := filetest.Build(
		t,
		"-- catalog --\n<</Type /Catalog\n/Pages @pages\n/Dests <</plain [@page-2 /XYZ 0 190.5 0]\n"+
			"/caf#25C3#25A9 [@page-1 /XYZ 5 -3 0]\n/a#20b [@page-1 /XYZ 0 0 0]\n"+
			"/100#25 [@page-1 /XYZ 0 1 0]\n/elsewhere [@content-1 /XYZ 0 1 0]\n/nowhere [null /XYZ 0 1 0]>>>>\n",
		filetest.Pages("", "", ""),
	)
	want := map[string]Place{"plain": {2, 190.5}, "café": {1, -3}, "a b": {1, 0}, "100%": {1, 1}}

	got, err := read(t, built.Data).Places()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	pages, err := read(t, built.Data).Anchors()
	if diff := cmp.Diff(map[string]int{"plain": 2, "café": 1, "a b": 1, "100%": 1}, pages); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	if got, err := read(t, filetest.Build(t, filetest.Pages("", "")).Data).Places(); err != nil || len(got) != 0 {
		t.Errorf("without destinations: got %v, %v; want none", got, err)
	}
}

func TestSizesAreInTheOrderOfThePages(t *testing.T) {
	t.Parallel()
	built := filetest.Build(
		t,
		"-- pages --\n<</Type /Pages\n/Count 3\n/Kids [@b @more]>>\n-- a --\n<</Type /Page\n"+
			"/MediaBox [0 0 595.91998 842]>>\n-- b --\n<</Type /Page\n/MediaBox [0 0 200 .5]>>\n"+
			"-- more --\n<</Type /Pages\n/Count 2\n/Kids [@c @a]>>\n-- c --\n<</Type /Page\n/MediaBox [0 0 1 2]>>\n",
	)

	got, err := read(t, built.Data).Sizes()
	if diff := cmp.Diff([][2]float64{{200, .5}, {1, 2}, {595.91998, 842}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestALongChainOfPageNodesIsRead(t *testing.T) {
	t.Parallel()
	const nodes = 10_000

	objects := []string{
		"<</Producer (Skia)\n/CreationDate (D:20261121044624+00'00')>>",
		"<</Type /Catalog\n/Pages 3 0 R>>",
	}
	for i := range nodes {
		objects = append(objects, fmt.Sprintf("<</Type /Pages\n/Count 1\n/Kids [%d 0 R]>>", i+4))
	}
	objects = append(objects, "<</Type /Page\n/MediaBox [0 0 10 20]>>")

	sizes, err := read(t, filetest.Write(objects)).Sizes()
	if err != nil || len(sizes) != 1 || sizes[0] != [2]float64{10, 20} {
		t.Errorf("got sizes %v, %v; want one of 10 × 20", sizes, err)
	}
}
