package formula

import (
	"html"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/ext/math"
	"presswork/internal/markdown/ext/reference"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/tree"
)

// RowLabel is a \label of a formula.
type RowLabel struct {
	// Key is what \ref and \eqref name.
	Key string
	// Row is the index of its row among the numbered rows of the formula, -1 if the row has no number of its own.
	Row int
	// Tag is the author's own number of the row, "" without one.
	Tag string
	// To is what references lead to. Render sets its number.
	To *label.Label
}

var (
	labelCommand = lazyregexp.New(`\\label\s*\{([^{}]{1,200})\}[ \t]*`)
	// rowPart matches what decides the numbers of rows. These are the ends of environments and of rows, tags and
	// labels.
	rowPart = lazyregexp.New(
		`\\(?:(begin|end)\s*\{([A-Za-z]+\*?)\}|(\\)|tag\*?\s*\{([^{}]*)\}|(notag|nonumber)\b|label\s*\{([^{}]{1,200})\}|.)`,
	)
	referenceCommand = lazyregexp.New(`\\(eqref|ref)\s*\{([^{}]{1,200})\}`)
)

// numbersRows reports whether LaTeX numbers each row of an environment.
func numbersRows(environment string) bool {
	return environment == "align" || environment == "alignat" || environment == "gather"
}

// numbersOnce reports whether LaTeX gives an environment one number.
func numbersOnce(environment string) bool {
	return environment == "equation" || environment == "multline"
}

// TakeLabels removes the \label commands from a formula and returns them. Their To is not set.
func TakeLabels(src string) (rest string, labels []RowLabel) {
	if !strings.Contains(src, `\label`) {
		return src, nil
	}
	outer, depth, row := "", 0, 0
	tag, silent, first := "", false, 0 // of the current row; first is its first label

	endRow := func() {
		for i := first; i < len(labels); i++ {
			labels[i].Tag = tag
			if tag != "" || silent || !numbersRows(outer) && !numbersOnce(outer) {
				labels[i].Row = -1
			}
		}

		if tag == "" && !silent {
			row++
		}
		tag, silent, first = "", false, len(labels)
	}

	for _, m := range rowPart().FindAllStringSubmatch(src, -1) {
		switch {
		case m[1] == "begin":
			if depth++; depth == 1 {
				outer = m[2]
			}
		case m[1] == "end":
			depth--
		case m[3] != "" && depth == 1 && numbersRows(outer):
			endRow()
		case strings.HasPrefix(m[0], `\tag`):
			tag = m[4]
		case m[5] != "":
			silent = true
		case m[6] != "":
			labels = append(labels, RowLabel{Key: m[6], Row: row})
		}
	}
	endRow()

	return labelCommand().ReplaceAllString(src, ""), labels
}

// PlaceReferences turns formulas that are only \eqref{…} or \ref{…} into references.
func PlaceReferences(root ast.Node) {
	var found []*math.Formula
	tree.Each(root, func(n ast.Node) {
		if f, ok := n.(*math.Formula); ok && !f.Display {
			found = append(found, f)
		}
	})

	for _, f := range found {
		if n := reference.OfLaTeX(f.Source); n != nil {
			n.Offset = f.Offset
			tree.Replace(f, n)
		}
	}
}

// The number of a referenced equation may come after the formula that refers to it. Its place is between these two
// rare characters, which Temml accepts, until all formulas are rendered.
const placeStart, placeEnd = "\u303e", "\u303f"

// place matches the mark that stands for a reference while a formula is rendered.
var place = lazyregexp.New(placeStart + `([0-9]{1,4})` + placeEnd)

// maxReferences limits the references in the formulas of a document.
const maxReferences = 1000

// refer replaces the references of a formula by places for their numbers. LaTeX prints ?? for a missing label.
func (r *run) refer(src string, offset int) string {
	if !strings.Contains(src, `ref`) {
		return src
	}

	return referenceCommand().ReplaceAllStringFunc(src, func(command string) string {
		m := referenceCommand().FindStringSubmatch(command)
		number := "??"

		if to := r.Targets.Find(m[2]); to != nil && len(r.referred) < maxReferences {
			number = placeStart + strconv.Itoa(len(r.referred)) + placeEnd
			r.referred = append(r.referred, to)
		} else {
			r.Warnings = append(r.Warnings, fault.Warning{
				Code:    fault.LinkBroken,
				Line:    r.Lines.At(offset),
				Message: `formula refers to "` + input.Short(m[2]) + `", but no equation has that label`,
			})
		}

		if m[1] == "eqref" {
			number = "(" + number + ")"
		}

		return `\text{` + number + `}`
	})
}

// writeReferences writes the numbers into the places that refer has left.
func (r *run) writeReferences(markup string) string {
	return place().ReplaceAllStringFunc(markup, func(found string) string {
		i, _ := strconv.Atoi(place().FindStringSubmatch(found)[1])
		if i >= len(r.referred) || r.referred[i].Number == "" {
			return "??"
		}

		return html.EscapeString(r.referred[i].Number)
	})
}
