package document_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/markdown/diagram"
)

// bookOf converts a document to EPUB. It returns the book and its files by name.
func bookOf(t *testing.T, c *document.Converter, d document.Document) ([]byte, map[string][]byte) {
	t.Helper()
	d.Output = presswork.EPUB

	composed, err := c.Compose(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}

	made, err := c.Make(t.Context(), composed)
	if err != nil {
		t.Fatal(err)
	}

	z, err := zip.NewReader(bytes.NewReader(made.Data), int64(len(made.Data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}

	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}

		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}

	return made.Data, files
}

// samples returns a document with all features, and one whose content breaks careless EPUBs.
func samples(t *testing.T) (rich, hostileBook []byte) {
	t.Helper()

	for name, into := range map[string]*[]byte{"testdata/rich.md": &rich, "testdata/book.md": &hostileBook} {
		var err error
		if *into, err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}

	return rich, hostileBook
}

// TestBooksAreValid runs EPUBCheck on the rich sample, on a hostile document, and on a
// book with the stylesheet of each theme.
func TestBooksAreValid(t *testing.T) {
	t.Parallel()
	b := printer(t)

	checker := os.Getenv("PRESSWORK_EPUBCHECK")
	if _, err := os.Stat(checker); err != nil {
		t.Skip("EPUBCheck is not there: `make setup-test` fetches it where Java and Maven are installed")
	}
	rich, hostileBook := samples(t)
	c := converter(t, document.Options{Diagrams: diagram.New(diagram.Options{Script: b.Script})})
	data, _ := bookOf(t, c, document.Document{
		Content: rich,
		Path:    "rich.md",
		Parts:   []document.Part{{Content: hostileBook, Path: "book.md"}},
	})
	var styles bytes.Buffer

	short := []byte(
		"# T\n\n> q\n\n- [ ] x\n\n| a |\n|-|\n| b |\n\n```go\nfunc x() {}\n```\n\n> [!TIP]\n> x\n\n## H\n\n$x$ a[^1]\n\n[^1]: n\n",
	)
	for _, theme := range catalogue(t).List() {
		_, files := bookOf(t, c, document.Document{Content: short, Theme: theme.Name})
		styles.Write(files["EPUB/style.css"])
	}

	checkBook(t, checker, withStyle(t, data, styles.Bytes()))

	all := laidOut(t) // letters are no books, and a book has no columns
	for _, name := range []string{"cv", "recipe", "minutes", "paper", "notebook"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			data, _ := bookOf(t, c, all[name])
			checkBook(t, checker, data)
		})
	}
}

// checkBook runs EPUBCheck on a book and fails the test for each error and warning.
func checkBook(t *testing.T, checker string, data []byte) {
	t.Helper()

	path := filepath.Join(t.TempDir(), "book.epub")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
		filepath.Join(checker, "*"), "com.adobe.epubcheck.tool.Checker", path, "--json", "-")
	out, err := cmd.Output()

	begin := bytes.IndexByte(out, '{')
	if begin < 0 {
		t.Fatalf("EPUBCheck printed no report: %v\n%s", err, out)
	}

	var report struct {
		Messages []struct {
			ID, Severity, Message string
			Locations             []struct{ Path, Context string }
		}
		Checker struct {
			Elapsed int `json:"elapsedTime"`
			Fatal   int `json:"nFatal"`
			Error   int `json:"nError"`
		}
	}
	if err := json.NewDecoder(bytes.NewReader(out[begin:])).Decode(&report); err != nil {
		t.Fatalf("the report of EPUBCheck is not JSON: %v\n%.500s", err, out)
	}

	if report.Checker.Elapsed == 0 {
		t.Errorf("EPUBCheck checked nothing: %.500s", out)
	}

	for _, m := range report.Messages {
		if m.Severity == "FATAL" || m.Severity == "ERROR" || m.Severity == "WARNING" {
			t.Errorf("EPUBCheck reports %s %s: %.300s %+v", m.Severity, m.ID, m.Message, m.Locations)
		}
	}
}

// withStyle returns the book with css as its stylesheet.
func withStyle(t *testing.T, book, css []byte) []byte {
	t.Helper()

	z, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)

	for _, f := range z.File {
		if f.Name != "EPUB/style.css" {
			if err := w.Copy(f); err != nil {
				t.Fatal(err)
			}
			continue
		}

		entry, err := w.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}

		if _, err := entry.Write(css); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return out.Bytes()
}

