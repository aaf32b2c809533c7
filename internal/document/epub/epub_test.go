package epub_test

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork/internal/document/epub"
)

// book returns a book with a body and without headings.
func book(body string) epub.Book {
	return epub.Book{
		Title:         "A & B",
		Lang:          "en",
		Author:        "Ann",
		ContentsTitle: "Contents",
		CoverTitle:    "Cover",
		CSS:           "p{margin:0}",
		Body:          body,
		Modified:      time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC),
	}
}

// files returns the files of a book by name. It fails the test if the first one is not the media type.
func files(t testing.TB, data []byte) map[string]string {
	t.Helper()

	if !bytes.HasPrefix(data[30:], []byte("mimetypeapplication/epub+zip")) {
		t.Fatalf("the archive begins with %q, want the file mimetype", data[:60])
	}

	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}

	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}

		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = string(b)
	}

	return all
}

// faults returns what is wrong with the files of a book: malformed XML, double IDs, scripts, and references without a
// target.
func faults(all map[string]string) (found []string) {
	ids, refs := map[string]bool{}, map[string]string{}
	for name, content := range all {
		ids[name] = true
		if !strings.HasSuffix(name, ".xhtml") && !strings.HasSuffix(name, ".opf") && !strings.HasSuffix(name, ".svg") {
			continue
		}
		d := xml.NewDecoder(strings.NewReader(content))

		d.Entity = map[string]string{}
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}

			if err != nil {
				found = append(found, fmt.Sprintf("%s: %v", name, err))
				break
			}

			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}

			for _, a := range start.Attr {
				switch {
				case a.Name.Local == "id" && ids[name+"#"+a.Value]:
					found = append(found, fmt.Sprintf("%s: two elements have the ID %q", name, a.Value))
				case a.Name.Local == "id":
					ids[name+"#"+a.Value] = true
				case strings.HasPrefix(a.Name.Local, "on"),
					start.Name.Local == "script",
					a.Name.Local == "style" && strings.Contains(a.Value, "url("):
					found = append(found, fmt.Sprintf("%s: %s of %s", name, a.Name.Local, start.Name.Local))
				case a.Name.Local == "src", a.Name.Local == "href":
					u, err := url.Parse(a.Value)
					if err != nil {
						found = append(found, err.Error())
					} else if u.Scheme == "" {
						target := path.Join(path.Dir(name), u.Path)
						if u.Path == "" {
							target = name
						}

						if u.Fragment != "" {
							target += "#" + u.Fragment
						}
						refs[target] = name
					} else if u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "mailto" && u.Scheme != "tel" {
						found = append(found, fmt.Sprintf("%s: a link to %s", name, a.Value))
					}
				}
			}
		}
	}

	for _, target := range slices.Sorted(maps.Keys(refs)) {
		if !ids[target] {
			found = append(found, fmt.Sprintf("%s refers to %s, which is missing", refs[target], target))
		}
	}

	return found
}

// write returns the files of a book and the images that were left out. It fails the test if the book has faults, or if
// writing it again gives other bytes.
func write(t testing.TB, b epub.Book) (map[string]string, []epub.Omission) {
	t.Helper()

	data, left, err := epub.Write(b)
	if err != nil {
		t.Fatal(err)
	}

	again, _, err := epub.Write(b)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("writing the book again gives other bytes (%v)", err)
	}

	all := files(t, data)
	for _, fault := range faults(all) {
		t.Error(fault)
	}

	return all, left
}

