package pack

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
)

func write(t testing.TB, path string, data []byte) {
	t.Helper()

	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// letter returns a printed file of two pages with text, a link, tags and an outline. extra is the number of
// further objects.
func letter(t testing.TB, extra int) *filetest.Built {
	t.Helper()
	text := func(s string) string { return "BT\n/F1 9 Tf\n1 0 0 1 10 180 Tm\n" + filetest.Show(s) + "ET\n" }

	var more strings.Builder
	for i := range extra {
		fmt.Fprintf(&more, "-- extra-%d --\n<</Type /Extra\n/N %d\n/Next @extra-%d>>\n", i, i, (i+1)%extra)
	}

	return filetest.Build(
		t,
		"-- catalog --\n<</Type /Catalog\n/Pages @pages\n/Dests @dests\n/Outlines @outlines\n/Lang (en)>>\n",
		filetest.Pages("/Font <</F1 @font>>", text("First page"), text("Second page")),
		filetest.EmbeddedFont("font", filetest.Latin(), map[int]string{'A': "AA"}),
		"-- dests --\n<</end [@page-2 /XYZ 0 190 0]>>\n-- outlines --\n<</Type /Outlines\n/First @entry\n"+
			"/Last @entry>>\n"+
			"-- entry --\n<</Title (The \\(end\\))\n/Dest [@page-2 /XYZ 0 190 0]\n/Parent @outlines>>\n",
		more.String(),
	)
}

func TestEveryObjectSurvivesEachFileForm(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		extra        int
		password     string
		form, absent string
	}{
		"plain":                               {0, "", "\nxref\n0 ", "/ObjStm"},
		"compressed":                          {1200, "", "/Type /ObjStm", "\nxref\n"},
		"encrypted":                           {0, "secret", "/Encrypt ", "\nxref\n"},
		"encrypted, of several streams":       {2100, "pass wörd", "/Encrypt ", "\nxref\n"},
		"encrypted with the longest password": {0, strings.Repeat("p", 127), "/Encrypt ", "\nxref\n"},
		"encrypted with one character":        {0, "漢", "/Encrypt ", "\nxref\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			built := letter(t, c.extra)
			before := filetest.Objects(t, built.Data)

			p, err := Pack(built.Data, Meta{Title: "Letter"}, Finish{Password: c.password})
			if err != nil || p.Pages != 2 || len(p.Missing) > 0 {
				t.Fatalf("got %d pages, missing %v, %v; want 2 pages", p.Pages, p.Missing, err)
			}

			if !bytes.Contains(p.Data, []byte(c.form)) || bytes.Contains(p.Data, []byte(c.absent)) {
				t.Errorf("the file lacks %q or has %q", c.form, c.absent)
			}

			var after map[int]string
			if c.password == "" {
				after = filetest.Objects(t, p.Data)
			} else {
				after = filetest.Decrypted(t, p.Data, c.password)
			}

			for n, o := range before {
				if n > 2 && after[n] != o { // Info and the catalog are new
					t.Errorf("object %d became %.200q, was %.200q", n, after[n], o)
				}
			}

			if len(c.password) > 32 {
				return // the tools of poppler accept at most 32 bytes
			}

			got := filetest.Poppler(t, p.Data, "pdftotext", "-upw", c.password)
			if strings.Join(strings.Fields(got), " ") != "First page Second page" {
				t.Errorf("poppler reads the text %q, want that of both pages", got)
			}

			info := filetest.Poppler(t, p.Data, "pdfinfo", "-dests", "-upw", c.password)
			if !strings.Contains(info, `"end"`) {
				t.Errorf("poppler lists the destinations\n%s\nwant end", info)
			}
			filetest.CheckInfo(t, filetest.Poppler(t, p.Data, "pdfinfo", "-upw", c.password), map[string]string{
				"Title":       "Letter",
				"Creator":     "Presswork",
				"Producer":    "Skia/PDF m156",
				"Pages":       "2",
				"Page size":   "100 x 200 pts",
				"PDF version": "1.7",
				"Encrypted":   map[bool]string{true: "no", false: "yes (print:yes copy:yes change:yes addNotes:yes algorithm:AES-256)"}[c.password == ""],
			})
		})
	}
}

