package pack

import (
	"bytes"
	"errors"
	"fmt"

	"presswork/internal/pdffile"
)

var errDrawnTwice = errors.New("something is drawn twice for an effect, such as a mask")

// marker encloses untagged content, such as backgrounds and page numbers, in artifact marks. PDF/UA (ISO 14289-1,
// 7.1) requires that all content of a page is tagged or an artifact.
type marker struct {
	canvas pdffile.Canvas
	// drawn counts how often each tagged form is drawn.
	drawn map[int]int
	pdffile.Rewriting
	// marks holds for each open mark whether it tags its content or makes it an artifact.
	marks []bool
	// covering is the number of true values in marks.
	covering int
	artifact bool // an artifact is open
	inText   bool // between BT and ET
	// path is the offset where the current path begins, or -1. A path must not be split by a mark.
	path int
	// marksAtStart is the number of open marks at the start of the artifact.
	marksAtStart int
}

// markArtifacts returns the content with artifact marks around everything untagged. It adds to drawn the tagged
// forms that the content draws. Errors: errDrawnTwice, because tags refer to one drawing of their content, and content
// that Chromium does not write.
func markArtifacts(c pdffile.Canvas, content []byte, drawn map[int]int) ([]byte, error) {
	m := marker{canvas: c, drawn: drawn, Rewriting: pdffile.Rewriting{In: content}, path: -1}
	m.Out.Grow(len(content) + len(content)/16)

	if err := pdffile.EachOperation(content, m.visit); err != nil {
		return nil, err
	}

	if len(m.marks) > 0 || m.inText {
		return nil, fmt.Errorf("marked content: %w: EMC or ET is missing", pdffile.ErrObject)
	}

	if m.artifact {
		m.CopyTo(len(content))
		m.Out.WriteString("EMC\n")
	}
	m.CopyTo(len(content))

	return m.Out.Bytes(), nil
}

// begin opens an artifact before the operation at offset, unless an open mark covers that operation.
func (m *marker) begin(offset int) {
	if m.covering > 0 || m.artifact {
		return
	}
	m.CopyTo(offset)
	m.Out.WriteString("/Artifact BMC\n")
	m.artifact, m.marksAtStart = true, len(m.marks)
}

// end closes the open artifact before the operation at offset.
func (m *marker) end(offset int) error {
	if !m.artifact {
		return nil
	}

	if m.inText || len(m.marks) != m.marksAtStart {
		return fmt.Errorf("a tag begins within untagged text: %w", pdffile.ErrObject)
	}
	m.CopyTo(offset)
	m.Out.WriteString("EMC\n")
	m.artifact = false

	return nil
}

// visit follows marked content. It wraps what no tag covers, so that it becomes an artifact.
func (m *marker) visit(op pdffile.Operation) error {
	switch string(op.Operator) {
	case "BDC", "BMC":
		// A span with the text of a ligature is not a tag, so it covers nothing.
		covers := len(op.Operands) > 0 &&
			(bytes.HasPrefix(op.Operands[0], []byte("/Artifact")) ||
				len(op.Operands) > 1 && bytes.Contains(op.Operands[1], []byte("/MCID ")))
		if covers {
			if m.path >= 0 {
				return fmt.Errorf("a tag begins within a path: %w", pdffile.ErrObject)
			}

			if err := m.end(op.Start); err != nil {
				return err
			}
			m.covering++
		}
		m.marks = append(m.marks, covers)
	case "EMC":
		if len(m.marks) == 0 {
			return fmt.Errorf("marked content: %w: EMC without BDC or BMC", pdffile.ErrObject)
		}

		if m.marks[len(m.marks)-1] {
			m.covering--
		}
		m.marks = m.marks[:len(m.marks)-1]
	case "m", "re":
		if m.path < 0 {
			m.path = op.Start
		}
	case "n":
		m.path = -1
	case "f", "F", "f*", "B", "B*", "b", "b*", "S", "s":
		if m.path < 0 {
			m.path = op.Start
		}
		m.begin(m.path)
		m.path = -1
	case "BT":
		m.begin(op.Start)
		m.inText = true
	case "ET":
		m.inText = false
	case "sh":
		m.begin(op.Start)
	case "Do":
		if len(op.Operands) != 1 {
			return pdffile.ErrObject
		}

		form, tagged := m.canvas.Forms[string(op.Operands[0][1:])]
		if !tagged {
			m.begin(op.Start)
			return nil
		}

		if m.drawn[form]++; m.drawn[form] > 1 {
			return errDrawnTwice
		}

		return m.end(op.Start)
	case "BI":
		return fmt.Errorf("an image within the content: %w", pdffile.ErrObject)
	}

	return nil
}
