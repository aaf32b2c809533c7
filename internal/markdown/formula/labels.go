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
	// Key is the name of the label in \ref and \eqref.
	Key string
	// Row is the index of its row among the numbered rows of the formula, -1 if the row has no number of its own.
	Row int
	// Tag is the author's own number of the row, "" without one.
	Tag string
	// To is the target of references. Render sets its number.
	To *label.Label
}

var (
	// labelCommand matches a \label and the blanks after it.
	labelCommand = lazyregexp.New(`\\label\s*\{([^{}]{1,200})\}[ \t]*`)
	// rowPart matches the commands that decide the numbers of rows: the start and end of an environment, the end of a
	// row, tags and labels. Its last alternative skips other commands.
	rowPart = lazyregexp.New(
		`\\(?:(begin|end)\s*\{([A-Za-z]+\*?)\}|(\\)|tag\*?\s*\{([^{}]*)\}|(notag|nonumber)\b|label\s*\{([^{}]{1,200})\}|.)`,
	)
	// referenceCommand matches a reference. Its groups are the command and the key.
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

// TakeLabels removes the \label commands from a formula and returns them. Their To is not set. A row without a number
// of its own, by \notag or outside of environments that number rows, has the index -1.
func TakeLabels(src string) (rest string, labels []RowLabel) {
	if !strings.Contains(src, `\label`) {
		return src, nil
	}
	outer, depth, row := "", 0, 0          // the outermost environment, the open environments, the numbered rows so far
	tag, unnumbered, first := "", false, 0 // of the current row; first is the index of its first label

	endRow := func() {
		for i := first; i < len(labels); i++ {
			labels[i].Tag = tag
			if tag != "" || unnumbered || !numbersRows(outer) && !numbersOnce(outer) {
				labels[i].Row = -1
			}
		}

		if tag == "" && !unnumbered {
			row++
		}
		tag, unnumbered, first = "", false, len(labels)
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
			unnumbered = true
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

// A formula may refer to a later equation, whose number is not known yet. Until all formulas are rendered, the index of
// the referenced element is in its place, between these two rare characters. Temml accepts them.
const placeStart, placeEnd = "\u303e", "\u303f"

// place matches the place of a reference. Its group is an index of run.referred.
var place = lazyregexp.New(placeStart + `([0-9]{1,4})` + placeEnd)

// maxReferences bounds the references in the formulas of a document. Indexes have at most four digits.
const maxReferences = 1000

// refer replaces the references of a formula by places for their numbers. Like LaTeX, it prints ?? for a missing label,
// and warns of it.
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

// writeReferences writes the numbers into the places that refer has written.
func (r *run) writeReferences(markup string) string {
	return place().ReplaceAllStringFunc(markup, func(found string) string {
		i, _ := strconv.Atoi(place().FindStringSubmatch(found)[1])
		if i >= len(r.referred) || r.referred[i].Number == "" {
			return "??"
		}

		return html.EscapeString(r.referred[i].Number)
	})
}
