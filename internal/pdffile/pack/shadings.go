package pack

import (
	"bytes"
	"fmt"

	"presswork/internal/pdffile"
)

// shadingPattern is the beginning of the pattern that Chromium writes for a gradient.
var shadingPattern = []byte("<</Type /Pattern\n/PatternType 2\n")

// scaleShadings moves the matrix of function-based gradients (ISO 32000-1, 8.7.4.5.2) from the pattern to the
// shading. pdf.js, which shows PDFs in Firefox, chooses its sample points by the matrix of the shading. Without
// one it takes three samples from edge to edge, and the black of transparent parts spreads.
func scaleShadings(f *pdffile.File) error {
	for n, o := range f.Objects {
		if !bytes.HasPrefix(o, shadingPattern) || !bytes.Contains(o, []byte("/ShadingType 1\n")) {
			continue
		}

		pattern, _, err := pdffile.ReadDict(o)
		if err != nil {
			return fmt.Errorf("pattern %d: %w", n, err)
		}

		shading, _, err := pdffile.ReadDict(pattern.Get("Shading"))
		if err != nil {
			return fmt.Errorf("pattern %d: %w", n, err)
		}

		bounds, err := pdffile.ReadArray(shading.Get("Domain"))
		if err != nil {
			return fmt.Errorf("the domain of pattern %d: %w", n, err)
		}

		domain, err := pdffile.Numbers(bounds, 4)
		if err != nil {
			return fmt.Errorf("the domain of pattern %d: %w", n, err)
		}

		matrix := pattern.Get("Matrix")
		if matrix == nil || shading.Get("Matrix") != nil {
			continue
		}
		// pdf.js drops samples on whole pixels. Two uneven fractions of the domain move the samples between pixels.
		for axis := 0; axis < 4; axis += 2 {
			size := domain[axis+1] - domain[axis]
			domain[axis] -= 0.000713 * size
			domain[axis+1] += 0.000391 * size
		}
		shading.Set("Domain", fmt.Sprintf("[%.9f %.9f %.9f %.9f]", domain[0], domain[1], domain[2], domain[3]))
		shading.Set("Matrix", string(matrix))
		pattern.Remove("Matrix")
		pattern.Set("Shading", string(shading.Bytes()))
		f.Objects[n] = pattern.Bytes()
	}

	return nil
}
