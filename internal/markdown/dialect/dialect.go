// Package dialect names the dialects of Markdown and detects them. A package below rewrites each one.
package dialect

import (
	"bytes"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

// The dialects are the programs for which a document may be written. A dialect decides how syntax is read that
// could be plain text elsewhere. Without a dialect, GFM is read with all extensions that plain documents do not
// use by chance. A document that looks like Obsidian's or MDX is read as such.
const (
	GFM      = "gfm"
	Pandoc   = "pandoc"
	Obsidian = "obsidian"
	MDX      = "mdx"
)

// Names returns the names of the dialects.
func Names() []string { return []string{GFM, Pandoc, Obsidian, MDX} }

var (
	// vaultLink matches an embedded note or a link with a text of its own.
	vaultLink = lazyregexp.New(`!\[\[[^\[\]\n]{1,300}\]\]|\[\[[^\s\[\]|][^\[\]|\n]{0,200}\|[^\[\]|\n]{1,200}\]\]`)
	// esm matches the lines of an ECMAScript module.
	esm = lazyregexp.New(
		`(?m)^(?:import\s[^\n]{0,400}["'][^"'\n]{1,200}["'];?[ \t]*$|export\s+(?:const|default|function)\s)`,
	)
	componentTag = lazyregexp.New(`</?[A-Z][A-Za-z0-9.]*[\s/>]`)
	// scriptedTag matches a tag of HTML with an attribute in braces.
	scriptedTag = lazyregexp.New(`<[a-z][a-z0-9]*(?:\s[^<>]{0,400})?\s[A-Za-z-]{1,40}=\{[^\n]*>`)
)

// Detect returns the dialect of a document that does not name it, "" if nothing shows it.
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
