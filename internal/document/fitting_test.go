package document_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/themes"
)

// TestPagesLookAsWithTheWholeStylesheets prints documents twice: with the rules that they
// use and with values in place of properties, and with the whole stylesheets.
func TestPagesLookAsWithTheWholeStylesheets(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: printer(t)})

	sample, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	// Fonts of the system do not always draw a letter alike.
	sample = regexp.MustCompile(`(?m)^.*日本語.*$`).ReplaceAll(sample, nil)
	var shared strings.Builder

	for _, name := range []string{"print.css", "paper.css", "syntax.css"} {
		css, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shared.WriteString(themes.CompactCSS(string(css)))
	}

	arabic := "# عنوان\n\nنص\n\n> اقتباس\n\n- عنصر\n\n<p lang=\"ja\">日本<i>語</i></p>\n\n\\newpage\n\n" +
		grid(15, 12, "1,234.5 kg")
	for name, d := range map[string]document.Document{
		"light":          {Theme: "light", Content: sample},
		"dark":           {Theme: "abyss", Content: sample, Options: presswork.Options{Cover: new(true), TOC: new(presswork.Depth(2)), LineNumbers: new(true)}},
		"ink saver":      {Theme: "dracula", Content: sample, Options: presswork.Options{InkSaver: new(true), Cover: new(true), Landscape: new(true)}},
		"right to left":  {Theme: "valentine", Content: []byte(arabic), Options: presswork.Options{Lang: "ar", Scale: new(0.9)}},
		"style queries":  {Theme: "luxury", Content: []byte("# A\n\n> quote\n> > within\n\n***\n\n## B\n\ntext[^1]\n\n[^1]: note\n")},
		"other's tokens": {Theme: "cmyk", Content: []byte("# A\n\n## B\n\n- [x] done\n\n```go\nfunc f() {}\n```\n\n$$\\frac{1}{2}$$\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			fitted, err := c.Compose(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			d.Options.CSS = " " // a stylesheet of the caller, so the page defines all properties

			whole, err := c.Compose(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			// The second stylesheet of the page is the shared one. Replace it by the whole sheets.
			sheets := regexp.MustCompile(`(?s)<style>\n.*?</style>`).FindAllStringIndex(whole.Page.HTML, -1)
			if len(sheets) < 3 {
				t.Fatalf("the page has %d stylesheets, want at least 3", len(sheets))
			}
			html := whole.Page.HTML
			head, _, _ := strings.Cut(html[sheets[1][1]:], "<body")
			_, body, _ := strings.Cut(fitted.Page.HTML, "<body") // code has fewer elements than in the whole page

			whole.Page.HTML = html[:sheets[1][0]] + "<style>\n" + shared.String() + "\n</style>" + head + "<body" + body
			if fitted, whole := len(fitted.Page.HTML), len(whole.Page.HTML); fitted > whole-shared.Len()/2 {
				t.Errorf(
					"%d bytes with the rules that the page uses, %d with all; want half of the shared rules left out",
					fitted,
					whole,
				)
			}

			if got, want := rasters(t, c, fitted), rasters(t, c, whole); len(got) != len(want) {
				t.Errorf("%d pages, want %d", len(got), len(want))
			} else {
				for i := range got {
					if !bytes.Equal(got[i], want[i]) {
						t.Errorf("page %d differs from the print with the whole stylesheets", i+1)
					}
				}
			}
		})
	}
}

// rasters prints a document and returns its pages as PPM files at 150 dpi.
func rasters(t *testing.T, c *document.Converter, d document.Composed) (pages [][]byte) {
	t.Helper()

	r, err := c.Print(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()

	path := filepath.Join(dir, "out.pdf")
	if err := os.WriteFile(path, r.PDF, 0o600); err != nil {
		t.Fatal(err)
	}

	if out, err := exec.CommandContext(t.Context(), "pdftoppm", "-r", "150", path, filepath.Join(dir, "page")).
		CombinedOutput(); err != nil {
		t.Fatalf("pdftoppm: %v: %s", err, out)
	}

	files, err := filepath.Glob(filepath.Join(dir, "*.ppm"))
	if err != nil {
		t.Fatal(err)
	}

	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page)
	}

	return pages
}
