package pack

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile/filetest"
	"presswork/internal/test/golden"
)

// tagged returns a file of one page. kids are references to the kids of its topmost element, and elements the objects
// of the structure tree.
func tagged(t testing.TB, kids, elements string, more ...string) *filetest.Built {
	t.Helper()

	return filetest.Build(
		t,
		append([]string{"-- catalog --\n<</Type /Catalog\n/Pages @pages\n/StructTreeRoot @tags\n/Lang (en)>>\n" +
			"-- tags --\n<</Type /StructTreeRoot\n/K @document\n/ParentTreeNextKey 1\n/ParentTree @parents>>\n" +
			"-- parents --\n<</Type /ParentTree\n/Nums [0 @owners]>>\n-- owners --\n[@document]\n" +
			"-- document --\n<</Type /StructElem\n/S /Document\n/P @tags\n/K [" + kids + "]>>\n" + elements, filetest.Pages("", "")}, more...)...)
}

// concat joins objects in the form that filetest.Build reads.
func concat(parts ...string) string { return strings.Join(parts, "") }

// packed packs a file and returns its objects as well.
func packed(t testing.TB, built *filetest.Built, finish Finish) (Packed, map[int]string) {
	t.Helper()

	p, err := Pack(built.Data, Meta{}, finish)
	if err != nil {
		t.Fatal(err)
	}

	return p, filetest.Objects(t, p.Data)
}

func TestAStructureTreeIsRewrittenForPDFUA(t *testing.T) {
	t.Parallel()
	built := tagged(
		t,
		"@heading @list @figure @formula @table @note @aside",
		concat(
			filetest.Element("heading", "H1", "document", "\n/K [@heading-text]\n/ID (node00000400)"),
			filetest.Element("heading-text", "NonStruct", "heading", "\n/Pg @page-1\n/K 0"),
			filetest.Element("list", "L", "document", "\n/K [@list-caption @item-1 @item-2 @inner @stray]"),
			filetest.Element("list-caption", "Caption", "list", "\n/Pg @page-1\n/K 1"),
			filetest.Element("item-1", "LI", "list", "\n/K [@label @text-1 @text-2]"),
			filetest.Element("label", "Lbl", "item-1", "\n/Pg @page-1\n/K 2"),
			filetest.Element("text-1", "P", "item-1", "\n/Pg @page-1\n/K 3"),
			filetest.Element("text-2", "Code", "item-1", "\n/Pg @page-1\n/K 4"),
			filetest.Element("item-2", "NonStruct", "list", "\n/K [@text-3]"),
			filetest.Element("text-3", "P", "item-2", "\n/Pg @page-1\n/K 5"),
			filetest.Element("inner", "L", "list", "\n/K [@item-3]"),
			filetest.Element("item-3", "LI", "inner", "\n/K [@body-3]"),
			filetest.Element("body-3", "LBody", "item-3", "\n/Pg @page-1\n/K 6"),
			filetest.Element("stray", "P", "list", "\n/Pg @page-1\n/K 7"),
			filetest.Element("figure", "Figure", "document", "\n/K [@image @caption]"),
			"-- image --\n<</Type /StructElem\n/S /Figure\n/Alt (a \\(big\\) dog)\n/P @figure\n/Pg @page-1\n/K 8>>\n",
			filetest.Element("caption", "Caption", "figure", "\n/K [@caption-text @outside]"),
			filetest.Element("caption-text", "NonStruct", "caption", "\n/Pg @page-1\n/K 9"),
			filetest.Element("outside", "LI", "caption", "\n/Pg @page-1\n/K 10"),
			"-- formula --\n<</Type /StructElem\n/S /Figure\n/Alt <FEFF2061007800B2>\n/P @document\n/Pg @page-1\n",
			"/K 11>>\n",
			filetest.Element("table", "Table", "document", "\n/K [@row-1 @row-2]"),
			filetest.Element("row-1", "TR", "table", "\n/K [@head-1 @head-2]"),
			filetest.Element("row-2", "TR", "table", "\n/K [@cell]"),
			filetest.Element("head-1", "TH", "row-1", "\n/K [@head-text]\n/ID (node00000399)"),
			filetest.Element("head-text", "NonStruct", "head-1", "\n/Pg @page-1\n/K 12"),
			filetest.Element("head-2", "TH", "row-1", "\n/Pg @page-1\n/K 13\n/ID (node00001000)"),
			filetest.Element("cell", "TD", "row-2",
				"\n/Pg @page-1\n/K 14\n/A [<</O /Table\n/ColSpan 2\n/Headers [(node00000399) (node00001000)]>>]"),
			filetest.Element("note", "Art", "document", "\n/K [@note-text]"),
			filetest.Element("note-text", "P", "note", "\n/K [@back]"),
			filetest.Element("back", "NonStruct", "note-text", "\n/K [<</Type /OBJR\n/Obj @back-link\n/Pg @page-1>>]"),
			filetest.Element("aside", "Art", "document", "\n/K [@aside-text]"),
			filetest.Element("aside-text", "P", "aside", "\n/Pg @page-1\n/K [15 16]"),
		),
		"-- tags --\n<</Type /StructTreeRoot\n/K @document\n/ParentTreeNextKey 2\n/ParentTree @parents\n"+
			"/IDTree @ids>>\n",
		"-- parents --\n<</Type /ParentTree\n/Nums [0 @owners 1 @back]>>\n",
		"-- owners --\n[@heading-text @list-caption @label @text-1 @text-2 @text-3 @body-3 @stray @image @caption-text "+
			"@outside @formula @head-text @head-2 @cell @aside-text @aside-text]\n",
		"-- ids --\n<</Kids [@ids-1]>>\n-- ids-1 --\n<</Limits [(node00000399) (node00001000)]\n"+
			"/Names [(node00000399) @head-1 (node00000400) @heading (node00001000) @head-2]>>\n",
		"-- back-link --\n<</Type /Annot\n/Subtype /Link\n/F 4\n/Dest /fnref-1\n/StructParent 1>>\n",
	)

	p, objects := packed(t, built, Finish{PDFUA: true})
	if len(p.Missing) > 0 {
		t.Errorf("got missing parts %q, want none", p.Missing)
	}
	delete(objects, 1)

	for n, o := range objects {
		if strings.Contains(o, "/Type /Metadata") {
			delete(objects, n)
		}
	}
	golden.Check(t, "structure.txt", []byte(built.Text(t, objects)))
}

