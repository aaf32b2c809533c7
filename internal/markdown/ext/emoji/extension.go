package emoji

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// Extension replaces shortcodes in text by emoji.
type Extension struct{}

// Extend implements goldmark.Extender.
func (Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(util.Prioritized(emojiParser{}, 460)))
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(emojiRenderer{}, 100)))
}
