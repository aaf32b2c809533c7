// Package markdown renders untrusted Markdown as HTML that is safe to print. It reads GitHub Flavored Markdown with
// many extensions and dialects, highlights code and embeds all images. The HTML loads nothing, and a budget bounds
// the work for any input.
//
// Renderer.Parse makes a Document in these steps:
//  1. Packages include and dialect/... rewrite the source. Package source keeps the line numbers of the file.
//  2. goldmark parses the text, with the extensions of ext/..., within the budget.
//  3. Passes over the tree place figures, lists and page breaks; number and resolve headings, labels, references
//     and citations; set quotes and dashes.
//  4. Formulas become MathML and diagrams SVG.
//  5. The tree is rendered as HTML and sanitised. Package finish embeds images and checks links.
//
// Check rejects content before a job is accepted. ReadOutline returns the text of a document for analysis.
package markdown

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/block"
	"presswork/internal/markdown/cite"
	"presswork/internal/markdown/dialect"
	"presswork/internal/markdown/dialect/quarto"
	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/ext/component"
	"presswork/internal/markdown/ext/direction"
	"presswork/internal/markdown/ext/drawntable"
	"presswork/internal/markdown/ext/reference"
	"presswork/internal/markdown/ext/typography"
	"presswork/internal/markdown/finish"
	"presswork/internal/markdown/formula"
	"presswork/internal/markdown/hyphen"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/sanitize"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tex"
	"presswork/internal/markdown/tree"
)

// MaxParts bounds the parts that are printed at once: see finish.MaxParts.
const MaxParts = finish.MaxParts

// Renderer renders documents. It is safe for concurrent use. Creating one is expensive: share it.
type Renderer struct {
	parser   parser.Parser
	renderer renderer.Renderer
	policy   *sanitize.Policy
	formulas *tex.Renderer
	words    *hyphen.Library // hyphenation
	styles   *cite.Library   // citation styles
}

// New returns a Renderer with all extensions. It starts no goroutine and need not be closed.
func New() *Renderer {
	return &Renderer{
		parser:   newParser(),
		renderer: newHTMLRenderer(),
		policy:   sanitize.New(),
		formulas: tex.New(),
		words:    hyphen.New(),
		styles:   cite.New(),
	}
}

// Parse renders the body of a document, which must not include the front matter. It does not change src. Problems
// that leave a readable document become warnings. Errors: ContentTooComplex, RenderFailed, StoreUnavailable from a
// function of o, the error of o.Diagrams, and the cause of ctx.
func (r *Renderer) Parse(ctx context.Context, src []byte, o Options) (Document, error) {
	src = source.NormalizeNewlines(src)
	p := &parserState{
		Renderer: r,
		options:  o,
		dialect:  cmp.Or(o.Dialect, dialect.Detect(src)),
		counters: label.NewCounters(o.Numbering == ByChapter, o.Counts),
		pages:    map[string]bool{},
	}

	var err error
	if p.works, err = openBibliography(ctx, r.styles, &p.options, &p.warnings); err != nil {
		return Document{}, err
	}

	if err := p.rewrite(source.New(src, o.FirstLine)); err != nil {
		return Document{}, err
	}

	root, err := p.parseSource(ctx)
	if err != nil {
		return Document{}, err
	}
	p.chooseLanguage(root)
	p.src = addTitle(root, p.src, &p.options)
	placeInBook(root, &p.options)
	p.collectIndex(root)
	p.out.Upright = direction.HasUpright(p.src)
	p.placeStructure(root)

	if err := p.completeText(ctx, root); err != nil {
		return Document{}, err
	}

	if err := p.draw(ctx, root); err != nil {
		return Document{}, err
	}

	if err := p.writeHTML(ctx, root); err != nil {
		return Document{}, err
	}

	return p.document(), nil
}

