package studio_test

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
)

// maxPicture is the largest size of a picture in the documentation, in bytes.
const maxPicture = 150_000

// TestScreenshots checks the size of the pictures in docs/images. With PRESSWORK_UPDATE=1 (`make screenshots`) it takes
// new ones.
func TestScreenshots(t *testing.T) {
	t.Parallel()

	if os.Getenv("PRESSWORK_UPDATE") == "1" {
		takeScreenshots(t)
	}

	for _, name := range []string{"studio", "studio-dark", "docs", "page", "admin"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(screenshotPath(name))
			if err != nil {
				t.Fatalf("%v (`make screenshots` takes it)", err)
			}

			if _, err := png.DecodeConfig(bytes.NewReader(data)); err != nil || len(data) > maxPicture {
				t.Errorf("%s: %d bytes, %v; want a PNG of at most %d bytes", name, len(data), err, maxPicture)
			}
		})
	}
}

// screenshotPath returns the path of a picture in docs/images.
func screenshotPath(name string) string { return "../../../docs/images/" + name + ".png" }

// takeScreenshots takes the pictures of docs/images.
func takeScreenshots(t *testing.T) {
	t.Helper()
	_, c := e2e.Serve(t, nil)

	v := browsertest.NewVisitor(t)
	for name, dark := range map[string]bool{"studio": false, "studio-dark": true} {
		p := v.Open(c.Base+"/", 1440, 900, dark)
		waitForPreview(p, "quiet craft")
		p.Until("the fonts are there", `() => [...`+page+`.fonts].some(f => f.status === "loaded")`)
		convert(p)
		p.Click("Live page")
		p.Until("nothing moves", `() => document.getAnimations().length === 0`)
		save(t, name, p.Picture())
	}
	p := v.Open(c.Base+"/docs", 1200, 800, false)
	p.See(".samples.tabbed")
	save(t, "docs", p.Picture())

	for n, title := range []string{"Annual report", "Invoice 7", "Minutes"} {
		theme := []string{"corporate", "nord", "light"}[n]
		submission := e2e.Submission{Content: "# " + title, Theme: theme, Filename: title + ".pdf"}
		c.Completed(c.Submit(submission).JobID)
	}
	p = v.Open(c.Base+"/admin", 1280, 800, false)
	p.Until("the worker is shown", `() => document.querySelector(".worker")?.innerText.includes(" old, ")`)
	save(t, "admin", p.Picture())

	dir := t.TempDir()
	for _, args := range [][]string{
		{"new", "report.md"},
		{"md2pdf", "report.md", "--toc=false", "-o", "page.png", "--page-ranges", "1", "--resolution", "80"},
	} {
		cmd := exec.Command(e2e.Binary(t), args...)

		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("presswork %v: %v\n%s", args, err, out)
		}
	}

	data, err := os.ReadFile(filepath.Join(dir, "page.png"))
	if err != nil {
		t.Fatal(err)
	}
	save(t, "page", data)
}

// save writes a picture of docs/images. It keeps only the 256 most frequent colours, which reduces the file to a third.
func save(t *testing.T, name string, data []byte) {
	t.Helper()

	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	size := full.Bounds()
	count := map[color.RGBA]int{}

	for y := range size.Dy() {
		for x := range size.Dx() {
			count[color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)]++
		}
	}
	most := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]),
			cmp.Compare(uint32(a.R)<<16|uint32(a.G)<<8|uint32(a.B), uint32(b.R)<<16|uint32(b.G)<<8|uint32(b.B)))
	})

	var palette color.Palette
	for _, c := range most[:min(len(most), 256)] {
		palette = append(palette, c)
	}

	nearest := map[color.RGBA]uint8{}
	for c := range count {
		nearest[c] = uint8(palette.Index(c))
	}

	small := image.NewPaletted(size, palette)
	for y := range size.Dy() {
		for x := range size.Dx() {
			small.SetColorIndex(x, y, nearest[color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)])
		}
	}

	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(screenshotPath(name), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
