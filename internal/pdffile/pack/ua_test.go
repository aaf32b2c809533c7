package pack

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile/filetest"
)

func TestTablesWithUnequalRowsAreIrregular(t *testing.T) {
	t.Parallel()
	const colspan, rowspan = "\n/A <</O /Table\n/ColSpan %d>>", "\n/A <</O /Table\n/RowSpan %d>>"

	cell := func(format string, n int) string { return fmt.Sprintf(format, n) }
	for name, c := range map[string]struct {
		rows    [][]string
		regular bool
	}{
		"no rows":                              {nil, true},
		"equal rows":                           {[][]string{{"", ""}, {"", ""}}, true},
		"a shorter row":                        {[][]string{{"", ""}, {""}}, false},
		"a longer row":                         {[][]string{{""}, {"", ""}}, false},
		"an empty row":                         {[][]string{{""}, {}}, false},
		"a cell over two columns":              {[][]string{{"", ""}, {cell(colspan, 2)}}, true},
		"a cell over too many columns":         {[][]string{{"", ""}, {cell(colspan, 3)}}, false},
		"a cell over two rows":                 {[][]string{{cell(rowspan, 2), ""}, {""}}, true},
		"a cell over two rows at the end":      {[][]string{{"", cell(rowspan, 2)}, {""}}, true},
		"a cell over two rows, and a full row": {[][]string{{cell(rowspan, 2), ""}, {"", ""}}, false},
		"a cell over rows that do not exist":   {[][]string{{cell(rowspan, 3), ""}, {""}}, false},
		"a cell over two rows and columns":     {[][]string{{"\n/A <</RowSpan 2\n/ColSpan 2>>", ""}, {""}}, true},
		"a cell over a million columns":        {[][]string{{cell(colspan, 1_000_000)}, {cell(colspan, 1000)}}, true},
		"colspan 0":                            {[][]string{{cell(colspan, 0)}, {""}}, true},
		"negative colspan":                     {[][]string{{cell(colspan, -5)}, {""}}, true},
		"colspan is a word":                    {[][]string{{"\n/A <</ColSpan many>>"}, {""}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rows []string
			elements := ""

			for i, row := range c.rows {
				var cells []string

				for j, entries := range row {
					name := fmt.Sprintf("cell-%d-%d", i, j)
					cells = append(cells, "@"+name)
					elements += filetest.Element(name, []string{"TD", "TH"}[j%2], fmt.Sprintf("row-%d", i), entries)
				}
				rows = append(rows, fmt.Sprintf("@row-%d", i))
				elements += filetest.Element(fmt.Sprintf("row-%d", i), "TR", "body",
					"\n/K ["+strings.Join(cells, " ")+"]")
			}
			built := tagged(
				t,
				"@table",
				concat(filetest.Element("table", "Table", "document", "\n/K [@body]"),
					filetest.Element("body", "TBody", "table", "\n/K ["+strings.Join(rows, " ")+"]"), elements),
			)

			p, _ := packed(t, built, Finish{PDFUA: true})

			irregular := slices.Contains(p.Missing, "a table has rows of different lengths")
			if irregular == c.regular {
				t.Errorf("irregular = %v, want %v; missing parts: %q", irregular, !c.regular, p.Missing)
			}
		})
	}
}

func TestATableInACellHasRowsOfItsOwn(t *testing.T) {
	t.Parallel()

	built := tagged(
		t,
		"@outer",
		concat(filetest.Element("outer", "Table", "document", "\n/K [@row]"),
			filetest.Element("row", "TR", "outer", "\n/K [@cell]"),
			filetest.Element("cell", "TD", "row", "\n/K [@inner]"),
			filetest.Element("inner", "Table", "cell", "\n/K [@inner-row]"),
			filetest.Element("inner-row", "TR", "inner", "\n/K [@a @b]"),
			filetest.Element("a", "TD", "inner-row", ""), filetest.Element("b", "TD", "inner-row", "")),
	)
	if p, _ := packed(t, built, Finish{PDFUA: true}); len(p.Missing) > 0 {
		t.Errorf("missing: %q", p.Missing)
	}
}

