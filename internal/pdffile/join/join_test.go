package join

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
	"presswork/internal/pdffile/pack"
	"presswork/internal/test/golden"
)

// section returns one printed section of a document. It has a heading, a paragraph with a link, a table cell that
// names its header cell, and a footnote. Several sections may share the footnote.
func section(t testing.TB, name string, level int) *pdffile.File {
	t.Helper()

	return read(t, sectionData(t, name, level))
}

func sectionData(t testing.TB, name string, level int) []byte {
	t.Helper()

	return filetest.Build(
		t,
		"-- catalog --\n<</Type /Catalog\n/Pages @pages\n/Dests @dests\n/Outlines @outlines\n"+
			"/StructTreeRoot @tags\n/MarkInfo <</Marked true>>\n/Lang (en)>>\n",
		"-- dests --\n<</"+name+" [@page-1 /XYZ 0 190 0]\n/shared [@page-1 /XYZ 0 50 0]>>\n",
		"-- outlines --\n<</Type /Outlines\n/First @entry\n/Last @entry>>\n",
		"-- entry --\n<</Title ("+name+")\n/Dest [@page-1 /XYZ 0 190 0]\n/Parent @outlines\n/SE @heading>>\n",
		"-- tags --\n<</Type /StructTreeRoot\n/K @document\n/ParentTreeNextKey 2\n/ParentTree @parents\n"+
			"/IDTree @ids>>\n",
		"-- parents --\n<</Type /ParentTree\n/Nums [0 @owners 1 @link]>>\n",
		"-- owners --\n[@heading @cell @main]\n",
		"-- ids --\n<</Kids [@ids-1]>>\n",
		"-- ids-1 --\n<</Limits [(node00000007) (node00000007)]\n/Names [(node00000007) @cell]>>\n",
		"-- document --\n<</Type /StructElem\n/S /Document\n/P @tags\n/K [@main]>>\n",
		filetest.Element("main", "Div", "document", "\n/Pg @page-1\n/K [@heading @cell @link 2]"),
		filetest.Element("heading", fmt.Sprintf("H%d", level), "main", "\n/Pg @page-1\n/K 0"),
		filetest.Element("cell", "TD", "main",
			"\n/Pg @page-1\n/K 1\n/ID (node00000007)\n/A <</Headers [(node00000007)]>>"),
		filetest.Element("link", "Link", "main", "\n/K [<</Type /OBJR\n/Obj @annotation\n/Pg @page-1>>]"),
		"-- annotation --\n<</Type /Annot\n/Subtype /Link\n/Rect [10 170 50 190]\n/Dest /shared\n"+
			"/StructParent 1>>\n",
		strings.Replace(
			filetest.Pages(
				"/Font <</F1 @font>>",
				"/P <</MCID 0 >>BDC\nBT\n/F1 9 Tf\n1 0 0 1 10 180 Tm\n"+filetest.Show(name)+"ET\nEMC\n",
			),
			"/Contents",
			"/StructParents 0\n/Annots [@annotation]\n/Contents",
			1,
		),
		filetest.EmbeddedFont("font", filetest.Latin(),
			map[int]string{0: "zero", int(name[0]): "outline of " + name[:1]}),
	).Data
}

// banner returns a printed file with one header on each page.
func banner(t testing.TB, texts ...string) *pdffile.File {
	t.Helper()

	var contents []string
	for _, text := range texts {
		contents = append(contents, "BT\n/F1 7 Tf\n1 0 0 1 10 5 Tm\n"+filetest.Show(text)+"ET\n")
	}

	return read(
		t,
		filetest.Build(t, filetest.Pages("/Font <</F1 @font>>", contents...),
			filetest.EmbeddedFont("font", filetest.Latin(), map[int]string{0: "zero", 'H': "outline of H"})).Data,
	)
}

// joinedFile joins sections and banners and packs the result.
func joinedFile(t testing.TB, sections, banners []*pdffile.File) (*pdffile.File, pack.Packed) {
	t.Helper()

	joined, err := Files(filetest.Each(sections...), banners)
	if err != nil {
		t.Fatal(err)
	}

	p, err := pack.Write(joined, pack.Meta{Title: "Whole"}, pack.Finish{PDFUA: true})
	if err != nil {
		t.Fatal(err)
	}

	return joined, p
}

