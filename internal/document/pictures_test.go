package document_test

import (
	"archive/zip"
	"bytes"
	"image/png"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
)

// TestPagesBecomePictures checks the size of a slide as PNG, the colours at its edges, and a gradient that ends in
// transparency.
func TestPagesBecomePictures(t *testing.T) {
	t.Parallel()
	b := printer(t)
	c := converter(t, document.Options{Printer: b, Script: b.Script})

	composed, err := c.Compose(t.Context(), document.Document{
		Content: []byte("---\nas: slides\n---\n# A\n\n---\n\n## B\n\n- x\n"),
		Theme:   "nord",
		Output:  presswork.PNG,
		Options: presswork.Options{
			Resolution: new(72),
			CSS:        "ul, ul ::marker { color: transparent } ul { height: 60mm; background: radial-gradient(circle, red, transparent) }",
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	made, err := c.Make(t.Context(), composed)
	if err != nil || made.Pages != 2 || len(made.Pictures) != 2 {
		t.Fatalf("got %d pages and %d pictures, %v; want 2 and 2", made.Pages, len(made.Pictures), err)
	}

	z, err := zip.NewReader(bytes.NewReader(made.Data), int64(len(made.Data)))
	if err != nil || len(z.File) != 2 || z.File[1].Name != "page-2.png" {
		t.Fatalf("got %v and the archive %+v, want page-1.png and page-2.png", err, z)
	}

	second, err := png.Decode(bytes.NewReader(made.Pictures[1]))
	if err != nil {
		t.Fatal(err)
	}

	if s := second.Bounds().Size(); s.X != 960 || s.Y != 540 {
		t.Errorf("a slide has %d × %d pixels, want 960 × 540", s.X, s.Y)
	}

	for _, want := range []struct{ x, y, r, g, b int }{{5, 300, 0xec, 0xef, 0xf4}, {950, 8, 0x5e, 0x81, 0xac}} { // --base-100, --primary
		r, g, b, _ := second.At(want.x, want.y).RGBA()
		for _, d := range []int{int(r>>8) - want.r, int(g>>8) - want.g, int(b>>8) - want.b} {
			if d < -6 || d > 6 {
				t.Errorf("at %d, %d: #%02x%02x%02x, want about #%02x%02x%02x",
					want.x, want.y, r>>8, g>>8, b>>8, want.r, want.g, want.b)
				break
			}
		}
	}
	reddish, dark := 0, 0

	for y := range second.Bounds().Dy() {
		for x := range second.Bounds().Dx() {
			if r, g, _, _ := second.At(x, y).RGBA(); r>>8 > g>>8+8 {
				reddish++

				if r>>8 < 0xe0 { // black transparency would darken the red
					dark++
				}
			}
		}
	}

	if reddish < 10_000 || dark > 0 {
		t.Errorf("the gradient has %d pixels, %d of them dark; want at least 10000, none dark", reddish, dark)
	}

	_, err = converter(t, document.Options{Printer: b}).Make(t.Context(), composed)
	if fault.CodeOf(err) != fault.InvalidOption {
		t.Errorf("without a browser for scripts: got %v, want %s", err, fault.InvalidOption)
	}
}