func TestAPackedFileIsReadAndPackedAgain(t *testing.T) {
	t.Parallel()

	once, err := Pack(letter(t, 0).Data, Meta{Title: "One"}, Finish{})
	if err != nil {
		t.Fatal(err)
	}

	twice, err := Pack(once.Data, Meta{Title: "Two"}, Finish{})
	if err != nil {
		t.Fatal(err)
	}
	filetest.CheckInfo(t, filetest.Poppler(t, twice.Data, "pdfinfo"), map[string]string{"Title": "Two", "Pages": "2"})
	first, second := filetest.Objects(t, once.Data), filetest.Objects(t, twice.Data)
	maps.DeleteFunc(first, func(n int, o string) bool { return n <= 2 || o == second[n] })

	if len(first) > 0 {
		t.Errorf("objects changed: %v", first)
	}
}

func TestEqualInputGivesEqualBytes(t *testing.T) {
	t.Parallel()

	for name, extra := range map[string]int{"plain": 0, "compressed": 1200} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := letter(t, extra).Data
			finish := Finish{
				PDFA:     "3b",
				PDFUA:    true,
				Sources:  []Attachment{{"a.md", []byte("# a")}},
				Headings: []Heading{{1, "x"}},
			}

			first, err := Pack(data, Meta{Title: "t"}, finish)
			if err != nil {
				t.Fatal(err)
			}

			second, err := Pack(data, Meta{Title: "t"}, finish)
			if err != nil || !bytes.Equal(first.Data, second.Data) {
				t.Errorf("two files of the same input, of %d and %d bytes, differ (%v)", len(first.Data),
					len(second.Data), err)
			}

			other, err := Pack(data, Meta{Title: "T"}, finish)
			if err != nil || bytes.Equal(idOf(t, first.Data), idOf(t, other.Data)) {
				t.Errorf("a file with another title has the same id (%v)", err)
			}
		})
	}
}

// idOf returns the id of the file, whose two parts must be equal.
func idOf(t testing.TB, data []byte) []byte {
	t.Helper()

	id := regexp.MustCompile(`/ID \[<([0-9A-F]{32})> <([0-9A-F]{32})>\]`).FindSubmatch(data)
	if id == nil || !bytes.Equal(id[1], id[2]) {
		t.Fatalf("the id is %q, want two equal parts", id)
	}

	return id[0]
}

func TestFreeObjectsStayFree(t *testing.T) {
	t.Parallel()

	for name, extra := range map[string]int{"plain": 0, "compressed": 1200} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			built := letter(t, extra)
			f := read(t, built.Data)
			entry := built.Number(t, "entry")
			f.Objects[entry] = nil

			p, err := Write(f, Meta{}, Finish{})
			if err != nil {
				t.Fatal(err)
			}

			if o, exists := filetest.Objects(t, p.Data)[entry]; exists {
				t.Errorf("the free object became %q", o)
			}
			filetest.CheckInfo(t, filetest.Poppler(t, p.Data, "pdfinfo"), map[string]string{"Pages": "2"})
		})
	}
}

