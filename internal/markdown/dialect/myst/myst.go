// Package myst reads the directives, roles and labels of MyST and Sphinx.
package myst

import (
	"strconv"
	"strings"
	"unicode"
)

// Reader reads one document: its directives first, then its roles.
type Reader struct {
	// Substitutions are the texts in place of {{ name }}.
	Substitutions map[string]string
	// Elsewhere returns the anchor of a label of the documents printed with this one, "" if
	// they do not have it. Nil: there are none.
	Elsewhere func(key string) string
	// Bibliography reports whether there are works to cite.
	Bibliography bool

	// Aliases are the ids of what links may call by another name; Roles sets them.
	Aliases map[string]string
	// Unresolved reports whether a reference leads nowhere.
	Unresolved bool

	labelled map[string]labelled // what the directives label
}

func (d *Reader) elsewhere(key string) string {
	if d.Elsewhere == nil {
		return ""
	}

	return d.Elsewhere(key)
}

// engines are the names of code that Quarto runs; no directive has them.
func engines() []string {
	return []string{"r", "python", "julia", "ojs", "sql", "bash", "stan", "dot", "mermaid"}
}

// atoi returns a number that is at least 0, 0 for what is none.
func atoi(s string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(s))
	return max(n, 0)
}

// mayPrecedeKey reports whether a reference to a key may follow a character.
func mayPrecedeKey(before rune) bool {
	return (before >= 0x2e80 || !unicode.IsLetter(before)) && !unicode.IsDigit(before) &&
		!strings.ContainsRune(`@/\_.`, before)
}