func TestJoinedSectionsKeepPagesDestinationsAndTags(t *testing.T) {
	t.Parallel()

	_, p := joinedFile(t, []*pdffile.File{section(t, "Alpha", 1), section(t, "Beta", 2), section(t, "Gamma", 1)},
		[]*pdffile.File{banner(t, "Head one", "Head two"), banner(t, "Head three")})
	if p.Pages != 3 || len(p.Missing) > 0 {
		t.Errorf("got %d pages, missing %q; want 3 and nothing", p.Pages, p.Missing)
	}
	filetest.CheckInfo(t, filetest.Poppler(t, p.Data, "pdfinfo"),
		map[string]string{"Pages": "3", "Title": "Whole", "Tagged": "yes"})

	var pages []string
	for page := range strings.SplitSeq(strings.TrimSuffix(filetest.Poppler(t, p.Data, "pdftotext"), "\f"), "\f") {
		pages = append(pages, strings.Join(strings.Fields(page), " "))
	}

	if diff := cmp.Diff([]string{"Alpha Head one", "Beta Head two", "Gamma Head three"}, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	dests := regexp.MustCompile(`(?m)^ +(\d) \[.*\] "(.*)"$`).
		FindAllStringSubmatch(filetest.Poppler(t, p.Data, "pdfinfo", "-dests"), -1)

	var got []string
	for _, d := range dests {
		got = append(got, d[2]+" on "+d[1])
	}
	slices.Sort(got)

	if diff := cmp.Diff([]string{"Alpha on 1", "Beta on 2", "Gamma on 3", "shared on 1"}, got); diff != "" {
		t.Errorf("destinations (-want +got):\n%s", diff)
	}
	golden.Check(t, "joined-structure.txt", []byte(filetest.Poppler(t, p.Data, "pdfinfo", "-struct-text")))

	fonts := strings.Count(filetest.Poppler(t, p.Data, "pdffonts"), "AAAAAA+Face")
	if fonts != 1 {
		t.Errorf("the face is embedded %d times, want once", fonts)
	}
}

func TestJoinedOutlineIsNested(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		levels []int
		want   string
	}{
		"one":                      {[]int{1}, "A"},
		"below one another":        {[]int{1, 2, 3}, "A(B(C))"},
		"next to one another":      {[]int{2, 2, 2}, "A B C"},
		"up and down":              {[]int{1, 2, 1, 3, 2}, "A(B) C(D E)"},
		"a deeper one comes first": {[]int{3, 1, 2}, "A B(C)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var sections []*pdffile.File
			for i, level := range c.levels {
				sections = append(sections, section(t, string(rune('A'+i)), level))
			}
			joined, _ := joinedFile(t, sections, nil)

			catalog, _, err := pdffile.ReadDict(joined.Objects[joined.Root])
			if err != nil {
				t.Fatal(err)
			}

			if got := outlineText(t, joined, catalog.Get("Outlines"), ""); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// outlineText returns the title of an outline entry, with those of the entries below it in brackets. It checks their
// links and counts. up is the reference of the parent, or "".
func outlineText(t *testing.T, f *pdffile.File, at []byte, up string) string {
	t.Helper()

	d, err := f.Dictionary(at)
	if err != nil {
		t.Fatal(err)
	}

	if up != "" && string(d.Get("Parent")) != up {
		t.Errorf("%s has the parent %s, want %s", d.Get("Title"), d.Get("Parent"), up)
	}
	var kids []string
	var last []byte

	for next := d.Get("First"); next != nil; {
		kid, err := f.Dictionary(next)
		if err != nil {
			t.Fatal(err)
		}

		if string(kid.Get("Prev")) != string(last) {
			t.Errorf("%s has the predecessor %s, want %s", kid.Get("Title"), kid.Get("Prev"), last)
		}
		kids = append(kids, outlineText(t, f, next, string(at)))
		last, next = next, kid.Get("Next")
	}

	if string(d.Get("Last")) != string(last) {
		t.Errorf("the last entry of %s is %s, want %s", d.Get("Title"), d.Get("Last"), last)
	}
	text := pdffile.DecodeText(d.Get("Title"))

	below := strings.Join(kids, " ")

	count := len(regexp.MustCompile(`[A-Z]`).FindAllString(below, -1))
	if count > 0 && string(d.Get("Count")) != fmt.Sprint(count) {
		t.Errorf("%q has the count %s, want %d", text, d.Get("Count"), count)
	}

	if text != "" && below != "" {
		return text + "(" + below + ")"
	}

	return text + below
}

// The prints of a long document are ten times as large as the result. An object that points into a print keeps all of
// it in memory.
func TestResultDoesNotPointIntoTheSections(t *testing.T) {
	t.Parallel()
	data := sectionData(t, "Alpha", 1)

	joined, err := Files(filetest.Each(read(t, data)), nil)
	if err != nil {
		t.Fatal(err)
	}

	objects := make([][]byte, len(joined.Objects))
	for i, o := range joined.Objects {
		objects[i] = bytes.Clone(o)
	}
	clear(data)

	for i, o := range joined.Objects {
		if !bytes.Equal(o, objects[i]) {
			t.Errorf("object %d changed with the section: %.60q became %.60q", i, objects[i], o)
		}
	}
}

func TestPageTreeOfManyPagesIsFlat(t *testing.T) {
	t.Parallel()

	for _, count := range []int{1, 64, 65, 64 * 64, 64*64 + 1} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			t.Parallel()

			f := read(t, filetest.Build(t, filetest.Pages("", slices.Repeat([]string{""}, min(count, 65))...)).Data)
			for n := 65; n < count; n++ { // copies of the last page
				pages, _, err := pdffile.ReadDict(f.Objects[3])
				if err != nil {
					t.Fatal(err)
				}
				last := f.Add(f.Objects[len(f.Objects)-2])
				f.Add(nil)
				pages.Set("Kids", strings.TrimSuffix(string(pages.Get("Kids")), "]")+" "+pdffile.RefTo(last)+"]")
				f.Objects[3] = pages.Bytes()
			}

			joined, err := Files(filetest.Each(f), nil)
			if err != nil {
				t.Fatal(err)
			}

			numbers, err := joined.PageNumbers()
			if pages, err2 := joined.Pages(); err != nil || err2 != nil || pages != count || len(numbers) != count {
				t.Fatalf("got %d pages and %d in the tree, %v, %v", pages, len(numbers), err, err2)
			}

			for _, o := range joined.Objects {
				if d, _, err := pdffile.ReadDict(o); err == nil && string(d.Get("Type")) == "/Pages" {
					if kids, err := pdffile.ReadArray(d.Get("Kids")); err != nil || len(kids) > 64 {
						t.Errorf("a node has %d kids, %v; want at most 64", len(kids), err)
					}
				}
			}
		})
	}
}

