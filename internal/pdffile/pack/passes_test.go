package pack

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
)

func TestOutlineGetsTheTextOfHeadings(t *testing.T) {
	t.Parallel()
	type entry struct {
		title string
		level int
	}

	for name, c := range map[string]struct {
		entries  []entry
		headings []Heading
		want     []string
	}{
		"spaces are restored":               {[]entry{{"Onetwo", 1}}, []Heading{{1, "One two"}}, []string{"One two"}},
		"a number is restored":              {[]entry{{"1.2Setup", 2}}, []Heading{{2, "1.2 Setup"}}, []string{"1.2 Setup"}},
		"a repetition is removed":           {[]entry{{"x2x2 is here", 1}}, []Heading{{1, "x2"}}, []string{"x2"}},
		"another level stays":               {[]entry{{"Onetwo", 1}}, []Heading{{2, "One two"}}, []string{"Onetwo"}},
		"other words stay":                  {[]entry{{"Three", 1}}, []Heading{{1, "One two"}}, []string{"Three"}},
		"headings are used in their order":  {[]entry{{"Ab", 1}, {"Ab", 1}}, []Heading{{1, "A b"}, {1, "A B"}}, []string{"A b", "A B"}},
		"each heading is used once":         {[]entry{{"Ab", 1}, {"Ab", 1}}, []Heading{{1, "A b"}}, []string{"A b", "Ab"}},
		"a heading without entry is passed": {[]entry{{"Cd", 1}}, []Heading{{1, "A b"}, {1, "C d"}}, []string{"C d"}},
		"no letters match no letters":       {[]entry{{"***", 1}}, []Heading{{1, "* * *"}}, []string{"* * *"}},
		"no letters match none of a word":   {[]entry{{"Word", 1}}, []Heading{{1, "* * *"}}, []string{"Word"}},
		"case does not matter": {
			[]entry{{"ÜBERSICHT", 1}},
			[]Heading{{1, "Übersicht"}},
			[]string{"Übersicht"},
		},
		"eight letters are enough":        {[]entry{{"abcdefghXYZ", 1}}, []Heading{{1, "abcdefgh ij"}}, []string{"abcdefgh ij"}},
		"the mark of formulas is removed": {[]entry{{"a\u2061b", 3}}, nil, []string{"ab"}},
		"line breaks are removed":         {[]entry{{"a\nb", 3}}, nil, []string{"a b"}},
		"text without a heading stays":    {[]entry{{"Plain", 0}}, []Heading{{1, "P lain"}}, []string{"Plain"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := "-- catalog --\n<</Type /Catalog\n/Pages @pages\n/Outlines @outline>>\n-- outline --\n" +
				"<</Type /Outlines\n/First @e-0>>\n"
			var names []string

			for i, e := range c.entries {
				next := ""
				if i+1 < len(c.entries) {
					next = fmt.Sprintf("\n/Next @e-%d", i+1)
				}

				kind := "P"
				if e.level > 0 {
					kind = fmt.Sprintf("H%d", e.level)
				}
				objects += fmt.Sprintf(
					"-- e-%d --\n<</Title %s\n/SE @se-%d%s>>\n-- se-%d --\n<</Type /StructElem\n/S /%s\n"+
						"/P @outline>>\n",
					i,
					pdffile.TextString(e.title),
					i,
					next,
					i,
					kind,
				)
				names = append(names, fmt.Sprintf("e-%d", i))
			}
			built := filetest.Build(t, objects, filetest.Pages("", ""))
			_, after := packed(t, built, Finish{Headings: c.headings})
			var got []string

			for _, name := range names {
				d, _, err := pdffile.ReadDict([]byte(after[built.Number(t, name)]))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, pdffile.DecodeText(d.Get("Title")))
			}

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidDestinationsAreRenamed(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", maxName+1)
	for name, c := range map[string]struct{ dests, link, wantDests, wantLink string }{
		"a plain name":                   {"/a [@page-1 /XYZ 0 9 0]", "/a", "/a [@page-1 /XYZ 0 9 0]", "/a"},
		"a name of 127 bytes":            {"/" + long[1:] + " [@page-1 /XYZ 0 9 0]", "/" + long[1:], "/" + long[1:] + " [@page-1 /XYZ 0 9 0]", "/" + long[1:]},
		"a name of 128 bytes":            {"/a [@page-1 /XYZ 0 9 0]\n/" + long + " [@page-1 /XYZ 0 8 0]", "/" + long, "/a [@page-1 /XYZ 0 9 0]\n/destination-2 [@page-1 /XYZ 0 8 0]", "/destination-2"},
		"a word that PDF/A forbids":      {"/JavaScript [@page-1 /XYZ 0 9 0]", "/JavaScript", "/destination-1 [@page-1 /XYZ 0 9 0]", "/destination-1"},
		"a forbidden name leads nowhere": {"/a [@page-1 /XYZ 0 9 0]", "/Launch", "/a [@page-1 /XYZ 0 9 0]", ""},
		"a destination without a name":   {"/a [@page-1 /XYZ 0 9 0]", "[@page-1 /XYZ 0 9 0]", "/a [@page-1 /XYZ 0 9 0]", "[@page-1 /XYZ 0 9 0]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			built := filetest.Build(t,
				"-- catalog --\n<</Type /Catalog\n/Pages @pages\n/Dests @dests>>\n-- dests --\n<<"+c.dests+">>\n",
				"-- link --\n<</Type /Annot\n/Subtype /Link\n/Dest "+c.link+"\n/F 4>>\n", filetest.Pages("", ""))
			_, objects := packed(t, built, Finish{})

			link := "-- link --\n<</Type /Annot\n/Subtype /Link\n/F 4>>\n"
			if c.wantLink != "" {
				link = "-- link --\n<</Type /Annot\n/Subtype /Link\n/Dest " + c.wantLink + "\n/F 4>>\n"
			}

			diff := cmp.Diff("-- dests --\n<<"+c.wantDests+">>\n"+link, built.Text(t, objects, "dests", "link"))
			if diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGradientMatrixMovesToTheShading(t *testing.T) {
	t.Parallel()

	const head = "-- p --\n<</Type /Pattern\n/PatternType 2\n"
	for name, c := range map[string]struct{ in, want string }{
		"the matrix moves into the shading, past the edges": {
			head + "/Matrix [2 0 0 2 5 5]\n/Shading <</ShadingType 1\n/Domain [0 100 0 10]\n/Function @pages>>>>\n",
			head + "/Shading <</ShadingType 1\n/Domain [-0.071300000 100.039100000 -0.007130000 10.003910000]\n" +
				"/Function @pages\n/Matrix [2 0 0 2 5 5]>>>>\n",
		},
		"one with a matrix of its own stays": {head +
			"/Matrix [2 0 0 2 5 5]\n/Shading <</ShadingType 1\n/Domain [0 1 0 1]\n/Matrix [1 0 0 1 0 0]>>>>\n", ""},
		"one without a matrix stays": {head + "/Shading <</ShadingType 1\n/Domain [0 1 0 1]>>>>\n", ""},
		"an axial one stays":         {head + "/Matrix [2 0 0 2 5 5]\n/Shading <</ShadingType 2\n/Coords [0 0 1 1]>>>>\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			built := filetest.Build(t, c.in, filetest.Pages("", ""))
			if c.want == "" {
				c.want = c.in
			}

			_, objects := packed(t, built, Finish{})
			if diff := cmp.Diff(c.want, built.Text(t, objects, "p")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBoxesAndCropMarksAreAddedToPages(t *testing.T) {
	t.Parallel()

	built := letter(t, 0)
	for name, c := range map[string]struct {
		boxes Boxes
		want  map[string]string // by box, from pdfinfo
		marks bool
	}{
		"not at all":                {Boxes{}, map[string]string{"MediaBox": "0.00 0.00 100.00 200.00", "TrimBox": "0.00 0.00 100.00 200.00"}, false},
		"within the bleed":          {Boxes{Bleed: 9}, map[string]string{"MediaBox": "0.00 0.00 100.00 200.00", "BleedBox": "0.00 0.00 100.00 200.00", "TrimBox": "9.00 9.00 91.00 191.00"}, false},
		"with marks":                {Boxes{Bleed: 9, Marks: 30}, map[string]string{"MediaBox": "-30.00 -30.00 130.00 230.00", "BleedBox": "0.00 0.00 100.00 200.00", "TrimBox": "9.00 9.00 91.00 191.00"}, true},
		"with marks, without bleed": {Boxes{Marks: 20}, map[string]string{"MediaBox": "-20.00 -20.00 120.00 220.00", "BleedBox": "0.00 0.00 100.00 200.00", "TrimBox": "0.00 0.00 100.00 200.00"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, objects := packed(t, built, Finish{Boxes: c.boxes})

			info := filetest.Poppler(t, p.Data, "pdfinfo", "-box", "-f", "1", "-l", "2")
			for box, want := range c.want {
				lines := regexp.MustCompile(`(?m)^Page +\d+ `+box+`: +(.*)$`).FindAllStringSubmatch(info, -1)
				if len(lines) != 2 || strings.Join(strings.Fields(lines[0][1]), " ") != want ||
					lines[0][1] != lines[1][1] {
					t.Errorf("%s is %q, want %s on both pages", box, lines, want)
				}
			}

			got := strings.Join(strings.Fields(filetest.Poppler(t, p.Data, "pdftotext")), " ")
			if got != "First page Second page" {
				t.Errorf("the text is %q, want that of both pages", got)
			}
			drawn := 0

			for _, o := range objects {
				if pdffile.IsStream([]byte(o)) && strings.Contains(filetest.Content(t, o), "Q /Artifact BMC\n") {
					drawn++
					checkMarks(t, filetest.Content(t, o), c.boxes)
				}
			}

			if want := map[bool]int{true: 1}[c.marks]; drawn != want {
				t.Errorf("got %d drawings of marks, want %d, shared by both pages", drawn, want)
			}
		})
	}
}

// checkMarks checks the crop marks of a page of 100 by 200 points. None may be inside the bleed or outside the
// sheet.
func checkMarks(t *testing.T, content string, boxes Boxes) {
	t.Helper()

	lines := regexp.MustCompile(`(?m)^(\S+) (\S+) m (\S+) (\S+) l S$`).FindAllStringSubmatch(content, -1)
	if len(lines) != 8 {
		t.Errorf("got %d lines, want 8", len(lines))
	}

	for _, line := range lines {
		for at := 1; at < 5; at += 2 {
			x, _ := pdffile.Decimal([]byte(line[at]))

			y, _ := pdffile.Decimal([]byte(line[at+1]))
			if x > 0 && x < 100 && y > 0 && y < 200 {
				t.Errorf("the mark %s is on the printed area", line[0])
			}

			if x < -boxes.Marks-.01 || x > 100+boxes.Marks+.01 || y < -boxes.Marks-.01 || y > 200+boxes.Marks+.01 {
				t.Errorf("the mark %s is outside the sheet", line[0])
			}
		}
	}
}

func TestSourcesAreAttached(t *testing.T) {
	t.Parallel()
	sources := []Attachment{
		{"b.md", []byte("# b\n")},
		{"parts/ä (1).md", []byte("")},
		{"a.md", []byte("stream\nendstream\nendobj\n")},
	}

	p, err := Pack(letter(t, 0).Data, Meta{}, Finish{PDFA: "3b", Sources: sources})
	if err != nil {
		t.Fatal(err)
	}

	list := filetest.Poppler(t, p.Data, "pdfdetach", "-list")

	got := regexp.MustCompile(`(?m)^\d: .*$`).FindAllString(list, -1)
	if !cmp.Equal(got, []string{"1: a.md", "2: b.md", "3: parts/ä (1).md"}) {
		t.Errorf("pdfdetach lists %q, want three files in order", list)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file.pdf"), p.Data)

	for i, want := range []string{"stream\nendstream\nendobj\n", "# b\n", ""} {
		t.Run(fmt.Sprintf("file %d", i+1), func(t *testing.T) {
			path := filepath.Join(dir, fmt.Sprint(i))

			out, err := exec.CommandContext(t.Context(), "pdfdetach", "-save", fmt.Sprint(i+1), "-o", path, filepath.Join(dir, "file.pdf")).
				CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}

			if got := readFile(t, path); got != want {
				t.Errorf("the file is %q, want %q", got, want)
			}
		})
	}

	if !regexp.MustCompile(`/Names \[\(a\.md\) \d+ 0 R \(b\.md\) \d+ 0 R <FEFF`).Match(p.Data) {
		t.Error("the names of the name tree are not sorted")
	}

	for _, want := range []string{"/AFRelationship /Source", "/Subtype /text#2Fmarkdown", "/Size 24\n", "/CheckSum <D41D8CD98F00B204E9800998ECF8427E>", "/AF ["} {
		if !strings.Contains(string(p.Data), want) {
			t.Errorf("the file lacks %s", want)
		}
	}
}

func TestNotesAreOnThePagesOfTheirAnchors(t *testing.T) {
	t.Parallel()
	annots := func(pages, more string, finish Finish) string {
		built := filetest.Build(
			t,
			"-- catalog --\n<</Type /Catalog\n/Pages @pages\n/Dests <</one [@page-1 /XYZ 0 9 0]\n"+
				"/two [@page-1 /XYZ 0 9 0]>>>>\n",
			pages,
			more,
		)
		_, objects := packed(t, built, finish)

		return built.Text(t, objects, "page-1", "new-1", "new-2", "new-3")
	}
	two := filetest.Pages("", "", "")
	notes := Finish{Notes: []Note{{"one", "First (1)"}, {"two", "Zwölf"}, {"three", "Nowhere"}}}

	first := "<</Type /Annot\n/Subtype /Text\n/Rect [12 12 32 32]\n/F 24\n/Name /Note\n/P @page-1\n" +
		"/Contents (First \\(1\\))>>"

	got := annots(two, "", notes)
	if !strings.Contains(got, "/Annots [ @new-1 @new-2]>>\n-- new-1 --\n"+first) || strings.Contains(got, "Nowhere") {
		t.Errorf("got %s", got)
	}

	for name, c := range map[string]struct{ pages, more string }{
		"a list of its own": {strings.Replace(two, "/Contents @content-1", "/Contents @content-1\n/Annots [@link]", 1), "-- link --\n<</Type /Annot>>\n"},
		"a list elsewhere":  {strings.Replace(two, "/Contents @content-1", "/Contents @content-1\n/Annots @list", 1), "-- link --\n<</Type /Annot>>\n-- list --\n[ @link ]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := annots(c.pages, c.more, notes)
			if !regexp.MustCompile(`/Annots \[ ?@link +@new-1 @new-2\]`).MatchString(got) {
				t.Errorf("got %s", got)
			}
		})
	}

	got = annots(filetest.Pages("", ""), "", Finish{Notes: []Note{{"three", "Only page"}}})
	if !strings.Contains(got, "(Only page)") {
		t.Errorf("got %s, want the note on the only page", got)
	}

	for name, finish := range map[string]Finish{
		"PDF/A":  {PDFA: "2b", Notes: notes.Notes},
		"PDF/UA": {PDFUA: true, Notes: notes.Notes},
	} {
		t.Run(name, func(t *testing.T) {
			if got := annots(two, "", finish); strings.Contains(got, "/Annot") {
				t.Errorf("got %s, want no annotations", got)
			}
		})
	}
}
