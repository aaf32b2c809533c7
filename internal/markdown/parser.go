package markdown

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/admonition"
	"presswork/internal/markdown/tree"
)

// newParser lists goldmark's parsers one by one, at its own priorities,
// because each that can be driven to super-linear work wears a guard.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(blockParsers()...),
		parser.WithInlineParsers(inlineParsers()...),
		parser.WithParagraphTransformers(paragraphTransformers()...),
		parser.WithASTTransformers(astTransformers()...),
	)
}

// cellParser parses the blocks of a cell of a drawn table: no text, no footnotes and
// no other drawn table.
func cellParser() parser.Parser {
	blocks := slices.DeleteFunc(commonBlockParsers(), func(v util.PrioritizedValue) bool {
		_, note := v.Value.(noteParser)
		return note
	})

	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithParagraphTransformers(paragraphTransformers()...),
	)
}

func blockParsers() []util.PrioritizedValue {
	drawn := drawnTableParser{cellParser()}

	return append(
		commonBlockParsers(),
		util.Prioritized(drawn, 90),
		util.Prioritized(ruledTableParser{drawn, "-+*#>`~_|<:[=$&!%@0123456789"}, 91),
		util.Prioritized(ruledTableParser{drawn, ""}, 91),
	)
}

func commonBlockParsers() []util.PrioritizedValue {
	container := func(p parser.BlockParser) parser.BlockParser { return containerGuard{p} }
	kinds := admonition.Kinds()

	return []util.PrioritizedValue{
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(extension.NewDefinitionListParser(), 101),
		util.Prioritized(container(extension.NewDefinitionDescriptionParser()), 102),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(container(fancyListParser{parser.NewListParser()}), 300),
		util.Prioritized(container(fancyItemParser{parser.NewListItemParser()}), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(commentBlockParser{}, 680),
		util.Prioritized(esmParser{}, 680),
		util.Prioritized(formulaBlockParser{}, 690),
		util.Prioritized(latexBlockParser{}, 690),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(container(parser.NewBlockquoteParser()), 800),
		util.Prioritized(container(admonitionParser{kinds}), 810),
		util.Prioritized(container(fenceParser{kinds}), 820),
		util.Prioritized(componentParser{parser.NewHTMLBlockParser()}, 900),
		util.Prioritized(noteParser{containerGuard{extension.NewFootnoteBlockParser()}}, 999),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
}

func inlineParsers() []util.PrioritizedValue {
	inline := func(p parser.InlineParser) parser.InlineParser { return inlineGuard{p} }

	return []util.PrioritizedValue{
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(codeGuard{parser.NewCodeSpanParser()}, 100),
		util.Prioritized(formulaParser{}, 100),
		util.Prioritized(bracketParser{}, 100),
		util.Prioritized(indexParser{}, 100),
		util.Prioritized(noteLinkParser{}, 101),
		util.Prioritized(inlineNoteParser{}, 101),
		util.Prioritized(commentParser{}, 110),
		util.Prioritized(exampleParser{}, 110),
		util.Prioritized(wikiParser{}, 120),
		util.Prioritized(referenceParser{}, 180),
		util.Prioritized(sizedImageParser{}, 190),
		util.Prioritized(inline(parser.NewLinkParser()), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400),
		util.Prioritized(criticParser{}, 440),
		util.Prioritized(bracesParser{}, 450),
		util.Prioritized(emojiParser{}, 460),
		util.Prioritized(scriptParser{}, 470),
		util.Prioritized(inline(markParser{'=', "mark"}), 480),
		util.Prioritized(inline(markParser{'+', "ins"}), 480),
		util.Prioritized(inline(parser.NewEmphasisParser()), 500),
		util.Prioritized(inline(extension.NewStrikethroughParser()), 500),
		util.Prioritized(extension.NewLinkifyParser(), 999),
	}
}

func paragraphTransformers() []util.PrioritizedValue {
	return []util.PrioritizedValue{
		util.Prioritized(paragraphGuard{parser.LinkReferenceParagraphTransformer, definitionsCost}, 100),
		util.Prioritized(abbreviationTransformer{}, 150),
		util.Prioritized(paragraphGuard{extension.NewTableParagraphTransformer(), tableCost}, 200),
		util.Prioritized(lineBlockTransformer{}, 210),
	}
}

func astTransformers() []util.PrioritizedValue {
	return []util.PrioritizedValue{
		util.Prioritized(extension.NewTableASTTransformer(), 0),
		util.Prioritized(inlineTransformer{}, 100),
		util.Prioritized(criticTransformer{}, 105),
		util.Prioritized(abbreviationMarker{}, 110),
		util.Prioritized(noteTransformer{}, 999),
	}
}

// newHTMLRenderer renders raw HTML as it is: everything passes the sanitiser
// afterwards.
func newHTMLRenderer() renderer.Renderer {
	return renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(codeRenderer{}, 100),
		util.Prioritized(blockRenderer{}, 100),
		util.Prioritized(imageRenderer{}, 100),
		util.Prioritized(tree.Renderer{}, 100),
		util.Prioritized(admonitionRenderer{}, 100),
		util.Prioritized(figureRenderer{}, 100),
		util.Prioritized(lineBlockRenderer{}, 100),
		util.Prioritized(emojiRenderer{}, 100),
		util.Prioritized(referenceRenderer{}, 100),
		util.Prioritized(formulaRenderer{}, 100),
		util.Prioritized(diagramRenderer{}, 100),
		util.Prioritized(slideRenderer{}, 100),
		util.Prioritized(commentRenderer{}, 100),
		util.Prioritized(indexRenderer{}, 100),
		util.Prioritized(
			extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			500,
		),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
		util.Prioritized(extension.NewTaskCheckBoxHTMLRenderer(), 500),
		util.Prioritized(extension.NewDefinitionListHTMLRenderer(), 500),
		util.Prioritized(extension.NewFootnoteHTMLRenderer(extension.WithFootnoteBacklinkHTML("↩\ufe0e")), 500),
		util.Prioritized(html.NewRenderer(html.WithUnsafe()), 1000),
	))
}

// normalizeNewlines makes every line end in \n, so that offsets mean the same
// to goldmark and to us.
func normalizeNewlines(src []byte) []byte {
	if bytes.IndexByte(src, '\r') < 0 {
		return src
	}
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))

	return bytes.ReplaceAll(src, []byte("\r"), []byte("\n"))
}
