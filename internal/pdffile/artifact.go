package pdffile

import (
	"bytes"
	"errors"
	"fmt"
)

var errDrawnTwice = errors.New("something is drawn twice for an effect, such as a mask")

// marker wraps what is painted outside every tag, such as backgrounds and page
// numbers, in artifact marks: PDF/UA wants each thing on a page to be one or
// the other.
type marker struct {
	canvas Canvas
	// drawn counts how often each tagged form is drawn.
	drawn map[int]int
	rewriting
	// marks holds for each open mark whether it covers what lies in it.
	marks []bool
	// covering counts the covering ones.
	covering           int
	artifact, inText   bool
	path, marksAtStart int
}

// markArtifacts returns the content with everything marked. It counts in drawn
// the tagged forms that it draws.
func (c Canvas) markArtifacts(content []byte, drawn map[int]int) ([]byte, error) {
	m := marker{canvas: c, drawn: drawn, rewriting: rewriting{in: content}, path: -1}
	m.out.Grow(len(content) + len(content)/16)

	if err := EachOperation(content, m.visit); err != nil {
		return nil, err
	}

	if len(m.marks) > 0 || m.inText {
		return nil, fmt.Errorf("marked content: %w", ErrObject)
	}

	if m.artifact {
		m.copyTo(len(content))
		m.out.WriteString("EMC\n")
	}
	m.copyTo(len(content))

	return m.out.Bytes(), nil
}

// begin opens an artifact before the operation at offset, unless that is
// covered already.
func (m *marker) begin(offset int) {
	if m.covering > 0 || m.artifact {
		return
	}
	m.copyTo(offset)
	m.out.WriteString("/Artifact BMC\n")
	m.artifact, m.marksAtStart = true, len(m.marks)
}

// end closes the open artifact before the operation at offset.
func (m *marker) end(offset int) error {
	if !m.artifact {
		return nil
	}

	if m.inText || len(m.marks) != m.marksAtStart {
		return fmt.Errorf("a tag begins within untagged text: %w", ErrObject)
	}
	m.copyTo(offset)
	m.out.WriteString("EMC\n")
	m.artifact = false

	return nil
}

func (m *marker) visit(op Operation) error {
	switch string(op.Operator) {
	case "BDC", "BMC":
		// A span that only gives the text of a ligature covers nothing.
		covers := len(op.Operands) > 0 &&
			(bytes.HasPrefix(op.Operands[0], []byte("/Artifact")) || len(op.Operands) > 1 && bytes.Contains(op.Operands[1], []byte("/MCID ")))
		if covers {
			if m.path >= 0 {
				return fmt.Errorf("a tag begins within a path: %w", ErrObject)
			}

			if err := m.end(op.start); err != nil {
				return err
			}
			m.covering++
		}
		m.marks = append(m.marks, covers)
	case "EMC":
		if len(m.marks) == 0 {
			return fmt.Errorf("marked content: %w", ErrObject)
		}

		if m.marks[len(m.marks)-1] {
			m.covering--
		}
		m.marks = m.marks[:len(m.marks)-1]
	case "m", "re":
		if m.path < 0 {
			m.path = op.start
		}
	case "n":
		m.path = -1
	case "f", "F", "f*", "B", "B*", "b", "b*", "S", "s":
		if m.path < 0 {
			m.path = op.start
		}
		m.begin(m.path)
		m.path = -1
	case "BT":
		m.begin(op.start)
		m.inText = true
	case "ET":
		m.inText = false
	case "sh":
		m.begin(op.start)
	case "Do":
		if len(op.Operands) != 1 {
			return ErrObject
		}

		form, tagged := m.canvas.forms[string(op.Operands[0][1:])]
		if !tagged {
			m.begin(op.start)
			return nil
		}

		if m.drawn[form]++; m.drawn[form] > 1 {
			return errDrawnTwice
		}

		return m.end(op.start)
	case "BI":
		return fmt.Errorf("an image within the content: %w", ErrObject)
	}

	return nil
}