func TestInfoAndXMPAgree(t *testing.T) {
	t.Parallel()

	meta := Meta{
		Title:    "A <b> & (c)",
		Author:   "Ünal\x01",
		Subject:  "漢字",
		Date:     "2026-11-23",
		Keywords: []string{"a & b", "c\x02"},
	}
	for name, c := range map[string]struct {
		meta   Meta
		finish Finish
		info   map[string]string
		xmp    []string
		absent []string
	}{
		"all of it": {meta, Finish{}, map[string]string{"Title": "A <b> & (c)", "Author": "Ünal\ufffd", "Subject": "漢字", "Keywords": "a & b, c\ufffd", "Creator": "Presswork"}, []string{
			`<dc:title><rdf:Alt><rdf:li xml:lang="x-default">A &lt;b&gt; &amp; (c)</rdf:li></rdf:Alt></dc:title>`,
			"<dc:creator><rdf:Seq><rdf:li>Ünal\ufffd</rdf:li></rdf:Seq></dc:creator>",
			`<dc:description><rdf:Alt><rdf:li xml:lang="x-default">漢字</rdf:li></rdf:Alt></dc:description>`,
			"<dc:subject><rdf:Bag><rdf:li>a &amp; b</rdf:li><rdf:li>c\ufffd</rdf:li></rdf:Bag></dc:subject>",
			"<pdf:Keywords>a &amp; b, c\ufffd</pdf:Keywords>",
			"<dc:date><rdf:Seq><rdf:li>2026-11-23</rdf:li></rdf:Seq></dc:date>",
			"<dc:language><rdf:Bag><rdf:li>en</rdf:li></rdf:Bag></dc:language>",
			"<xmp:CreateDate>2026-11-21T04:46:24Z</xmp:CreateDate>",
			"<xmp:ModifyDate>2026-11-21T04:46:24Z</xmp:ModifyDate>", "<pdf:Producer>Skia/PDF m156</pdf:Producer>",
		}, []string{"pdfaid", "pdfuaid"}},
		"none of it": {
			Meta{},
			Finish{},
			map[string]string{"Title": "", "Author": "", "Subject": "", "Keywords": ""},
			[]string{"<xmp:CreatorTool>Presswork</xmp:CreatorTool>"},
			[]string{"dc:title", "dc:creator", "dc:description", "dc:subject", "pdf:Keywords", "dc:date"},
		},
		"a date of its own": {
			Meta{},
			Finish{Date: dateOf(t, "2020-02-03T04:05:06.7+02:00")},
			nil,
			[]string{"<xmp:CreateDate>2020-02-03T02:05:06Z</xmp:CreateDate>"},
			nil,
		},
		"PDF/A-2b": {
			Meta{},
			Finish{PDFA: "2b"},
			nil,
			[]string{"<pdfaid:part>2</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>"},
			[]string{"pdfuaid"},
		},
		"PDF/A-3b": {
			Meta{},
			Finish{PDFA: "3b"},
			nil,
			[]string{"<pdfaid:part>3</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>"},
			[]string{"pdfuaid"},
		},
		"PDF/A-2u": {
			Meta{},
			Finish{PDFA: "2u"},
			nil,
			[]string{"<pdfaid:part>2</pdfaid:part><pdfaid:conformance>U</pdfaid:conformance>"},
			[]string{"pdfuaid"},
		},
		"the document is not PDF/UA": {Meta{}, Finish{PDFUA: true}, nil, nil, []string{"pdfuaid", "pdfaid"}},
		"an empty keyword": {
			Meta{Keywords: []string{"a", ""}},
			Finish{},
			map[string]string{"Keywords": "a, "},
			[]string{"<pdf:Keywords>a, </pdf:Keywords>"},
			[]string{"dc:subject"},
		},
		"broken UTF-8": {
			Meta{Title: "a\xffb"},
			Finish{},
			map[string]string{"Title": "a\ufffdb"},
			[]string{">a\ufffdb<"},
			nil,
		},
		"a character that XML forbids": {
			Meta{Title: "a\uffffb"},
			Finish{},
			map[string]string{"Title": "a\ufffdb"},
			[]string{">a\ufffdb<"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p, err := Pack(letter(t, 0).Data, c.meta, c.finish)
			if err != nil {
				t.Fatal(err)
			}
			filetest.CheckInfo(t, filetest.Poppler(t, p.Data, "pdfinfo"), c.info)

			xmp := filetest.Poppler(t, p.Data, "pdfinfo", "-meta")
			for _, want := range c.xmp {
				if !strings.Contains(xmp, want) {
					t.Errorf("%s is not in\n%s", want, xmp)
				}
			}

			for _, absent := range c.absent {
				if strings.Contains(xmp, absent) {
					t.Errorf("%s is in\n%s", absent, xmp)
				}
			}
		})
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	return string(data)
}

func read(t testing.TB, data []byte) *pdffile.File {
	t.Helper()

	f, err := pdffile.Read(data)
	if err != nil {
		t.Fatal(err)
	}

	return f
}
