package markdown

import (
	"bytes"

	"presswork/internal/markdown/dialect/myst"
	"presswork/internal/markdown/dialect/quarto"
	"presswork/internal/markdown/label"
)

// Kind is a kind of numbered element.
type Kind = label.Kind

// The kinds of numbered elements. A label begins with its kind.
const (
	Figure   = label.Figure
	Table    = label.Table
	Equation = label.Equation
	Section  = label.Section
	Listing  = label.Listing
)

// ByChapter is the value of Options.Numbering for numbers such as 2.1, which start again in each chapter.
const ByChapter = "chapter"

// Label is a labelled element that other documents can refer to.
type Label = label.Label

// Caption is a numbered element in the list of its kind.
type Caption struct {
	Kind Kind
	// Number is "3" or "2.1".
	Number string
	// Text is the caption without label and number.
	Text string
	// ID is the anchor.
	ID string
}

// HasLabels reports whether a source may have labels such as #fig:x. True for a source without labels only costs the
// time to search for them.
func HasLabels(src []byte) bool {
	if myst.MayHoldLabels(src) || quarto.MayHoldLabels(src) || bytes.Contains(src, []byte(bookdownReference)) ||
		bytes.Contains(src, []byte(`\label{`)) {
		return true
	}

	for {
		i := bytes.IndexByte(src, '#')
		if i < 0 {
			return false
		}

		src = src[i+1:]
		// The longest kind has three letters. A sign and one more character follow.
		if label.KindOf(string(src[:min(len(src), 5)])) != "" {
			return true
		}
	}
}