// parserState is what the steps of Parse share about one document.
type parserState struct {
	*Renderer

	options Options
	dialect string // that of the options, else the detected one
	// src is the text that the nodes of the tree refer to by offsets. Steps append to it.
	src      []byte
	warnings warnings
	// aliases maps other names of anchors, which links may use, to the anchors.
	aliases map[string]string
	// hasReferences reports whether the source may refer to labels.
	hasReferences bool
	targets       label.Set                     // the elements that references can lead to
	counters      *label.Counters               // of numbered elements
	equations     map[ast.Node]formula.Equation // the labels of formulas
	works         *bibliography                 // nil without works to cite
	links         []finish.Link                 // links within the document, for finish to check
	pages         map[string]bool               // the addresses of links to other pages
	hyphens       *hyphen.Dictionary            // nil: no words are divided
	embeds        tree.Embeds                   // HTML that bypasses the sanitiser
	// out is the result so far. document adds the fields that depend on the finished HTML.
	out Document
}

// parseSource parses the rewritten source into a tree.
func (p *parserState) parseSource(ctx context.Context) (ast.Node, error) {
	p.hasReferences = p.options.Labels != nil || HasLabels(p.src)
	size := len(p.src)
	var tables drawntable.Tables

	if p.dialect != dialect.GFM {
		// The texts of the cells of drawn tables follow the source, where nodes can refer to them.
		p.src, tables = drawntable.Find(p.src)
		p.warnings.lines.Append(size, tables.CellOffsets())
	}

	return parseDrawn(ctx, p.parser, p.src, size, tables, p.dialect, p.referenceKeys())
}

// referenceKeys returns which references the document may have: to works, which includes labels, to labels, or none.
func (p *parserState) referenceKeys() reference.Keys {
	switch {
	case p.works != nil:
		return reference.ToWorks
	case p.hasReferences:
		return reference.ToLabels
	}

	return reference.None
}

// chooseLanguage sets the language of the document and the dictionary for soft hyphens. Options.Language may be
// wrong, so it chooses no dictionary: a word divided by another language's rules looks worse than a gap.
func (p *parserState) chooseLanguage(root ast.Node) {
	o := &p.options

	switch {
	case o.Hyphenate:
		p.hyphens = p.words.For(o.Lang)
	case o.Justified != nil:
		p.hyphens = p.words.For(o.Justified(tree.VisibleText(root, p.src)))
	}

	if o.Lang == "" && o.Language != nil {
		o.Lang = o.Language(tree.VisibleText(root, p.src))
	}
}

// placeStructure replaces the nodes that stand for slides, page breaks, lists, figures, formulas and citations. It
// makes raw HTML safe to render. Slides come first: their notes are comments, and later passes replace raw HTML.
func (p *parserState) placeStructure(root ast.Node) {
	if p.dialect != dialect.GFM {
		dropSlideSettings(root, p.src, p.options.Slides)
	}

	if p.options.Slides {
		p.out.Slides = cutSlides(root, p.src, p.warnings.lines, &p.embeds)
	}
	placePageBreaks(root, p.src)
	p.placeForeign(root)

	if p.options.EscapeHTML {
		sanitize.Escape(root)
	} else {
		sanitize.RawHTML(root, p.src)

		if p.dialect == dialect.MDX {
			placeComponents(root, p.src, &p.warnings)
		}
	}
	component.JoinParagraphs(root, p.src)
	dropComments(root, &p.warnings)

	if p.dialect != dialect.GFM && bytes.Contains(p.src, []byte("# (")) {
		quarto.TakeParts(root, p.src)
	}

	if bytes.Contains(p.src, []byte("panel-tabset")) {
		quarto.TakeTabsets(root)
	}

	if isCell := codeblock.CellInfo().Match; p.dialect != dialect.GFM && bytes.Contains(p.src, []byte("```{")) {
		quarto.DropOptions(root, p.src, isCell)
	}
	p.placeBlocks(root)
	formula.Place(root, p.src)
	formula.PlaceInHTML(root, p.src)

	if p.hasReferences {
		formula.PlaceReferences(root)
	}
	p.works.place(root, p.src)
}

// completeText completes the texts of the tree: anchors, links, quotes and dashes, numbers, references and citations.
// Anchors come first, because they are made from the text of the source. The outline gets its texts after references
// and citations, which headings may contain. Errors: ContentTooComplex, the cause of ctx.
func (p *parserState) completeText(ctx context.Context, root ast.Node) error {
	headings := p.anchorHeadings(root)
	p.resolveWikiLinks(root)

	if p.referenceKeys() != reference.None {
		reference.TakeHyphens(root, p.src)
	}
	typography.Set(root, p.src, p.options.Lang)
	p.numberElements(root, headings)
	p.resolveReferences(root)

	if err := p.works.write(ctx, p.src); err != nil {
		return err
	}
	finishHeadings(headings, p.src, p.out.Headings)
	p.noteLinksAndImages(root)
	p.markLines(root)
	codeblock.Prepare(root, p.src, p.options.LineNumbers, p.options.CodeLook)

	if p.out.Upright || direction.Of(p.options.Lang) == "rtl" {
		direction.Set(root, p.src, p.options.Lang)
	}

	return nil
}

