// Package dialect names the dialects of Markdown and detects them. Its child packages rewrite the syntax of one program
// each into the Markdown that the parser reads, before or after parsing.
package dialect

import (
	"bytes"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

// A dialect is the Markdown of a program. It decides how syntax is read that could be plain text in another dialect.
// Documents without a dialect are read as GFM, with all extensions that plain text does not match by chance.
const (
	GFM      = "gfm"
	Pandoc   = "pandoc"
	Obsidian = "obsidian"
	MDX      = "mdx"
)

// Names returns the names of the dialects, the values of Options.Dialect in package markdown.
func Names() []string { return []string{GFM, Pandoc, Obsidian, MDX} }

var (
	// vaultLink matches Obsidian's embedded note ![[Note]], and a link with a text of its own, [[Note|text]].
	vaultLink = lazyregexp.New(`!\[\[[^\[\]\n]{1,300}\]\]|\[\[[^\s\[\]|][^\[\]|\n]{0,200}\|[^\[\]|\n]{1,200}\]\]`)
	// esm matches the lines of an ECMAScript module.
	esm = lazyregexp.New(
		`(?m)^(?:import\s[^\n]{0,400}["'][^"'\n]{1,200}["'];?[ \t]*$|export\s+(?:const|default|function)\s)`,
	)
	// componentTag matches a tag of a JSX component, which begins with a capital.
	componentTag = lazyregexp.New(`</?[A-Z][A-Za-z0-9.]*[\s/>]`)
	// scriptedTag matches a tag of HTML with an attribute in braces.
	scriptedTag = lazyregexp.New(`<[a-z][a-z0-9]*(?:\s[^<>]{0,400})?\s[A-Za-z-]{1,40}=\{[^\n]*>`)
)

// Detect returns the dialect of a document that does not name it: Obsidian or MDX if the document has their syntax,
// else "".
func Detect(src []byte) string {
	if bytes.Contains(src, []byte("[[")) && vaultLink().Match(src) {
		return Obsidian
	}

	modules := bytes.Contains(src, []byte("import ")) || bytes.Contains(src, []byte("export "))
	if modules && esm().Match(src) && componentTag().Match(src) {
		return MDX
	}

	if bytes.Contains(src, []byte("={")) && scriptedTag().Match(source.WithoutCode(src)) {
		return MDX
	}

	return ""
}