func TestListsAndFiguresAreRepaired(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ kids, elements, want string }{
		"a heading in an item is in its body": {
			"@l", concat(filetest.Element("l", "L", "document", "\n/K [@i]"),
				filetest.Element("i", "LI", "l", "\n"+"/K [@h]"),
				filetest.Element("h", "H2", "i", "\n/Pg @page-1\n/K 0")),
			"-- i --\n<</Type /StructElem\n/S /LI\n/P @l\n/K [@new-1]>>\n-- h --\n<</Type /StructElem\n/S /H2\n" +
				"/P @new-1\n/Pg @page-1\n/K [0]>>\n-- new-1 --\n<</Type /StructElem\n/S /LBody\n/P @i\n/K [@h]>>\n",
		},
		"an item without a list is no item": {
			"@i", filetest.Element("i", "LI", "document", "\n/Pg @page-1\n/K 0"),
			"-- i --\n<</Type /StructElem\n/S /NonStruct\n/P @document\n/Pg @page-1\n/K [0]>>\n",
		},
		"a list in a list stays": {
			"@l", filetest.Element("l", "L", "document", "\n/K [@m]") + filetest.Element("m", "L", "l", "\n/K []"),
			"-- l --\n<</Type /StructElem\n/S /L\n/P @document\n/K [@m]>>\n-- m --\n<</Type /StructElem\n/S /L\n" +
				"/P @l\n/K []>>\n",
		},
		"a figure of several images becomes a Div": {
			"@f", concat(filetest.Element("f", "Figure", "document", "\n/K [@a @b]"),
				filetest.Element("a", "Figure", "f", "\n"+"/Alt (a)"),
				filetest.Element("b", "Figure", "f", "\n/Alt (b)")),
			"-- f --\n<</Type /StructElem\n/S /Div\n/P @document\n/K [@a @b]>>\n-- a --\n<</Type /StructElem\n" +
				"/S /Figure\n/P @f\n/Alt (a)>>\n-- b --\n<</Type /StructElem\n/S /Figure\n/P @f\n/Alt (b)>>\n",
		},
		"a figure of text becomes a Div": {
			"@f", filetest.Element("f", "Figure", "document", "\n/K [@a]") + filetest.Element("a", "P", "f", ""),
			"-- f --\n<</Type /StructElem\n/S /Div\n/P @document\n/K [@a]>>\n-- a --\n<</Type /StructElem\n/S /P\n" +
				"/P @f>>\n",
		},
		"a figure with a text of its own stays": {
			"@f", concat(
				filetest.Element("f", "Figure", "document", "\n/ActualText (x)\n/K [@a]"),
				filetest.Element("a", "P", "f", ""),
			),
			"-- f --\n<</Type /StructElem\n/S /Figure\n/P @document\n/ActualText (x)\n/K [@a]>>\n-- a --\n" +
				"<</Type /StructElem\n/S /P\n/P @f>>\n",
		},
		"an article without a link back stays": {
			"@n", concat(
				filetest.Element("n", "Art", "document", "\n/K [@p]"),
				filetest.Element("p", "P", "n", "\n/K [<</Type /OBJR\n"+"/Obj @pages>>]"),
			),
			"-- n --\n<</Type /StructElem\n/S /Art\n/P @document\n/K [@p]>>\n-- p --\n<</Type /StructElem\n/S /P\n" +
				"/P @n\n/K [<</Type /OBJR\n/Obj @pages>>]>>\n",
		},
		"text of an item is not merged into it": {
			"@l", concat(filetest.Element("l", "L", "document", "\n/K [@i]"),
				filetest.Element("i", "LI", "l", "\n"+"/K [@s]"),
				filetest.Element("s", "NonStruct", "i", "\n/Pg @page-1\n/K 0")),
			"-- i --\n<</Type /StructElem\n/S /LI\n/P @l\n/K [@new-1]>>\n-- s --\n<</Type /StructElem\n" +
				"/S /NonStruct\n/P @new-1\n/Pg @page-1\n/K [0]>>\n-- new-1 --\n<</Type /StructElem\n/S /LBody\n" +
				"/P @i\n/K [@s]>>\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			built := tagged(t, c.kids, c.elements)
			_, objects := packed(t, built, Finish{PDFUA: true})
			var only []string

			for line := range strings.Lines(c.want) {
				if strings.HasPrefix(line, "-- ") {
					only = append(only, strings.Fields(line)[1])
				}
			}

			if diff := cmp.Diff(c.want, built.Text(t, objects, only...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLeavesAreMerged(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ elements, want string }{
		"several among other kids": {
			concat(filetest.Element("p", "P", "document", "\n/K [@a @em @b]"),
				filetest.Element("a", "NonStruct", "p", "\n/Pg @page-1\n"+"/K 4"),
				filetest.Element("em", "Em", "p", ""),
				filetest.Element("b", "NonStruct", "p", "\n/Pg @page-1\n/K 6")),
			"-- p --\n<</Type /StructElem\n/S /P\n/P @document\n/K [4 @em 6]\n/Pg @page-1>>\n-- em --\n" +
				"<</Type /StructElem\n/S /Em\n/P @p>>\n",
		},
		"only those on one page": {
			concat(filetest.Element("p", "P", "document", "\n/K [@a @b]"),
				filetest.Element("a", "NonStruct", "p", "\n/Pg @page-1\n"+"/K 4"),
				filetest.Element("b", "NonStruct", "p", "\n/Pg @pages\n/K 6")),
			"-- p --\n<</Type /StructElem\n/S /P\n/P @document\n/K [4 @b]\n/Pg @page-1>>\n-- b --\n" +
				"<</Type /StructElem\n/S /NonStruct\n/P @p\n/Pg @pages\n/K 6>>\n",
		},
		"not those of several runs": {
			concat(
				filetest.Element("p", "P", "document", "\n/K [@a]"),
				filetest.Element("a", "NonStruct", "p", "\n/Pg @page-1\n/K [4 5]"),
			),
			"-- p --\n<</Type /StructElem\n/S /P\n/P @document\n/K [@a]>>\n-- a --\n<</Type /StructElem\n" +
				"/S /NonStruct\n/P @p\n/Pg @page-1\n/K [4 5]>>\n",
		},
		"not into a division": {
			concat(
				filetest.Element("p", "Div", "document", "\n/K [@a]"),
				filetest.Element("a", "NonStruct", "p", "\n/Pg @page-1\n/K 4"),
			),
			"-- p --\n<</Type /StructElem\n/S /Div\n/P @document\n/K [@a]>>\n-- a --\n<</Type /StructElem\n" +
				"/S /NonStruct\n/P @p\n/Pg @page-1\n/K 4>>\n",
		},
		"not a leaf missing from its parent's kids": {
			concat(
				filetest.Element("p", "P", "document", "\n/K [7]\n/Pg @page-1"),
				filetest.Element("a", "NonStruct", "p", "\n/Pg @page-1\n/K 4"),
			),
			"-- p --\n<</Type /StructElem\n/S /P\n/P @document\n/K 7\n/Pg @page-1>>\n-- a --\n<</Type /StructElem\n" +
				"/S /NonStruct\n/P @p\n/Pg @page-1\n/K 4>>\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			built := tagged(t, "@p", c.elements, "-- owners --\n[@a]\n")

			_, objects := packed(t, built, Finish{})
			if diff := cmp.Diff(c.want, built.Text(t, objects, "p", "a", "b", "em")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}

			owner := "[@p]"
			if strings.Contains(c.want, "-- a --") {
				owner = "[@a]"
			}

			if got := built.Text(t, objects, "owners"); got != "-- owners --\n"+owner+"\n" {
				t.Errorf("the owners are %q, want %s", got, owner)
			}
		})
	}
}

func TestLinksNameTheirTarget(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ entries, want string }{
		"an address": {
			"/A <</S /URI\n/URI (https://example.org/\\(a\\))>>",
			`(https://example.org/\(a\))`,
		},
		"an anchor":                  {"/Dest /intro", "(intro)"},
		"an anchor, escaped twice":   {"/Dest /caf#25C3#25A9", "<FEFF00630061006600E9>"},
		"an anchor, escaped wrongly": {"/Dest /100#25", "(100%)"},
		"nothing":                    {"/F 4", "(link)"},
		"an action without address":  {"/A <</S /GoTo>>", "(link)"},
		"an empty address":           {"/A <</S /URI\n/URI ()>>", "(link)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			built := tagged(t, "", "", "-- link --\n<</Type /Annot\n/Subtype /Link\n"+c.entries+">>\n")

			_, objects := packed(t, built, Finish{})
			if got := built.Text(t, objects, "link"); !strings.HasSuffix(got, "\n/Contents "+c.want+">>\n") {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