func TestABookHasTheThemesCover(t *testing.T) {
	t.Parallel()
	b := printer(t)
	c := converter(t, document.Options{Picture: func(ctx context.Context, page printable.Page) ([]byte, error) {
		return b.Screenshot(ctx, page, chromium.ScreenshotOptions{})
	}})
	_, files := bookOf(t, c, document.Document{
		Content: []byte("# Night train\n\ntext"),
		Theme:   "synthwave",
		Options: presswork.Options{Author: "Ann"},
	})

	cover, err := png.Decode(bytes.NewReader(files["EPUB/cover.png"]))
	if err != nil {
		t.Fatal(err)
	}

	if s := cover.Bounds().Size(); s.X != 1600 || s.Y != 2560 {
		t.Errorf("the cover has %d × %d pixels, want 1600 × 2560", s.X, s.Y)
	}

	red, green, blue, _ := cover.At(3, 3).RGBA() // --cover-bg is #09002f
	if red>>8 > 20 || green>>8 > 10 || blue>>8 < 30 || blue>>8 > 70 {
		t.Errorf("the corner is #%02x%02x%02x, want about #09002f", red>>8, green>>8, blue>>8)
	}
	sun := 0 // rows in which the middle of the picture is yellow

	for y := 0; y < 2560; y += 16 {
		if r, g, _, _ := cover.At(800, y).RGBA(); r>>8 > 200 && g>>8 > 100 {
			sun++
		}
	}

	if sun < 10 {
		t.Errorf("the sun is on %d of 160 rows, want at least 10", sun)
	}

	_, files = bookOf(
		t,
		c,
		document.Document{Content: []byte("# Night train\n\ntext"), Options: presswork.Options{Cover: new(false)}},
	)
	if files["EPUB/cover.png"] != nil || files["EPUB/cover.xhtml"] != nil {
		t.Error("a book without a cover has files of a cover")
	}
}

// A book has the content and metadata of its document. A dark theme does not set the colour of the page. The same
// document gives the same bytes during a day.
func TestABookHasTheContentOfItsDocument(t *testing.T) {
	t.Parallel()
	rich, _ := samples(t)
	c := converter(t, document.Options{})

	data, files := bookOf(t, c, document.Document{Content: rich, Theme: "dracula"})
	if again, _ := bookOf(t, c, document.Document{Content: rich, Theme: "dracula"}); !bytes.Equal(data, again) {
		t.Error("converting the document again gives other bytes")
	}

	all := string(bytes.Join(
		[][]byte{files["EPUB/chapter-001.xhtml"], files["EPUB/chapter-002.xhtml"], files["EPUB/chapter-003.xhtml"]},
		nil,
	))
	for _, want := range []string{"<math xmlns=", `epub:type="noteref"`, "<strong>Markdown</strong>", `class="chroma`, `<table>`, `<span class="task">☑</span>`} {
		if !strings.Contains(all, want) {
			t.Errorf("the chapters lack %s", want)
		}
	}

	opf, css := string(files["EPUB/package.opf"]), string(files["EPUB/style.css"])
	for _, want := range []string{
		"<dc:title>The Pressroom Handbook</dc:title>", "<dc:creator>The Presswork Authors</dc:creator>", "<dc:language>en</dc:language>",
		`<meta property="dcterms:modified">2026-11-20T00:00:00Z</meta>`, "urn:uuid:", `properties="nav"`, `properties="mathml"`,
	} {
		if !strings.Contains(opf, want) {
			t.Errorf("the package lacks %s:\n%s", want, opf)
		}
	}

	if body := regexp.MustCompile(`body ?\{[^}]*\}`).
		FindString(css); body == "" || strings.Contains(body, "background") || strings.Contains(body, "color") ||
		strings.Contains(css, "var(") {
		t.Errorf("body has %q, want neither colours nor var() in the stylesheet: %.300s", body, css)
	}

	if n := strings.Count(string(files["EPUB/nav.xhtml"]), "<li>"); n < 15 {
		t.Errorf("the contents have %d entries, want at least 15", n)
	}
}

// Several jobs may convert the same remembered document at a time. So Make must not append its warnings to the array
// of the composed document.
func TestWarningsOfABookStayOutOfTheComposedDocument(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{})

	composed, err := c.Compose(t.Context(), document.Document{
		Output: presswork.EPUB, Options: presswork.Options{Cover: new(false)},
		Content: []byte("![a](x.svg)\n"), Asset: func(string) ([]byte, error) {
			return []byte(
				`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><foreignObject width="9" height="9"><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject></svg>`,
			), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	shared := make([]fault.Warning, 8)
	composed.Warnings = shared[:0]

	made, err := c.Make(t.Context(), composed)
	if err != nil || len(made.Warnings) != 1 || made.Warnings[0].Code != fault.ImageFailed {
		t.Fatalf("got warnings %+v, error %v; want one %s", made.Warnings, err, fault.ImageFailed)
	}

	if shared[0].Code != "" {
		t.Errorf("the array of the composed document's warnings has %+v, want it unchanged", shared[0])
	}
}
