package document_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/themes"
)

// pageWidth is the width of a page in the gallery, in pixels.
const pageWidth = 400

// TestGallery prints the sample in every theme. The colour of the page reaches every edge, and the pictures in
// docs/themes equal the prints. PRESSWORK_UPDATE=1 updates the pictures.
func TestGallery(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: printer(t)})

	pages := map[string][]image.Image{}
	for _, theme := range catalogue(t).List() {
		pages[theme.Name] = previewPages(t, c, theme.Name)
		if n := len(pages[theme.Name]); n != 3 && n != 4 {
			t.Fatalf("%s: %d pages, want 3 or 4 with the cover", theme.Name, n)
		}

		for n, page := range pages[theme.Name] {
			for i, got := range corners(page) {
				if n > 0 && got != theme.Colors["base_100"] {
					t.Errorf("%s: corner %d of page %d is %s, want %s", theme.Name, i, n+1, got,
						theme.Colors["base_100"])
				}

				if n == 0 && got == "#ffffff" && theme.Scheme == "dark" {
					t.Errorf("%s: corner %d of the cover is white, want it dark", theme.Name, i)
				}
			}
		}
		checkPicture(t, filepath.Join("themes", theme.Name+".png"), sideBySide(1, pages[theme.Name][:2]...))
	}
	checkPicture(t, filepath.Join("images", "pages.png"), sideBySide(12,
		pages["light"][1], pages["nord"][0], pages["retro"][1], pages["luxury"][0], pages["dracula"][1]))
}

func TestInkSaverPrintsOnWhite(t *testing.T) {
	t.Parallel()

	_, path := printDocument(
		t,
		document.Document{Content: themes.Sample(), Theme: "dracula", Options: presswork.Options{InkSaver: new(true)}},
	)
	for n, page := range pictures(t, path) {
		for i, got := range corners(page) {
			if got != "#ffffff" {
				t.Errorf("corner %d of page %d is %s, want #ffffff", i, n+1, got)
			}
		}
	}
}

// previewPages prints the sample in a theme and returns its pages.
func previewPages(t *testing.T, c *document.Converter, theme string) []image.Image {
	t.Helper()

	composed, err := c.Preview(t.Context(), theme)
	if err != nil {
		t.Fatal(err)
	}

	result, err := c.Print(t.Context(), composed)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "pdftoppm", "-png", "-scale-to-x", fmt.Sprint(pageWidth), "-scale-to-y",
		"-1", "-", filepath.Join(dir, "p"))

	cmd.Stdin = bytes.NewReader(result.PDF)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pdftoppm: %v: %s", err, out)
	}

	return decodeAll(t, dir)
}

// corners returns the colours just inside the four corners, as "#rrggbb".
func corners(page image.Image) []string {
	b := page.Bounds()
	var found []string

	for _, p := range []image.Point{{1, 1}, {b.Dx() - 2, 1}, {1, b.Dy() - 2}, {b.Dx() - 2, b.Dy() - 2}} {
		c := color.RGBAModel.Convert(page.At(p.X, p.Y)).(color.RGBA)
		found = append(found, fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B))
	}

	return found
}

// sideBySide puts pages in a row, gap pixels from each other and from the edge. With a gap, each page has a hairline
// around it.
func sideBySide(gap int, pages ...image.Image) *image.NRGBA {
	size := pages[0].Bounds()

	row := image.NewNRGBA(image.Rect(0, 0, gap+len(pages)*(size.Dx()+gap), 2*gap+size.Dy()))
	for i, page := range pages {
		at := image.Pt(gap+i*(size.Dx()+gap), gap)
		if gap > 0 {
			draw.Draw(row, size.Add(at).Inset(-1), image.NewUniform(color.Gray{0xcc}), image.Point{}, draw.Src)
		}
		draw.Draw(row, size.Add(at), page, image.Point{}, draw.Src)
	}

	return row
}

// checkPicture compares a picture of the documentation with the print. It allows small differences: another release
// of the browser may move a line of text.
func checkPicture(t *testing.T, name string, want *image.NRGBA) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", name)

	if os.Getenv("PRESSWORK_UPDATE") == "1" {
		var b bytes.Buffer

		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		if err := encoder.Encode(&b, want); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}

		return
	}

	data, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v (`make gallery` draws it)", err)
		return
	}

	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}

	if decoded.Bounds() != want.Bounds() {
		t.Errorf("%s is %v, want %v (`make gallery` redraws it)", path, decoded.Bounds(), want.Bounds())
		return
	}
	got := sideBySide(0, decoded)

	const allowed = 3 // of 255
	if d := difference(got, want); d > allowed {
		t.Errorf("%s differs from the print by %.1f of 255, want at most %d (`make gallery` redraws it)", path, d,
			allowed)
	}
}

// difference returns how much the mean colours of squares of 20 pixels differ on average, 0 to 255.
func difference(a, b *image.NRGBA) float64 {
	const side = 20
	total, squares := 0, 0

	for y := 0; y+side <= a.Rect.Dy(); y += side {
		for x := 0; x+side <= a.Rect.Dx(); x += side {
			var sum [3]int

			for row := y; row < y+side; row++ {
				at := a.PixOffset(x, row)

				pa, pb := a.Pix[at:at+4*side], b.Pix[at:at+4*side]
				for i := 0; i < len(pa); i += 4 {
					for c := range sum {
						sum[c] += int(pa[i+c]) - int(pb[i+c])
					}
				}
			}

			for _, d := range sum {
				total += max(d, -d)
			}
			squares += len(sum)
		}
	}

	return float64(total) / float64(squares*side*side)
}

// TestEveryTokenIsDocumented checks that docs/themes.md describes each token that the shared sheets read.
func TestEveryTokenIsDocumented(t *testing.T) {
	t.Parallel()

	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "themes.md"))
	if err != nil {
		t.Fatal(err)
	}
	// The stylesheets set these tokens themselves, so no theme does.
	local := []string{
		"--alert",
		"--alert-bg",
		"--alert-icon",
		"--change",
		"--change-bg",
		"--disc",
		"--bg",
		"--em",
		"--fit",
		"--picture",
		"--sheet-ratio",
		"--start",
	}
	read := regexp.MustCompile(`var\((--[a-z0-9-]+)`)

	for _, sheet := range []string{
		"print.css", "paper.css", "syntax.css", "book.css", "epub.css", "slides.css", "slidesweb.css", "web.css",
	} {
		t.Run(sheet, func(t *testing.T) {
			css, err := os.ReadFile(sheet)
			if err != nil {
				t.Fatal(err)
			}

			missing := map[string]bool{}

			for _, m := range read.FindAllStringSubmatch(string(css), -1) {
				// The page documents the backgrounds of all notes together.
				name := m[1]
				if strings.HasPrefix(name, "--alert-") {
					name = strings.TrimSuffix(name, "-bg")
				}

				if !slices.Contains(local, m[1]) && !strings.Contains(string(doc), "`"+name+"`") {
					missing[name] = true
				}
			}

			for name := range missing {
				t.Errorf("%s reads the token %s; describe it in the table of docs/themes.md", sheet, name)
			}
		})
	}
}
