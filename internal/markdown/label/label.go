// Package label describes the numbered elements of documents. It has their kinds, the labels that references lead to,
// the counters for their numbers, and their words in each language. The key of a label begins with its kind.
package label

import (
	"slices"
	"strings"
)

// Kind is a kind of numbered element.
type Kind string

// The kinds, by the beginning of their labels.
const (
	Figure   Kind = "fig"
	Table    Kind = "tbl"
	Equation Kind = "eq"
	Section  Kind = "sec"
	Listing  Kind = "lst"

	Theorem     Kind = "thm"
	Lemma       Kind = "lem"
	Corollary   Kind = "cor"
	Proposition Kind = "prp"
	Conjecture  Kind = "cnj"
	Definition  Kind = "def"
	Example     Kind = "exm"
	Exercise    Kind = "exr"
)

// Theorems returns the kinds of theorems and of what is numbered like them.
func Theorems() []Kind {
	return []Kind{Theorem, Lemma, Corollary, Proposition, Conjecture, Definition, Example, Exercise}
}

// IsTheorem reports whether a kind is one of Theorems.
func (k Kind) IsTheorem() bool { return slices.Contains(Theorems(), k) }

// KindOf returns the kind of a label or of a key, "" if it has none. A label is fig:x in the syntax of
// pandoc-crossref, or fig-x in that of Quarto. Its first letter may be a capital.
func KindOf(label string) Kind {
	i := strings.IndexAny(label, ":-")
	if i < 2 || i == len(label)-1 {
		return ""
	}

	switch kind := Kind(strings.ToLower(label[:1]) + label[1:i]); {
	case slices.Contains([]Kind{Figure, Table, Equation, Section, Listing}, kind), kind.IsTheorem():
		return kind
	case kind == "tab":
		return Table
	}

	return ""
}
