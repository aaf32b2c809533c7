package cite

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// maxStyle is the largest style, in bytes. The largest public one has 250 KB.
	maxStyle = 1 << 20
	// maxDepth is the number of levels that the elements of a style may nest, maxNodes their largest number.
	maxDepth, maxNodes = 60, 50_000
)

// node is an XML element of a style or a locale. text is the character data in it.
type node struct {
	name     string
	attr     map[string]string
	children []*node
	text     string
}

// has reports whether an element has an attribute, which may be empty.
func (n *node) has(attribute string) bool {
	_, ok := n.attr[attribute]
	return ok
}

// child returns the first child element of a name, nil for none.
func (n *node) child(name string) *node {
	if i := n.index(name); i >= 0 {
		return n.children[i]
	}

	return nil
}

// index returns the index of the first child element of a name, -1 for none.
func (n *node) index(name string) int {
	if n != nil {
		for i, k := range n.children {
			if k.name == name {
				return i
			}
		}
	}

	return -1
}

// parseXML parses a style or a locale. It knows only the five entities of XML, so that no entity can expand to much
// text. Its errors are for the author of the style.
func parseXML(src []byte) (*node, error) {
	if len(src) > maxStyle {
		return nil, fmt.Errorf("it has %d KB; at most %d are allowed", len(src)>>10, maxStyle>>10)
	}
	d := xml.NewDecoder(bytes.NewReader(src))
	d.Strict = true
	var root *node
	var open []*node
	count := 0

	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && root != nil && len(open) == 0:
			return root, nil
		case err != nil:
			return nil, fmt.Errorf("it is not XML: %w", err)
		}

		switch t := token.(type) {
		case xml.StartElement:
			n := &node{name: t.Name.Local, attr: make(map[string]string, len(t.Attr))}
			for _, a := range t.Attr {
				n.attr[a.Name.Local] = a.Value
			}

			if count++; count > maxNodes || len(open) >= maxDepth {
				return nil, fmt.Errorf(
					"it has more than %d elements or they nest deeper than %d levels",
					maxNodes,
					maxDepth,
				)
			}

			switch {
			case len(open) > 0:
				parent := open[len(open)-1]
				parent.children = append(parent.children, n)
			case root == nil:
				root = n
			}
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				n := open[len(open)-1]
				if len(n.text) > maxAttribute {
					continue // no term of a locale is that long
				}

				if text := string(t); strings.TrimSpace(text) != "" || n.text != "" {
					n.text += text
				} else if len(text) < 3 && !strings.Contains(text, "\n") {
					n.text += text // a term may be a space
				}
			}
		}
	}
}

// Style is an independent CSL style. It is safe for concurrent use.
type Style struct {
	// Title is the name in its info element.
	Title string
	// Note reports whether its citations are footnotes or endnotes.
	Note bool

	root, citation, bibliography *node            // bibliography is nil if the style has none
	macros                       map[string]*node // by name
	locales                      []*node          // the locale elements of the style
	lang                         string           // the default-locale
	// yearSuffixed reports whether the style renders the variable year-suffix. Otherwise the suffix
	// follows the year of the first date.
	yearSuffixed bool
}

// ParseStyle parses a style. It returns an error if the style is not XML, exceeds a limit, has no layout, or only names
// another style. The text of the error is for the author of the style.
func ParseStyle(src []byte) (*Style, error) {
	root, err := parseXML(src)
	if err != nil {
		return nil, err
	}

	if root.name != "style" {
		return nil, fmt.Errorf("its root element is %q, not style", root.name)
	}

	if err := checkBudget(root); err != nil {
		return nil, err
	}

	s := &Style{
		root:   root,
		macros: map[string]*node{},
		lang:   root.attr["default-locale"],
		Note:   root.attr["class"] == "note",
	}
	for _, n := range root.children {
		switch n.name {
		case "macro":
			s.macros[n.attr["name"]] = n
		case "locale":
			s.locales = append(s.locales, n)
		case "citation":
			s.citation = n
		case "bibliography":
			s.bibliography = n
		case "info":
			if title := n.child("title"); title != nil {
				s.Title = strings.TrimSpace(title.text)
			}

			for _, link := range n.children {
				// "Dependent Styles" have no layout of their own.
				if link.name == "link" && link.attr["rel"] == "independent-parent" {
					return nil, fmt.Errorf("it only names another style, %s; give that one", link.attr["href"])
				}
			}
		}
	}

	if s.citation.child("layout") == nil {
		return nil, errors.New("it has no layout of citations")
	}

	if s.bibliography != nil && s.bibliography.child("layout") == nil {
		return nil, errors.New("its bibliography has no layout")
	}
	s.yearSuffixed = uses(root, "year-suffix")

	return s, nil
}

// uses reports whether a text element in n renders a variable.
func uses(n *node, variable string) bool {
	if n.name == "text" && n.attr["variable"] == variable {
		return true
	}

	for _, k := range n.children {
		if uses(k, variable) {
			return true
		}
	}

	return false
}
