package document_test

import (
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// parse returns a number, or fails the test.
func parse(t testing.TB, number string) float64 {
	t.Helper()

	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		t.Fatal(err)
	}

	return f
}

// pictures returns the pages of a PDF at 20 dpi.
func pictures(t testing.TB, path string) []image.Image {
	t.Helper()

	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "pdftoppm", "-r", "20", "-png", path, filepath.Join(dir, "p")).
		CombinedOutput(); err != nil {
		t.Fatalf("pdftoppm: %v: %s", err, out)
	}

	return decodeAll(t, dir)
}

// decodeAll returns the PNG files of a folder, in the order of their names.
func decodeAll(t testing.TB, dir string) []image.Image {
	t.Helper()

	files, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	var pages []image.Image

	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		page, err := png.Decode(f)
		_ = f.Close()

		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page)
	}

	return pages
}

// TestBackgroundReachesTheEdgeOfEveryKindOfPage checks the corners of covers, contents, portrait and landscape pages,
// on paper of several sizes.
func TestBackgroundReachesTheEdgeOfEveryKindOfPage(t *testing.T) {
	t.Parallel()
	content := "# A\n\ntext\n\n" + grid(15, 2, "1,234.5 kg") + "\ntext\n"

	for size, want := range map[string][2]float64{ // mm
		"A3": {297, 420}, "A4": {210, 297}, "A5": {148, 210}, "A6": {105, 148}, "B5": {176, 250},
		"Letter": {215.9, 279.4}, "Legal": {215.9, 355.6}, "Tabloid": {279.4, 431.8}, "120mm x 9in": {120, 228.6},
	} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			_, path := printDocument(
				t,
				document.Document{Content: []byte(content), Theme: "dracula", Options: presswork.Options{
					PageSize: size, Cover: new(true), TOC: new(presswork.Depth(1)), HeaderText: new("{chapter}"),
				}},
			)
			info := poppler(t, "pdfinfo", "-f", "1", "-l", "9", path)

			got := strings.Fields(field(info, "Page    2 size"))
			for side, at := range []int{0, 2} {
				// Chromium rounds to its pixels.
				if mm := parse(t, got[at]) / 72 * 25.4; math.Abs(mm-want[side]) > 0.3 {
					t.Errorf("the page is %v, want %v mm", got, want)
				}
			}
			turned := false

			for n, page := range pictures(t, path) {
				b := page.Bounds()
				turned = turned || b.Dx() > b.Dy()

				ground := page.At(2, 2)
				if r, g, bl, _ := ground.RGBA(); r == 0xffff && g == 0xffff && bl == 0xffff {
					t.Errorf("page %d has a white corner", n+1)
				}

				for _, at := range []image.Point{{b.Max.X - 3, 2}, {2, b.Max.Y - 3}, {b.Max.X - 3, b.Max.Y - 3}} {
					if got := page.At(at.X, at.Y); got != ground {
						t.Errorf("page %d has %v at %v, want %v, as in the first corner", n+1, got, at, ground)
					}
				}
			}

			// The table of 15 columns fits upright on large paper.
			if large := size == "A3" || size == "Tabloid"; !turned && !large {
				t.Error("no page is in landscape, want that of the table")
			}
		})
	}
}

// Without limits, Chromium would print long headers and footers over the text.
func TestLongHeadersStayInTheirMargin(t *testing.T) {
	t.Parallel()

	for _, margins := range []string{"normal", "narrow", "none"} {
		t.Run(margins, func(t *testing.T) {
			_, path := printDocument(t, document.Document{Content: []byte("Alpha\n"), Options: presswork.Options{
				HeaderText:   new(strings.Repeat("header ", 120)),
				FooterText:   new(strings.Repeat("f", 900)),
				MarginPreset: margins,
			}})
			text := pageTexts(t, path)[0]

			body := strings.Index(text, "Alpha")
			if before, after := text[:body], text[body:]; strings.Contains(after, "header") ||
				strings.Contains(before, "ff") {
				t.Errorf("the header or footer is printed over the text:\n%s", text)
			} else if shown := strings.Contains(before, "header"); shown != (margins != "none") {
				t.Errorf("the header is shown: %v, want %v", shown, !shown)
			}
		})
	}
}

// The title of a document is on the landscape page of its first table, and a page break after the table makes no empty
// page.
func TestLandscapeTablesLeaveNoBlankPages(t *testing.T) {
	t.Parallel()

	_, path := printDocument(t, document.Document{
		Content: []byte(
			"---\ntitle: Prices\nauthor: A. Clerk\ndate: 2026-11-22\n---\n\n" + grid(15, 2, "1,234.5 kg") +
				"\n\\newpage\n\nAfter.\n",
		),
	})
	if sizes := regexp.MustCompile(`size: +[0-9.]+ x [0-9.]+`).
		FindAllString(poppler(t, "pdfinfo", "-f", "1", "-l", "9", path), -1); len(sizes) != 2 {
		t.Errorf("the pages are %q, want one in landscape and one in portrait", sizes)
	}
}

// Chromium clips text in the margins of a page. The numbers of long lists are in the margin and must be printed whole.
func TestLongListNumbersAreNotClipped(t *testing.T) {
	t.Parallel()

	for name, content := range map[string]string{
		"alone":                "88888. x\n",
		"before a turned page": "88888. x\n\n" + grid(15, 2, "1,234.5 kg"),
	} {
		t.Run(name, func(t *testing.T) {
			_, path := printDocument(t, document.Document{Content: []byte(content)})
			page := pictures(t, path)[0]
			inked := false

			for x := 20; x < 24; x++ { // pixels; the column begins at 26

				for y := range page.Bounds().Dy() / 3 {
					r, g, b, _ := page.At(x, y).RGBA()
					inked = inked || r+g+b < 3*0xf000
				}
			}

			if !inked {
				t.Error("the number of the list is clipped at the text area")
			}
		})
	}
}
