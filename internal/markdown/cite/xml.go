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
	// maxStyle bounds a style, in bytes: the largest of the public ones has 250 KB.
	maxStyle = 1 << 20
	// maxDepth and maxNodes bound its elements.
	maxDepth, maxNodes = 60, 50_000
)

// node is an element of a style or a locale.
type node struct {
	name string
	attr map[string]string
	kids []*node
	text string
}

func (n *node) has(attribute string) bool {
	_, ok := n.attr[attribute]
	return ok
}

func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}

	for _, k := range n.kids {
		if k.name == name {
			return k
		}
	}

	return nil
}

// parseXML reads a style or a locale. Entities are those of XML alone.
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
				parent.kids = append(parent.kids, n)
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
					continue // no text of this length is written
				}

				if text := string(t); strings.TrimSpace(text) != "" || n.text != "" {
					n.text += text
				} else if len(text) < 3 && !strings.Contains(text, "\n") {
					n.text += text // a term that is a space
				}
			}
		}
	}
}

// Style is a CSL style.
type Style struct {
	// Title is its name.
	Title string
	// Note is set when citations are notes.
	Note bool

	root, citation, bibliography *node
	macros                       map[string]*node
	locales                      []*node
	lang                         string
	yearSuffixed                 bool // it says where the suffix of a year stands
}

// ParseStyle reads a style. The error is for its author.
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
	for _, n := range root.kids {
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

			for _, link := range n.kids {
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

// uses reports whether a text element writes a variable.
func uses(n *node, variable string) bool {
	if n.name == "text" && n.attr["variable"] == variable {
		return true
	}

	for _, k := range n.kids {
		if uses(k, variable) {
			return true
		}
	}

	return false
}
