// Package myst rewrites the directives, roles and labels of MyST into the Markdown that the parser reads. MyST is the
// Markdown of Sphinx, Jupyter Book and mystmd: https://mystmd.org/spec
//
// Reader.Directives rewrites line by line: writers (forms.go) has a function for each directive, which writes the
// Markdown. Reader.Roles then moves labels into braces and replaces roles, which may refer to labels of directives.
// ReadInclude is for package include, which reads files before that.
package myst

import (
	"strconv"
	"strings"
	"unicode"
)

// Reader rewrites one document. Call Directives first, then Roles.
type Reader struct {
	// Substitutions are the texts that replace {{ name }}, by their names.
	Substitutions map[string]string
	// Elsewhere returns the anchor of a label in the documents printed with this one, "" for an
	// unknown label. It may be nil.
	Elsewhere func(key string) string
	// Bibliography reports whether the document has works to cite.
	Bibliography bool

	// Aliases maps the names that links may use for an element to its id. Roles sets it.
	Aliases map[string]string
	// Unresolved reports whether a reference names an unknown label. Roles sets it.
	Unresolved bool

	// labelled has the elements with labels, by the labels. It is nil unless Directives found MyST in the document.
	labelled map[string]labelled
}

// elsewhere calls Elsewhere unless it is nil.
func (d *Reader) elsewhere(key string) string {
	if d.Elsewhere == nil {
		return ""
	}

	return d.Elsewhere(key)
}

// engines lists the languages of code that Quarto runs. ```{python} is code, not a directive.
func engines() []string {
	return []string{"r", "python", "julia", "ojs", "sql", "bash", "stan", "dot", "mermaid"}
}

// atoi returns a number. It returns 0 for a negative number and for other text.
func atoi(s string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(s))
	return max(n, 0)
}

// mayPrecedeKey reports whether the parser reads @key after this character as a reference. Package ext/reference has
// the same rule.
func mayPrecedeKey(before rune) bool {
	return (before >= 0x2e80 || !unicode.IsLetter(before)) && !unicode.IsDigit(before) &&
		!strings.ContainsRune(`@/\_.`, before)
}
