package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"presswork/internal/test/printed"
)

// BenchmarkPageEnds prints the documents below PRESSWORK_CORPUS, or those of this repository. It measures the white space
// below the last ink of each page, except the last page of a document.
func BenchmarkPageEnds(b *testing.B) {
	dir := os.Getenv("PRESSWORK_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "docs")
	}
	var sources []string

	for _, depth := range []string{"", "*", "*/*"} {
		found, err := filepath.Glob(filepath.Join(dir, depth, "*.md"))
		if err != nil {
			b.Fatal(err)
		}
		sources = append(sources, found...)
	}

	if len(sources) == 0 {
		b.Fatalf("found no Markdown below %s, want at least one file", dir)
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
	const (
		resolution  = 36     // dots per inch
		top, bottom = 35, 37 // dots, a little less than the margins of sheet.go
	)

	pages, err := printed.InkedRows(b.Context(), pdf, resolution)
	if err != nil {
		b.Fatal(err)
	}

	for _, inked := range pages {
		area := inked[top : len(inked)-bottom]

		last := 0

		for y := range area {
			if area[y] {
				last = y
			}
		}
		shares = append(shares, float64(len(area)-last)/float64(len(area)))
	}

	return shares
}