func TestWrongNumbersOfBannersAreRejected(t *testing.T) {
	t.Parallel()

	for name, texts := range map[string][][]string{
		"one too few":               {{"Head"}},
		"one too many":              {{"Head", "Head", "Head"}},
		"one too many in two files": {{"Head"}, {"Head", "Head"}},
		"one too few in two files":  {{"Head"}, {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var banners []*pdffile.File
			for _, file := range texts {
				banners = append(banners, banner(t, file...))
			}

			_, err := Files(filetest.Each(section(t, "Alpha", 1), section(t, "Beta", 1)), banners)
			if err == nil || !strings.Contains(err.Error(), "exactly one page for each page") {
				t.Errorf("got %v, want that each page needs one banner", err)
			}
		})
	}
}

func TestBannersAreArtifactsOnThePage(t *testing.T) {
	t.Parallel()
	joined, _ := joinedFile(t, []*pdffile.File{section(t, "Alpha", 1)}, []*pdffile.File{banner(t, "Head")})

	canvases, err := joined.Canvases()
	if err != nil || len(canvases) != 2 {
		t.Fatalf("got %d canvases, %v; want 2", len(canvases), err)
	}

	for _, c := range canvases {
		if c.Form {
			continue
		}
		var parts []string

		contents, err := pdffile.ReadArray(c.Dict.Get("Contents"))
		if err != nil {
			t.Fatal(err)
		}

		for _, part := range contents {
			n, _ := joined.Object(part)

			_, content, err := joined.Stream(n)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, string(content))
		}

		if len(parts) != 3 || parts[0] != "q\n" || parts[2] != "Q\n/Artifact BMC\n/Banner Do\nEMC\n" {
			t.Errorf("the page has the contents %q, want the banner as an artifact", parts)
		}
	}
}

func TestSectionsWithInvalidTagsAreRejected(t *testing.T) {
	t.Parallel()

	for name, c := range map[string][2]string{
		"no next key":                {"/ParentTreeNextKey 2", "/ParentTreeNextKez 2"},
		"a huge next key":            {"/ParentTreeNextKey 2", "/ParentTreeNextKey 4000000000"},
		"a key that does not exist":  {"/Nums [0 ", "/Nums [7 "},
		"a negative key":             {"/Nums [0 ", "/Nums [-1 "},
		"a key without a value":      {"/Nums [0 ", "/Nums [0 0 "},
		"no topmost element":         {"/StructTreeRoot\n/K ", "/StructTreeRoot\n/L "},
		"no elements in the topmost": {"/S /Document\n/P", "/S /Document\n/K []\n/P"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := section(t, "Alpha", 1)
			found := false

			for n, o := range f.Objects {
				if strings.Contains(string(o), c[0]) {
					found = true
					f.Objects[n] = []byte(strings.Replace(string(o), c[0], c[1], 1))
				}
			}

			if _, err := Files(filetest.Each(f), nil); err == nil || !found {
				t.Errorf("Files returned no error; the invalid entry was written: %v", found)
			}
		})
	}
}

func read(t testing.TB, data []byte) *pdffile.File {
	t.Helper()

	f, err := pdffile.Read(data)
	if err != nil {
		t.Fatal(err)
	}

	return f
}
