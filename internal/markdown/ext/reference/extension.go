package reference

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/label"
)

// Keys says which @keys of a document are references.
type Keys int

const (
	// None leaves @names and [@names] as they are.
	None Keys = iota
	// ToLabels reads the keys of labels: @fig:x.
	ToLabels
	// ToWorks reads every key: those that are not of labels cite a work.
	ToWorks
)

// allows reports whether a key may be that of a reference.
func (k Keys) allows(key string) bool { return k == ToWorks || label.KindOf(key) != "" }

// Extension adds references. A reference renders its source until Resolve, or the citation that
// replaces it, sets more.
type Extension struct {
	// Keys returns the keys of the document.
	Keys func(parser.Context) Keys
	// Count is called before each reference is created. It may stop the parser by a panic.
	Count func(parser.Context)
}

// Extend implements goldmark.Extender.
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(util.Prioritized(referenceParser(e), 180)))
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(referenceRenderer{}, 100)))
}
