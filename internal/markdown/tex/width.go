package tex

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// The width of a formula is estimated from its characters, because no browser runs while a page is composed. The
// numbers are means of STIX Two Math in em, rounded up.
const (
	letterWidth    = 0.55
	digitWidth     = 0.5
	symbolWidth    = 0.8
	relationSpace  = 0.56 // on both sides of = and + together
	scriptScale    = 0.73 // the size of a script, as a part of the size of its base
	radicalWidth   = 0.9
	fenceWidth     = 0.45 // of a bracket or a comma
	fractionMargin = 0.25 // on both sides of a fraction together
	columnGap      = 1.0
)

// pieceWidth returns the width of the widest piece of a formula that cannot break. Temml writes the pieces between
// which a line may break as mrow elements.
func pieceWidth(math *html.Node) float64 {
	pieces := math.FirstChild
	if pieces == nil {
		return 0
	}

	if pieces.NextSibling == nil && pieces.Data == "mrow" && pieces.FirstChild != nil {
		pieces = pieces.FirstChild
	}
	widest := 0.0

	for c := pieces; c != nil; c = c.NextSibling {
		if c.Data != "mrow" {
			return width(math)
		}
		widest = max(widest, width(c))
	}

	return widest
}

// width returns the width of a node in em. Scripts are smaller, and parts above each other count once.
func width(n *html.Node) float64 {
	if n.Type == html.TextNode {
		return float64(utf8.RuneCountInString(n.Data)) * letterWidth
	}
	kids := childWidths(n)

	sum, widest := 0.0, 0.0
	for _, w := range kids {
		sum, widest = sum+w, max(widest, w)
	}

	first := 0.0
	if len(kids) > 0 {
		first = kids[0]
	}

	switch n.Data {
	case "mn":
		return sum / letterWidth * digitWidth
	case "mo":
		return operatorWidth(n, sum)
	case "mspace":
		return max(0, em(attribute(n, "width")))
	case "mfrac":
		return widest + fractionMargin
	case "mover", "munder", "munderover":
		return max(first, widest*scriptScale)
	case "msub", "msup":
		return first + (sum-first)*scriptScale
	case "msubsup":
		return first + widestOf(kids[min(1, len(kids)):])*scriptScale
	case "mmultiscripts":
		return first + (sum-first)*scriptScale/2
	case "msqrt", "mroot":
		return sum + radicalWidth
	case "mtable":
		return tableWidth(n)
	}

	return sum
}

// operatorWidth returns the width of an operator with the space around it. text is the width of its characters if they
// were letters.
func operatorWidth(n *html.Node, text float64) float64 {
	if text == 0 {
		return 0
	}

	if attribute(n, "fence") != "" || attribute(n, "separator") != "" {
		return fenceWidth
	}

	w := text / letterWidth * symbolWidth
	if attribute(n, "lspace") == "" && attribute(n, "stretchy") == "" && attribute(n, "form") == "" {
		w += relationSpace
	}

	return w
}

// tableWidth returns the sum of the widths of the columns.
func tableWidth(table *html.Node) float64 {
	var columns []float64

	for row := table.FirstChild; row != nil; row = row.NextSibling {
		i := 0
		for cell := row.FirstChild; cell != nil; cell = cell.NextSibling {
			if i == len(columns) {
				columns = append(columns, 0)
			}
			columns[i] = max(columns[i], width(cell)+columnGap)
			i++
		}
	}

	sum := 0.0
	for _, w := range columns {
		sum += w
	}

	return sum
}

// childWidths returns the widths of the children of an element.
func childWidths(n *html.Node) []float64 {
	var out []float64
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		out = append(out, width(c))
	}

	return out
}

// widestOf returns the largest width, or 0.
func widestOf(widths []float64) float64 {
	w := 0.0
	for _, v := range widths {
		w = max(w, v)
	}

	return w
}

// em returns a length in em, of 11 pt. A length in other units than em and pt is 0.
func em(length string) float64 {
	if v, ok := strings.CutSuffix(length, "em"); ok {
		f, _ := strconv.ParseFloat(v, 64)
		return f
	}

	if v, ok := strings.CutSuffix(length, "pt"); ok {
		f, _ := strconv.ParseFloat(v, 64)
		return f / 11
	}

	return 0
}

// attribute returns the value of an attribute, "" without it.
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}

	return ""
}
