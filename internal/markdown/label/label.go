// Package label names the kinds of numbered elements, which the keys of labels begin with.
package label

import "strings"

// Kind is a kind of numbered element.
type Kind string

// The kinds, by the beginning of their labels.
const (
	Figure   Kind = "fig"
	Table    Kind = "tbl"
	Equation Kind = "eq"
	Section  Kind = "sec"
	Listing  Kind = "lst"
)

// KindOf returns the kind of a label or of a key, "" if it has none. A label is fig:x as pandoc-crossref writes
// it, or fig-x as Quarto does.
func KindOf(label string) Kind {
	i := strings.IndexAny(label, ":-")
	if i < 2 || i == len(label)-1 {
		return ""
	}

	switch kind := Kind(strings.ToLower(label[:1]) + label[1:i]); kind {
	case Figure, Table, Equation, Section, Listing:
		return kind
	case "tab":
		return Table
	}

	return ""
}