func TestChaptersBeginAtTheirHeadings(t *testing.T) {
	t.Parallel()
	b := book(
		`<h1 id="t">Title</h1><p>By me</p><h2 id="a">A</h2><p>to <a href="#b">B</a>, <a href="#gone">gone</a>, <a href="#a">itself</a></p><h3 id="a1">A1</h3>` +
			`<h2 id="b">B</h2><p>x<sup><a href="#fn:1" class="footnote-ref">1</a></sup></p><div class="footnotes"><hr><ol><li id="fn:1"><p>Note <a href="#t" class="footnote-backref">↩</a></p></li></ol></div>`,
	)
	b.Headings = []epub.Heading{
		{Level: 2, Text: "A", ID: "a"},
		{Level: 3, Text: "A1", ID: "a1"},
		{Level: 2, Text: "B", ID: "b"},
		{Level: 2, Text: "C", ID: "c"},
	}
	b.Cover = []byte("\x89PNG")
	all, _ := write(t, b)

	for name, holds := range map[string][]string{
		"EPUB/chapter-001.xhtml": {"<h1 id=\"t\">Title</h1><p>By me</p>"},
		"EPUB/chapter-002.xhtml": {`<a href="chapter-003.xhtml#b">B</a>, <span>gone</span>, <a href="#a">itself</a>`, "<title>A</title>", `id="a1"`},
		"EPUB/chapter-003.xhtml": {`href="chapter-004.xhtml#fn:1" epub:type="noteref" role="doc-noteref"`},
		"EPUB/chapter-004.xhtml": {`<li id="fn:1" epub:type="footnote">`, `epub:type="backlink"`},
		"EPUB/nav.xhtml":         {"<ol>\n<li><a href=\"chapter-002.xhtml#a\">A</a><ol>\n<li><a href=\"chapter-002.xhtml#a1\">A1</a></li>\n</ol>\n</li>\n<li><a href=\"chapter-003.xhtml#b\">B</a></li>\n</ol>"},
		"EPUB/package.opf":       {`<dc:title>A &amp; B</dc:title>`, `urn:uuid:`, `<meta property="dcterms:modified">2026-03-05T00:00:00Z</meta>`, `properties="cover-image"`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, want := range holds {
				if !strings.Contains(all[name], want) {
					t.Errorf("%s lacks %s:\n%s", name, want, all[name])
				}
			}
		})
	}
}

func TestEqualImagesShareAFileAndHostileImagesAreLeftOut(t *testing.T) {
	t.Parallel()
	const dot = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	svg := func(inner string) string {
		return "data:image/svg+xml," +
			url.PathEscape(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">`+inner+`</svg>`)
	}

	all, left := write(t, book(
		`<p><img src="`+dot+`" alt="dot" width="50%"><img src="`+dot+`" height="3">`+
			`<img src="`+svg(`<rect width='1' onclick='x' style='fill:red'/>`)+`">`+
			`<img alt="s" src="`+svg(`<script>x</script>`)+`">`+
			`<img src="`+svg(`<use href='http://x/y'/>`)+`">`+
			`<img src="`+svg(`<rect style='fill:url(http://x/)'/>`)+`"></p>`,
	))
	if len(left) != 3 || left[0].Alt != "s" {
		t.Errorf("got %+v left out, want three images, the first of them s", left)
	}
	images := 0

	for name := range all {
		if strings.Contains(name, "image-") {
			images++
		}
	}

	if images != 2 || !strings.Contains(all["EPUB/image-002.svg"], `<rect width="1" style="fill:red"></rect>`) {
		t.Errorf("got %d images, want 2, the SVG without its script: %s", images, all["EPUB/image-002.svg"])
	}

	page := all["EPUB/chapter-001.xhtml"]
	if !strings.Contains(page, `<img src="image-001.png" alt="dot"/><img src="image-001.png" alt="" height="3"/>`) {
		t.Errorf("want both pictures from image-001.png, got %s", page)
	}
}

// FuzzWrite checks that any body gives files without faults.
func FuzzWrite(f *testing.F) {
	for _, body := range []string{
		"<ul><p>x<li>y</ul><dl><dd>a<dt>b</dl>", "<table><caption>a<table><tr><td></table><tfoot><tr><td><tr>", "<ruby>a<rt>b<rp>(</ruby><rt>c",
		`<a name="x y"><a id=q href="#q"><details><summary>s<h2 id=q>h</details>`, `<p id=a><rp id=b><a href=#b>x</a><input checked><time><dfn><dfn>`,
		"<svg viewBox='0 0 1 1'><path d=''/></svg><math><mrow scriptlevel=1><mtext><span>1</span></mtext></mrow></math>", "\x00\x01\ufffe&#xb;<p title='\"<'>",
		`<a href="http://[::1]:99999/%zz">x</a><a href=" jAvascript:x">y</a><a href="#%ff">z</a><img src=data:image/svg+xml,%3Csvg/%3E>`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		data, _, err := epub.Write(book(body))
		if err != nil {
			t.Fatal(err)
		}

		for _, fault := range faults(files(t, data)) {
			t.Errorf("%q: %s", body, fault)
		}
	})
}
