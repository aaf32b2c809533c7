package pack

import (
	"bytes"
	"fmt"

	"presswork/internal/pdffile"
)

var shadingPattern = []byte("<</Type /Pattern\n/PatternType 2\n")

// scaleShadings writes the size of function-based gradients (ISO 32000-1, 8.7.4.5.2) into the shading. Chromium
// writes it into the matrix of the pattern around it. pdf.js, which shows PDFs in Firefox, samples a gradient in
// the units of its own matrix. It would then take three samples from edge to edge, which spread the black of
// transparent parts.
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
		// A sample that lies on a whole pixel is lost, which those of whole points do.
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
