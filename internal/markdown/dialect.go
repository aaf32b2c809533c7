package markdown

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/parser"

	"presswork/internal/lazyregexp"
)

// The dialects are the programs that a document may be written for, where it
// matters: what could be plain text in any other document is read as that program
// reads it. Without one a document is read as GFM with every extension that
// plain documents cannot mean otherwise, and taken for Obsidian's or MDX by what
// it holds.
const (
	GFM      = "gfm"
	Pandoc   = "pandoc"
	Obsidian = "obsidian"
	MDX      = "mdx"
)

// Dialects lists the dialects.
func Dialects() []string { return []string{GFM, Pandoc, Obsidian, MDX} }

var (
	vaultLink = lazyregexp.New(`!\[\[[^\[\]\n]{1,300}\]\]|\[\[[^\s\[\]|][^\[\]|\n]{0,200}\|[^\[\]|\n]{1,200}\]\]`)
	esm       = lazyregexp.New(
		`(?m)^(?:import\s[^\n]{0,400}["'][^"'\n]{1,200}["'];?[ \t]*$|export\s+(?:const|default|function)\s)`,
	)
	componentTag = regexp.MustCompile(`</?[A-Z][A-Za-z0-9.]*[\s/>]`)
)

// detect returns the dialect of a document that does not name it, by what no plain
// document holds.
func detect(src []byte) string {
	switch {
	case bytes.Contains(src, []byte("[[")) && vaultLink().Match(src):
		return Obsidian
	case (bytes.Contains(src, []byte("import ")) || bytes.Contains(src, []byte("export "))) && esm().Match(src) && componentTag.Match(src):
		return MDX
	}

	return ""
}

// dialectKey is where a parse keeps its dialect.
var dialectKey = parser.NewContextKey()

func dialectOf(pc parser.Context) string {
	d, _ := pc.Get(dialectKey).(string)
	return d
}
