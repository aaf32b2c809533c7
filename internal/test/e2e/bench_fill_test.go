package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkPageEnds prints the documents below PRESSWORK_CORPUS, or those of this repository. It measures the white space
// below the last ink of each page, except the last page of a document.
func BenchmarkPageEnds(b *testing.B) {
	const pattern = "*.md"

	dir := os.Getenv("PRESSWORK_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "docs")
	}
	var sources []string

	for _, depth := range []string{"", "*", "*/*"} {
		found, err := filepath.Glob(filepath.Join(dir, depth, pattern))
		if err != nil {
			b.Fatal(err)
		}
		sources = append(sources, found...)
	}

	if len(sources) == 0 {
		b.Fatalf("there is no Markdown below %s", dir)
	}

	for b.Loop() {
		white, pages, over := 0.0, 0, 0

		for _, source := range sources {
			pdf := filepath.Join(b.TempDir(), "out.pdf")
			if out, err := md2pdf(b, "--remote-images=false", "-o", pdf, source).CombinedOutput(); err != nil {
				b.Fatalf("%s: %v: %s", source, err, out)
			}

			ends := whiteEnds(b, pdf)
			for _, w := range ends[:len(ends)-1] {
				pages, white = pages+1, white+w
				if w > 0.15 {
					over++
				}
			}
		}
		report(
			b,
			fmt.Sprintf("white below the last ink of a page that goes on, %d documents, %d pages", len(sources), pages),
			fmt.Sprintf("%.1f %% of the text area; %.1f %% of the pages have more than 15 %%",
				100*white/float64(pages), 100*float64(over)/float64(pages)),
			"stated",
		)
	}
}

// whiteEnds returns for each page the white space below its last ink, as a share of the height between normal margins.
func whiteEnds(b *testing.B, pdf string) (shares []float64) {
	b.Helper()
	const top, bottom = 35, 37 // dots, a little less than the margins of sheet.go

	out, err := exec.CommandContext(b.Context(), "pdftoppm", "-r", "36", pdf).Output()
	if err != nil {
		b.Fatal(err)
	}

	for r := bytes.NewReader(out); r.Len() > 0; {
		var width, height int
		if _, err := fmt.Fscanf(r, "P6\n%d %d\n255\n", &width, &height); err != nil {
			b.Fatal(err)
		}

		pixels := make([]byte, 3*width*height)
		if _, err := io.ReadFull(r, pixels); err != nil {
			b.Fatal(err)
		}
		first, end := top, height-bottom

		ground, last := pixels[:3], first
		for y := first; y < end; y++ {
			if !bytes.Equal(pixels[3*width*y:3*width*(y+1)], bytes.Repeat(ground, width)) {
				last = y
			}
		}
		shares = append(shares, float64(end-last)/float64(end-first))
	}

	return shares
}
