// Package printed examines the pages of PDF files.
package printed

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"io"
	"os/exec"
	"strconv"
)

// InkedRows draws each page of a PDF file with poppler, at resolution pixels per inch. It reports for each row of
// pixels whether it differs from the background of the page.
func InkedRows(ctx context.Context, path string, resolution int) ([][]bool, error) {
	out, err := exec.CommandContext(ctx, "pdftoppm", "-r", strconv.Itoa(resolution), path).Output()
	if err != nil {
		return nil, fmt.Errorf("pdftoppm %s: %w", path, err)
	}
	var pages [][]bool

	for r := bytes.NewReader(out); r.Len() > 0; {
		var size image.Point
		if _, err := fmt.Fscanf(r, "P6\n%d %d\n255\n", &size.X, &size.Y); err != nil {
			return nil, fmt.Errorf("pdftoppm %s, page %d: %w", path, len(pages)+1, err)
		}

		pixels := make([]byte, 3*size.X*size.Y)
		if _, err := io.ReadFull(r, pixels); err != nil {
			return nil, fmt.Errorf("pdftoppm %s, page %d: %w", path, len(pages)+1, err)
		}
		pages = append(pages, inkedRows(pixels, size))
	}

	return pages, nil
}

// inkedRows reports for each row of one page whether it differs from the background. The first pixel, three bytes, has
// the colour of the background.
func inkedRows(pixels []byte, size image.Point) []bool {
	rows, ground := make([]bool, size.Y), pixels[:3]
	for y := range rows {
		for row := pixels[3*size.X*y : 3*size.X*(y+1)]; len(row) > 0 && !rows[y]; row = row[3:] {
			const visible = 3 // of 255

			for c := range ground {
				d := int(row[c]) - int(ground[c])
				rows[y] = rows[y] || max(d, -d) > visible
			}
		}
	}

	return rows
}
