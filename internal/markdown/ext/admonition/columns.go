package admonition

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/tree"
)

// maxShare is the width of all columns together, and the largest share of one column, in percent.
const maxShare = 100

// shareColumns gives the columns of a "::: columns" block the shares in their width attributes. Columns without one
// share the rest, but at least a tenth of the width.
func shareColumns(columns *tree.Division) {
	var open []ast.Node // the columns without a share
	left := float64(maxShare)

	for c := columns.FirstChild(); c != nil; c = c.NextSibling() {
		if _, ok := c.(*tree.Division); !ok || !tree.HasClass(c, "column") {
			continue
		}

		if share, ok := columnShare(c); ok {
			setShare(c, share)
			left -= share
		} else {
			open = append(open, c)
		}
	}

	for _, c := range open {
		// The text must have some width, even if the other columns take all.
		setShare(c, max(left, maxShare/10)/float64(len(open)))
	}
}

// columnShare returns the share in the width attribute of a column. ok is false if there is none.
func columnShare(c ast.Node) (percent float64, ok bool) {
	text, ok := strings.CutSuffix(tree.AttributeText(c, "width"), "%")
	percent, err := strconv.ParseFloat(text, 64)

	return min(percent, maxShare), ok && err == nil && percent > 0
}

// setShare sets the share of a column of a flex container.
func setShare(c ast.Node, percent float64) {
	c.SetAttributeString("style", []byte("flex-grow: "+strconv.FormatFloat(percent, 'f', 2, 64)))
}
