// Package codestyle provides Chroma's syntax-highlighting styles as stylesheets.
package codestyle

import (
	_ "embed"
	"slices"
	"strings"
)

// codeStyles are the styles of Chroma as stylesheets, each after a comment with its name. They are generated,
// because Chroma would parse the files of all its styles when the program starts.
//
//go:embed codestyles.css
var codeStyles string

// Names returns the names of the code themes, sorted.
func Names() []string {
	var names []string

	for section := range strings.SplitSeq(codeStyles, "/* ") {
		if name, _, ok := strings.Cut(section, " */"); ok {
			names = append(names, name)
		}
	}

	return names
}

// CSS returns a code theme as a stylesheet for the classes that markdown.Parse writes. ok is false for a name that
// Names does not list.
func CSS(name string) (css string, ok bool) {
	if !slices.Contains(Names(), name) {
		return "", false
	}
	_, css, _ = strings.Cut(codeStyles, "/* "+name+" */\n")
	css, _, _ = strings.Cut(css, "/* ")

	return css, true
}
