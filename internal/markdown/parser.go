package markdown

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
)

// newParser returns the parser for documents, with all extensions and guards.
func newParser() parser.Parser { return newGuarded(registered(extensions(cellParser()))) }

// cellParser returns a parser for the blocks in a cell of a drawn table: without inline content, footnotes and
// drawn tables.
func cellParser() parser.Parser {
	config := registered(cellExtensions())

	return parser.NewParser(
		parser.WithBlockParsers(guardBlocks(config.BlockParsers)...),
		parser.WithParagraphTransformers(config.ParagraphTransformers...),
	)
}

// recorder is a parser that only records the options that extensions add to it. Guards can then wrap the recorded
// parsers: goldmark's own parser does not return what was added to it.
type recorder struct {
	parser.Parser // nil: nothing is parsed
	config        *parser.Config
}

// AddOptions applies options to the config.
func (r recorder) AddOptions(options ...parser.Option) {
	for _, o := range options {
		o.SetParserOption(r.config)
	}
}

// registered returns the options that extensions add to a parser.
func registered(list []goldmark.Extender) *parser.Config {
	config := parser.NewConfig()
	goldmark.New(goldmark.WithParser(recorder{config: config}), goldmark.WithExtensions(list...))

	return config
}

// newGuarded returns a parser with guards around its block parsers and delimiter parsers.
func newGuarded(config *parser.Config) parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(guardBlocks(config.BlockParsers)...),
		parser.WithInlineParsers(guardInlines(config.InlineParsers)...),
		parser.WithParagraphTransformers(config.ParagraphTransformers...),
		parser.WithASTTransformers(config.ASTTransformers...),
	)
}

// newHTMLRenderer returns a renderer that writes raw HTML as it is: the sanitiser checks all HTML afterwards.
func newHTMLRenderer() renderer.Renderer {
	r := renderer.NewRenderer()
	goldmark.New(
		goldmark.WithParser(recorder{config: parser.NewConfig()}),
		goldmark.WithRenderer(r),
		goldmark.WithExtensions(extensions(nil)...),
	)

	return r
}
