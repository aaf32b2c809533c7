// Package codestyle provides Chroma's syntax-highlighting styles as stylesheets.
package codestyle

import (
	_ "embed"
	"slices"
	"strings"
)

// codeStyles are the styles of Chroma as stylesheets, each after a comment with its name, sorted. The file is
// generated, so that the program does not use Chroma's package of styles: that parses all its files at the start.
//
//go:embed codestyles.css
var codeStyles string

// Names returns the names of the styles, sorted.
func Names() []string {
	var names []string

	for section := range strings.SplitSeq(codeStyles, "/* ") {
		if name, _, ok := strings.Cut(section, " */"); ok {
			names = append(names, name)
		}
	}

	return names
}

// CSS returns a style as a stylesheet for the classes that markdown.Renderer writes. ok is false for a name that Names
// does not list.
func CSS(name string) (css string, ok bool) {
	if !slices.Contains(Names(), name) {
		return "", false
	}
	_, css, _ = strings.Cut(codeStyles, "/* "+name+" */\n")
	css, _, _ = strings.Cut(css, "/* ")

	return css, true
}