func TestMissingPartsOfPDFUAAreListed(t *testing.T) {
	t.Parallel()
	// headings returns the tree of a document with headings of these levels.
	headings := func(levels ...int) (kids, elements string) {
		for i, level := range levels {
			name := fmt.Sprintf("h-%d", i)
			kids += "@" + name + " "
			elements += filetest.Element(name, fmt.Sprintf("H%d", level), "document", "")
		}

		return kids, elements
	}
	// images returns the tree of a document with images. alts are the entries of their alternative texts.
	images := func(alts ...string) (kids, elements string) {
		for i, alt := range alts {
			name := fmt.Sprintf("i-%d", i)
			kids += "@" + name + " "
			elements += filetest.Element(name, "Figure", "document", alt)
		}

		return kids, elements
	}
	type doc struct{ kids, elements string }

	of := func(kids, elements string) doc { return doc{kids, elements} }
	for name, c := range map[string]struct {
		doc
		more   string
		finish Finish
		want   []string
	}{
		"nothing":                      {of(headings(1, 2, 3, 2, 1)), "", Finish{}, nil},
		"no headings":                  {of("", ""), "", Finish{}, nil},
		"a first heading of level 2":   {of(headings(2, 3)), "", Finish{}, []string{"the first heading is of level 2, not 1"}},
		"a level is skipped":           {of(headings(1, 3)), "", Finish{}, []string{"a heading of level 3 follows one of level 1"}},
		"only the first skip is named": {of(headings(1, 4, 1, 6)), "", Finish{}, []string{"a heading of level 4 follows one of level 1"}},
		"a heading of level 7":         {of(headings(1, 7)), "", Finish{}, nil},
		"an image":                     {of(images("")), "", Finish{}, []string{"an image has no alternative text"}},
		"two of three images":          {of(images("", "\n/Alt (x)", "")), "", Finish{}, []string{"2 images have no alternative text"}},
		"images that are decoration":   {of(images("\n/Alt (x)")), "", Finish{Undescribed: 3}, []string{"3 images have no alternative text"}},
		"more images than counted":     {of(images("", "")), "", Finish{Undescribed: 1}, []string{"2 images have no alternative text"}},
		"no language":                  {of("", ""), "-- catalog --\n<</Type /Catalog\n/Pages @pages\n/StructTreeRoot @tags>>\n", Finish{}, []string{"the document has no language; set lang"}},
		"an empty language":            {of("", ""), "-- catalog --\n<</Type /Catalog\n/Pages @pages\n/StructTreeRoot @tags\n/Lang ()>>\n", Finish{}, []string{"the document has no language; set lang"}},
		"no tags":                      {of("", ""), "-- catalog --\n<</Type /Catalog\n/Pages @pages\n/Lang (en)>>\n", Finish{}, []string{"the document has no tags"}},
		"tags without a topmost one":   {of("", ""), "-- tags --\n<</Type /StructTreeRoot\n/K @pages\n/ParentTree @parents>>\n", Finish{}, []string{"the tags cannot be read: structure tree: an object is not written as expected: /K is no structure element"}},
		"content that is not understood": {of("", ""), "-- content-1 --\n<<>> stream\nEMC\n", Finish{}, []string{"not everything on the pages could be tagged: marked content: an object is " +
			"not written as expected: EMC without BDC or BMC"}},
		"a character without a font": {
			of("", ""), filetest.Pages("/Font <</F1 @f>>", "BT\n/F1 9 Tf\n"+"<0000> Tj\nET\n") +
				filetest.Font("f", map[int]string{0: ""}),
			Finish{},
			[]string{"some characters are in no installed font"},
		},
		"several at once": {
			of(headings(3)), "-- catalog --\n<</Type /Catalog\n/Pages @pages\n/StructTreeRoot @tags>>\n",
			Finish{Undescribed: 1},
			[]string{"the first heading is of level 3, not 1", "an image has no alternative text", "the document has no language; set lang"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.finish.PDFUA = true

			p, _ := packed(t, tagged(t, c.kids, c.elements, c.more), c.finish)
			if diff := cmp.Diff(c.want, p.Missing); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}

			if claims := strings.Contains(string(p.Data), "pdfuaid:part"); claims != (len(c.want) == 0) {
				t.Errorf("the file claims PDF/UA: %v, want %v", claims, len(c.want) == 0)
			}

			c.finish.PDFUA = false
			if p, _ := packed(t, tagged(t, c.kids, c.elements, c.more), c.finish); len(p.Missing) > 0 {
				t.Errorf("without PDFUA: got missing parts %q, want none", p.Missing)
			}
		})
	}
}
