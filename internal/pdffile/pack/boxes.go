package pack

import (
	"bytes"
	"fmt"

	"presswork/internal/pdffile"
)

// Boxes describe how the pages are trimmed, in points. The zero value leaves pages as printed.
type Boxes struct {
	// Bleed is the distance by which a printed page extends beyond each trimmed edge.
	Bleed float64
	// Marks is the width that each side of the sheet gains for crop marks; 0 draws none.
	Marks float64
}

// trim sets the TrimBox and the BleedBox of each page (ISO 32000-1, 14.11.2) and draws crop marks.
func trim(f *pdffile.File, boxes Boxes) error {
	if boxes == (Boxes{}) {
		return nil
	}
	begin := f.Add(pdffile.NewStream(nil, []byte("q\n"))) // saves the graphics state; cropMarks restores it
	marks := map[string]int{}                             // streams of crop marks, by the MediaBox of their pages

	for n, o := range f.Objects {
		if !bytes.HasPrefix(o, []byte("<</Type /Page\n")) {
			continue
		}

		page, _, err := pdffile.ReadDict(o)
		if err != nil {
			return err
		}

		values, err := pdffile.ReadArray(page.Get("MediaBox"))
		if err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}

		v, err := pdffile.Numbers(values, 4)
		if err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
		box := func(by float64) string {
			return fmt.Sprintf("[%.2f %.2f %.2f %.2f]", v[0]-by, v[1]-by, v[2]+by, v[3]+by)
		}
		page.Set("TrimBox", box(-boxes.Bleed))
		page.Set("BleedBox", box(0))

		if boxes.Marks > 0 {
			page.Set("MediaBox", box(boxes.Marks))

			number, drawn := marks[box(0)]
			if !drawn {
				number = f.Add(nil)
				f.SetStream(number, nil, cropMarks(boxes, v))
				marks[box(0)] = number
			}
			page.Set("Contents", fmt.Sprintf("[%s %s %s]", pdffile.RefTo(begin), bytes.Trim(page.Get("Contents"), "[]"),
				pdffile.RefTo(number)))
		}
		f.Objects[n] = page.Bytes()
	}

	return nil
}

// cropMarks returns content that draws two lines at each corner of the trimmed page, outside the bleed. The first four
// numbers of v are the corners of the printed page, which includes the bleed.
func cropMarks(b Boxes, v [6]float64) []byte {
	const (
		mm       = 72 / 25.4 // in points
		length   = 5 * mm
		distance = 3 * mm   // least distance of the marks from the trimmed edge
		gap      = 0.5 * mm // least distance of the marks from the bleed
		weight   = 0.25     // of the lines, in points
	)
	// The marks must end on the sheet, even if that takes from their distance.
	from := min(max(distance, b.Bleed+gap), b.Bleed+b.Marks-length)
	var out bytes.Buffer
	fmt.Fprintf(&out, "Q /Artifact BMC\nq %g w 0 G\n", weight)

	for _, x := range []struct{ at, outwards float64 }{{v[0] + b.Bleed, -1}, {v[2] - b.Bleed, 1}} {
		for _, y := range []struct{ at, outwards float64 }{{v[1] + b.Bleed, -1}, {v[3] - b.Bleed, 1}} {
			fmt.Fprintf(&out, "%.2f %.2f m %.2f %.2f l S\n", x.at+x.outwards*from, y.at,
				x.at+x.outwards*(from+length), y.at)
			fmt.Fprintf(&out, "%.2f %.2f m %.2f %.2f l S\n", x.at, y.at+y.outwards*from, x.at,
				y.at+y.outwards*(from+length))
		}
	}
	out.WriteString("Q EMC\n")

	return out.Bytes()
}
