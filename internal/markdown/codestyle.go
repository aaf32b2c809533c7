package markdown

import (
	_ "embed"
	"slices"
	"strings"
)

// codeStyles are Chroma's styles as stylesheets, each behind its name as a comment.
// They are not made of Chroma's own files here, because it reads all of those
// whenever the program starts.
//
//go:embed codestyles.css
var codeStyles string

// CodeStyles returns the names of the code themes, sorted.
func CodeStyles() []string {
	var names []string

	for section := range strings.SplitSeq(codeStyles, "/* ") {
		if name, _, ok := strings.Cut(section, " */"); ok {
			names = append(names, name)
		}
	}

	return names
}

// CodeCSS returns a code theme as a stylesheet for the classes that Render
// writes; ok is false for a name not in CodeStyles.
func CodeCSS(name string) (css string, ok bool) {
	if !slices.Contains(CodeStyles(), name) {
		return "", false
	}
	_, css, _ = strings.Cut(codeStyles, "/* "+name+" */\n")
	css, _, _ = strings.Cut(css, "/* ")

	return css, true
}
