package reference

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/label"
)

// Keys is the set of @keys that are references in a document.
type Keys int

const (
	// None leaves @names and [@names] as they are.
	None Keys = iota
	// ToLabels reads only the keys of labels: @fig:x.
	ToLabels
	// ToWorks reads every key. A key that does not have the form of a label cites a work.
	ToWorks
)

// allows reports whether a key is that of a reference.
func (k Keys) allows(key string) bool { return k == ToWorks || label.KindOf(key) != "" }

// Extension adds references. A reference renders its source unless Resolve links it or its Citation is set. Both fields
// are required.
type Extension struct {
	// Keys returns the keys that are references in the parsed document.
	Keys func(parser.Context) Keys
	// Count is called before each reference is created, and for some texts that become none. It may panic to stop the
	// parser.
	Count func(parser.Context)
}

// Extend implements goldmark.Extender. The parser must come before goldmark's parser of links (200): those also begin
// with a bracket. It must also come before the parser of LaTeX commands in text (490).
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(util.Prioritized(referenceParser(e), 180)))
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(referenceRenderer{}, 100)))
}