// resolveReferences links references to the labelled elements. A reference to a missing label adds a warning only if
// the document has labels: in others, "@name" may be a user name.
func (p *parserState) resolveReferences(root ast.Node) {
	if p.referenceKeys() == reference.None {
		return
	}
	missing := func(r *reference.Reference, key string) {
		p.out.Unresolved = true

		if len(p.targets) > 0 {
			p.warnings.at(r.Offset, fault.LinkBroken,
				fmt.Sprintf("reference to %q, but nothing in the document has that label", input.Short(key)))
		}
	}
	reference.Resolve(root, label.WordsOf(p.options.Lang), p.targets, p.works.cites, missing)
}

// draw renders formulas and diagrams. Errors: that of Options.Diagrams, the cause of ctx.
func (p *parserState) draw(ctx context.Context, root ast.Node) error {
	result, err := formula.Render(ctx, root, p.formulas, formula.Options{
		Lines:     p.warnings.lines,
		Time:      p.options.MathTime,
		Size:      len(p.src),
		Equations: p.equations,
		Counters:  p.counters,
		Targets:   p.targets,
		Macros:    p.options.Macros,
		Embeds:    &p.embeds,
	})
	if err != nil {
		return err
	}
	p.warnings.list = append(p.warnings.list, result.Warnings...)
	p.out.WidestFormula, p.out.TimedOut = result.Widest, result.TimedOut

	return p.drawDiagrams(ctx, root)
}

// writeHTML renders the tree and sanitises and completes the HTML. Errors: ContentTooComplex,
// StoreUnavailable, RenderFailed, the cause of ctx.
func (p *parserState) writeHTML(ctx context.Context, root ast.Node) error {
	var raw bytes.Buffer
	raw.Grow(len(p.src) * 2)

	if err := p.renderer.Render(&raw, p.src, root); err != nil {
		return fault.Errorf(fault.RenderFailed, "the Markdown could not be rendered").WithCause(err)
	}

	page, err := finish.HTML(ctx, p.policy.Sanitize(&raw).Bytes(), p.finishOptions())
	if err != nil {
		return err
	}
	p.warnings.list = append(p.warnings.list, page.Warnings...)
	p.out.HTML, p.out.Parts = page.HTML, page.Parts

	return nil
}

// finishOptions returns what the last pass over the HTML needs.
func (p *parserState) finishOptions() finish.Options {
	outline := make(map[string]bool, len(p.out.Headings))
	for _, h := range p.out.Headings {
		outline[h.ID] = true
	}

	return finish.Options{
		Asset:     p.options.Asset,
		Fetch:     p.options.Fetch,
		DarkPage:  p.options.DarkPage,
		MaxParts:  p.options.MaxParts,
		Words:     p.hyphens,
		Justified: p.options.Justified != nil,
		Outline:   outline,
		Links:     p.links,
		Pages:     p.pages,
		Embeds:    &p.embeds,
		Lines:     p.options.SourceLines,
		LineOf: func(text []byte) int {
			return p.warnings.lines.At(bytes.Index(p.src, text)) // 0 if the source does not contain text
		},
	}
}

// document returns the result of Parse: out, and the fields that are computed from the finished HTML or the counters.
func (p *parserState) document() Document {
	d := p.out
	d.Blocks = block.Read(d.HTML)
	d.Letters = direction.LettersIn(d.HTML)
	d.Title = titleOf(d.Headings)
	d.Counts = p.counters.Counts()
	d.Labels = p.targets.Labels()

	d.Warnings = p.warnings.sorted()
	for i, w := range d.Warnings {
		d.Warnings[i] = Placed(w, p.options.Place)
	}
	d.Lang = p.options.Lang

	if p.works != nil {
		d.Cited, d.HasRefs = p.works.written, p.works.hasPlace
	}

	return d
}
