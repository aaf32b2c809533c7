package tex

import (
	"errors"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"presswork/internal/lazyregexp"
)

// elements are the MathML elements that Temml writes, and the span with the number of an equation. No element may load
// a resource, run a script or link.
var elements = set(
	"math mrow mi mn mo mtext mspace mfrac msqrt mroot mstyle mpadded mphantom menclose msub msup msubsup " +
		"munder mover munderover mmultiscripts mprescripts none mtable mtr mtd span",
)

// attributes are the attributes that these elements may have, in addition to class and style.
var attributes = set(
	"accent accentunder columnalign depth display displaystyle fence form height largeop linethickness lspace " +
		"mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits rowspacing rspace scriptlevel " +
		"separator stretchy symmetric voffset width",
)

// properties are the CSS properties that a style attribute may set.
var properties = set(
	"border border-top border-right border-bottom border-left bottom color background-color display font-family " +
		"font-style font-weight height justify-content left margin-left math-depth math-style padding padding-bottom " +
		"padding-left padding-right padding-top position right text-align transform white-space width",
)

var (
	// hugeNumber matches sizes that draw outside of the formula. Temml bounds large sizes, but not negative ones.
	hugeNumber = lazyregexp.New(`(?:^|[^#\w.])-?\d{4}|-\d{3}`)
	// plainValue matches the values of attributes, classValue those of class.
	plainValue = lazyregexp.New(`^[\w\s#%.,+-]{1,60}$`)
	classValue = lazyregexp.New(`^[\w\s-]{1,100}$`)
	// styleValue matches the values of properties. They may call functions for sizes, colours and transforms only.
	styleValue = lazyregexp.New(
		`^(?:[\w\s#%.,+'-]|(?:calc|rgba?|hsla?|translate|translateX|translateY|scale|rotate)\([\w\s#%.,+-]*\)){1,120}$`,
	)
)

// set returns the set of the words in a list.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}

	return m
}

// clean returns the markup of a formula, reduced to what the lists allow, with the source as alttext. Its errors are
// for the author.
func clean(markup, src string) (Formula, error) {
	body := &html.Node{Type: html.ElementNode, DataAtom: atom.Body, Data: "body"}

	nodes, err := html.ParseFragmentWithOptions(strings.NewReader(markup), body, html.ParseOptionEnableScripting(false))
	if err != nil || len(nodes) != 1 || nodes[0].Data != "math" {
		return Formula{}, errors.New("it has commands that need a whole LaTeX document")
	}
	root := nodes[0]
	prune(root)
	root.Attr = append(root.Attr, html.Attribute{Key: "alttext", Val: strings.Join(strings.Fields(src), " ")})

	var out strings.Builder
	if err := html.Render(&out, root); err != nil {
		return Formula{}, errors.New("the formula could not be rendered")
	}

	return Formula{MathML: out.String(), Width: pieceWidth(root)}, nil
}

// prune removes elements and attributes that are not on the lists. It removes an element together with its content,
// because Temml writes no such elements.
func prune(n *html.Node) {
	n.Attr = keepAttributes(n)
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.ElementNode && elements[c.Data]:
			prune(c)
		case c.Type != html.TextNode:
			n.RemoveChild(c)
		}
		c = next
	}
}

// keepAttributes returns the attributes of an element that are on the lists.
func keepAttributes(n *html.Node) []html.Attribute {
	var kept []html.Attribute

	for _, a := range n.Attr {
		switch {
		case a.Namespace != "":
			continue
		case a.Key == "class":
			if !classValue().MatchString(a.Val) {
				continue
			}
		case a.Key == "style":
			// The math element keeps no style of its own: the style sheet of the page lays it out.
			if a.Val = filterStyle(a.Val); a.Val == "" || n.Data == "math" {
				continue
			}
		case !attributes[a.Key] || !plainValue().MatchString(a.Val) || hugeNumber().MatchString(a.Val):
			continue
		}
		kept = append(kept, a)
	}

	return kept
}

// filterStyle returns the declarations of a style that are on the lists.
func filterStyle(style string) string {
	var kept []string

	for declaration := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(declaration, ":")

		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if properties[name] && styleValue().MatchString(value) && !hugeNumber().MatchString(value) {
			kept = append(kept, name+":"+value)
		}
	}

	return strings.Join(kept, ";")
}
