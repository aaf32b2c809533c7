package markdown

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/dialect"
	"presswork/internal/markdown/dialect/mdx"
	"presswork/internal/markdown/ext/abbreviation"
	"presswork/internal/markdown/ext/admonition"
	"presswork/internal/markdown/ext/attribute"
	"presswork/internal/markdown/ext/bookindex"
	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/ext/comment"
	"presswork/internal/markdown/ext/component"
	"presswork/internal/markdown/ext/critic"
	"presswork/internal/markdown/ext/drawntable"
	"presswork/internal/markdown/ext/emoji"
	"presswork/internal/markdown/ext/figure"
	"presswork/internal/markdown/ext/footnote"
	"presswork/internal/markdown/ext/inlinemark"
	"presswork/internal/markdown/ext/lineblock"
	"presswork/internal/markdown/ext/list"
	"presswork/internal/markdown/ext/math"
	"presswork/internal/markdown/ext/reference"
	"presswork/internal/markdown/ext/texcommand"
	"presswork/internal/markdown/ext/wikilink"
	"presswork/internal/markdown/tree"
)

// extensions lists the extensions that parse and render documents. To add one, add its folder to ext and its line
// to cellExtensions. cells parses the cells of drawn tables.
func extensions(cells parser.Parser) []goldmark.Extender {
	return append(cellExtensions(), footnote.Extension{}, drawntable.Extension{Cells: cells})
}

// cellExtensions lists the extensions that also work in the cells of drawn tables.
func cellExtensions() []goldmark.Extender {
	return []goldmark.Extender{
		core{},
		ownRenderers{},
		abbreviation.Extension{},
		admonition.Extension{},
		attribute.Extension{},
		bookindex.Extension{Enabled: notGFM},
		codeblock.Extension{},
		comment.Extension{Percents: isObsidian, Braces: notGFM, Modules: isMDX},
		component.Extension{HoldsMarkdown: holdsMarkdown},
		critic.Extension{Enabled: notGFM},
		emoji.Extension{},
		figure.Extension{},
		lineblock.Extension{Enabled: notGFM},
		list.Extension{Enabled: notGFM, Loose: isPandoc},
		inlinemark.Extension{},
		math.Extension{},
		reference.Extension{Keys: referenceKeysOf, Count: countReference},
		texcommand.Extension{Enabled: notGFM},
		wikilink.Extension{Enabled: notGFM},
	}
}

// The functions below tell extensions, for the document that is parsed, whether its dialect has their syntax.

func notGFM(pc parser.Context) bool { return dialectOf(pc) != dialect.GFM }

func isMDX(pc parser.Context) bool { return dialectOf(pc) == dialect.MDX }

func isObsidian(pc parser.Context) bool { return dialectOf(pc) == dialect.Obsidian }

func holdsMarkdown(pc parser.Context, tag []byte) bool { return isMDX(pc) && mdx.HoldsMarkdown(tag) }

func isPandoc(pc parser.Context) bool { return dialectOf(pc) == dialect.Pandoc }

// core registers the parsers and renderers of goldmark at goldmark's own priorities. Inline parsers and paragraph
// transformers whose work can be super-linear get their guards here. newGuarded adds the guards that all parsers need.
type core struct{}

// Extend implements goldmark.Extender. goldmark asks the parser with the lowest priority first. Extensions choose
// theirs between these.
func (core) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(extension.NewDefinitionListParser(), 101),
			util.Prioritized(extension.NewDefinitionDescriptionParser(), 102),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(codeGuard{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(inlineGuard{parser.NewLinkParser()}, 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
			util.Prioritized(inlineGuard{parser.NewEmphasisParser()}, 500),
			util.Prioritized(inlineGuard{extension.NewStrikethroughParser()}, 500),
			util.Prioritized(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(paragraphGuard{parser.LinkReferenceParagraphTransformer, definitionsCost}, 100),
			util.Prioritized(paragraphGuard{extension.NewTableParagraphTransformer(), tableCost}, 200),
		),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
	m.Renderer().AddOptions(renderer.WithNodeRenderers(
		util.Prioritized(tree.Renderer{}, 100),
		util.Prioritized(
			extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			500,
		),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
		util.Prioritized(extension.NewTaskCheckBoxHTMLRenderer(), 500),
		util.Prioritized(extension.NewDefinitionListHTMLRenderer(), 500),
		util.Prioritized(html.NewRenderer(html.WithUnsafe()), 1000),
	))
}

// ownRenderers registers the renderers of the nodes of this package.
type ownRenderers struct{}

// Extend implements goldmark.Extender.
func (ownRenderers) Extend(m goldmark.Markdown) {
	m.Renderer().AddOptions(renderer.WithNodeRenderers(
		util.Prioritized(blockRenderer{}, 100),
		util.Prioritized(imageRenderer{}, 100),
		util.Prioritized(embeddedRenderer{}, 100),
	))
}

// dialectKey is the key of the dialect in the context of a parse.
var dialectKey = parser.NewContextKey()

// dialectOf returns the dialect of the document that is parsed.
func dialectOf(pc parser.Context) string {
	d, _ := pc.Get(dialectKey).(string)
	return d
}
