// Package markdown turns Markdown from strangers into HTML that is safe to
// print: GitHub's flavour with footnotes, definition lists and alerts, front
// matter, highlighted code, and every image already inside. Whatever the input
// holds, the HTML fetches nothing and the work stays within a budget.
package markdown

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/block"
	"presswork/internal/markdown/cite"
	"presswork/internal/markdown/dialect/quarto"
	"presswork/internal/markdown/ext/bookindex"
	"presswork/internal/markdown/ext/codeblock"
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

// MaxParts bounds what is printed at once: see finish.MaxParts.
const MaxParts = finish.MaxParts

// Renderer renders documents. It is safe for concurrent use; making one is
// expensive, using it is not.
type Renderer struct {
	parser   parser.Parser
	renderer renderer.Renderer
	policy   *sanitize.Policy
	formulas *tex.Renderer
	words    *hyphen.Library
	styles   *cite.Library
}

// New makes a Renderer.
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

// Options are the choices about one document.
type Options struct {
	// FirstLine is the source line the Markdown begins on, for warnings: 1
	// (default) without front matter.
	FirstLine int
	// Dialect is how what plain Markdown does not have is read. Default: by what
	// the document holds.
	Dialect string
	// EscapeHTML shows raw HTML as text instead of sanitising it.
	EscapeHTML bool
	// LineNumbers numbers the lines of code blocks.
	LineNumbers bool
	// CodeLook reports whether the page gives tokens of code with a class of
	// Chroma's a look of their own, by colour, weight or slant alone. Those of other
	// classes are then plain text, and blanks belong to the token before them.
	// Nil: any class may have a look, a ground or a line below it as well.
	CodeLook func(class string) bool
	// Title, if not "", becomes a level-1 heading above a text that has none.
	Title string
	// Lang is the document's language (BCP 47), by which quotes, dashes and
	// spaces are set. "" and languages without a rule: as in English.
	Lang string
	// Language names the language of running text. It is asked for the
	// document's when Lang is ""; nil: nobody is.
	Language func(prose string) string
	// Hyphenate puts soft hyphens into long words of Lang.
	Hyphenate bool
	// Justified names the language of a text that is justified, "" when it is not known
	// for certain: soft hyphens go into its shorter words, too. Nil: it is ragged.
	Justified func(prose string) string
	// NumberHeadings writes 1.2.3 before headings. A single leading h1 is the
	// document's title and stays without.
	NumberHeadings bool
	// Chapter, when above 0, is the number of the first level-1 heading: the
	// document is one of several that are numbered through.
	Chapter int
	// Numbering says how figures, tables, equations and listings count: ByChapter, or
	// through the document ("").
	Numbering string
	// Numbered are the kinds of which every element with a caption is numbered. Of
	// the others those with a label are.
	Numbered []Kind
	// Counts are how many of each kind the documents printed before this one hold.
	Counts map[Kind]int
	// Labels are those of the documents that are printed with this one. Not nil: it
	// may refer to them.
	Labels map[string]Label
	// Bibliography are the files of the works that it cites, which Asset opens:
	// BibTeX or CSL-JSON. None: @name is no citation.
	Bibliography []string
	// Library opens them and CitationStyle in place of Asset, if it is not nil.
	Library func(name string) ([]byte, error)
	// CitationStyle is one of CitationStyles or a .csl file that Asset opens; ""
	// and what cannot be read: chicago-author-date.
	CitationStyle string
	// NoCite names works that are listed all the same: "@a, @b", or "@*" for all.
	NoCite string
	// CitedBefore and CitedAfter are the citations of the documents that are printed
	// before and after this one: one bibliography is for all. EntriesAt is what the
	// fragment of its entries begins with if another document has it.
	CitedBefore, CitedAfter []cite.Citation
	EntriesAt               string
	// MathTime bounds the rendering of its formulas. Default: by the size of the document,
	// up to 30 s.
	MathTime time.Duration
	// MaxParts bounds what the document is made of, as MaxParts counts it. Default
	// MaxParts.
	MaxParts int
	// Links resolves a link, found on a source line, to another document that is
	// printed with this one: to a fragment that this one need not have. Nil:
	// there is none.
	Links func(destination string, line int) (fragment string, ok bool)
	// Asset opens an image that came with the document, by the path in
	// its Markdown: clean, but also absolute or with a leading ../, so it is
	// Asset that confines it.
	// Nil: none came. A StoreUnavailable error of it ends the rendering, any
	// other leaves a warning. Asset and Fetch are called from several goroutines.
	Asset func(name string) ([]byte, error)
	// Include opens a text file that the document includes, by its clean path below
	// the document's folder. Nil: nothing is included. A StoreUnavailable error of it
	// ends the rendering, any other leaves a warning.
	Include func(name string) ([]byte, error)
	// Substitutions are the texts that MyST puts in place of {{ name }}.
	Substitutions map[string]string
	// Fetch gets an http(s) image. Nil: remote images are left out.
	Fetch func(ctx context.Context, url string) (data []byte, contentType string, err error)
	// Slides cuts the document into slides.
	Slides bool
	// DarkPage is set when the page is dark. Images that are dark drawings on
	// nothing then have the class image-plate, for a light ground of their own.
	DarkPage bool
	// Diagrams draws the sources of Mermaid diagrams, one picture for each. It
	// is called once, if there are any, and an error of it ends the rendering.
	// Nil: they stay source, with a warning.
	Diagrams func(ctx context.Context, sources []string) ([]Diagram, error)
}

// Diagram is a drawn diagram: safe SVG, or in words why there is none.
type Diagram struct {
	SVG, Problem string
	// Line of the source is where the problem is, 0 when that is not known.
	Line int
}

// Document is rendered Markdown.
type Document struct {
	// HTML is the content of a body element. It references nothing outside
	// but the targets of links.
	HTML string
	// Blocks are the same HTML as blocks.
	Blocks []block.Block
	// Letters says which letters need care.
	Letters direction.Letters
	// WidestFormula is how wide a formula may be, in em, 0 without formulas.
	WidestFormula float64
	// Title is the text of the first level-1 heading, "" without one.
	Title    string
	Headings []Heading
	// TOC reports whether the source asks for the contents at a place of its own: there is
	// one block of the kind Place with the class ListPlace("").
	TOC bool
	// Captions are the numbered elements, but sections and equations, in order.
	Captions []Caption
	// Index is what an index is to list, in the order of the text; a block with the class
	// bookindex.PlaceClass is where it is to stand.
	Index []bookindex.Entry
	// Counts are those of Options and its own. Labels are what references can lead
	// to; Unresolved reports whether one leads nowhere.
	Counts     map[Kind]int
	Labels     map[string]Label
	Unresolved bool
	// Cited are its citations. HasRefs reports whether it has a place for the
	// bibliography.
	Cited    []cite.Citation
	HasRefs  bool
	Warnings []fault.Warning
	// Lang is the language by which it is set: Options.Lang or what
	// Options.Language set.
	Lang string
	// Upright reports whether some of its letters are of scripts without italics.
	Upright bool
	// Slides are there with Options.Slides; SlideHTML is their HTML.
	Slides []Slide
	// Parts is what it is made of, as MaxParts counts it.
	Parts int
	// Hurried reports whether formulas stayed source because the others took too long:
	// another try may render them.
	Hurried bool
}

// Heading is one entry of the outline.
type Heading struct {
	Level int
	// Number is 1.2.3 when headings are numbered, else "".
	Number string
	// Text is without the number.
	Text string
	// ID is the anchor, unique in the document.
	ID string
	// Line is the 1-based source line.
	Line int
}

// Parse reads a document's body (front matter already taken off) into a Document. Errors:
// ContentTooComplex, StoreUnavailable (Asset's), those of Diagrams, ctx's cause.
func (r *Renderer) Parse(ctx context.Context, src []byte, o Options) (Document, error) {
	src = source.NormalizeNewlines(src)

	dialect := cmp.Or(o.Dialect, detect(src))
	d := &draft{
		options:  o,
		dialect:  dialect,
		counters: label.NewCounters(o.Numbering == ByChapter, o.Counts),
	}

	var err error
	if d.works, err = d.openBibliography(ctx, r.styles); err != nil {
		return Document{}, err
	}

	if err := d.rewrite(source.New(src, o.FirstLine)); err != nil {
		return Document{}, err
	}
	src = d.src
	d.references = o.Labels != nil || HasLabels(src)
	size, tables := len(src), d.findTables()
	src = d.src

	root, err := parseDrawn(ctx, r.parser, src, size, tables, dialect, d.referenceKeys())
	if err != nil {
		return Document{}, err
	}

	switch {
	case o.Hyphenate:
		d.words = r.words.For(o.Lang)
	case o.Justified != nil:
		d.words = r.words.For(o.Justified(tree.VisibleText(root, src)))
	}

	if o.Lang == "" && o.Language != nil {
		d.options.Lang = o.Language(tree.VisibleText(root, src))
	}
	d.addTitle(root)
	d.collectIndex(root)
	src = d.src
	upright := direction.HasUpright(src)

	if err := d.transform(ctx, root, r.styles); err != nil {
		return Document{}, err
	}

	if upright || direction.Of(d.options.Lang) == "rtl" {
		direction.Set(root, src, d.options.Lang)
	}

	formulas, err := formula.Render(ctx, root, r.formulas, formula.Options{
		Lines:     d.lines,
		Time:      o.MathTime,
		Size:      len(src),
		Equations: d.equations,
		Counters:  d.counters,
		Embeds:    &d.embeds,
	})
	if err != nil {
		return Document{}, err
	}
	d.warnings = append(d.warnings, formulas.Warnings...)

	if err := d.drawDiagrams(ctx, root); err != nil {
		return Document{}, err
	}
	var raw bytes.Buffer
	raw.Grow(len(src) * 2)

	if err := r.renderer.Render(&raw, src, root); err != nil {
		return Document{}, fault.Errorf(fault.RenderFailed, "the Markdown could not be rendered").WithCause(err)
	}

	page, err := finish.HTML(ctx, r.policy.Sanitize(&raw).Bytes(), d.finishOptions())
	if err != nil {
		return Document{}, err
	}
	d.warnings = append(d.warnings, page.Warnings...)

	return Document{
		HTML:          page.HTML,
		Blocks:        block.Read(page.HTML),
		Letters:       direction.LettersIn(page.HTML),
		WidestFormula: formulas.Widest,
		Title:         d.title(),
		Headings:      d.headings,
		TOC:           d.toc,
		Captions:      d.captions,
		Index:         d.index,
		Counts:        d.counters.Counts(),
		Labels:        d.targets.Labels(),
		Unresolved:    d.unresolved,
		Cited:         d.works.citations(),
		HasRefs:       d.works != nil && d.works.placed,
		Warnings:      d.sortedWarnings(),
		Lang:          d.options.Lang,
		Upright:       upright,
		Slides:        d.slides,
		Parts:         page.Parts,
		Hurried:       formulas.Hurried,
	}, nil
}

// draft is one document on its way.
type draft struct {
	src      []byte
	lines    *source.Lines
	options  Options
	dialect  string
	index    []bookindex.Entry
	headings []Heading
	links    []finish.Link
	words    *hyphen.Dictionary // nil: they are not divided
	embeds   tree.Embeds
	slides   []Slide
	// aliases are the ids of what links may call by another name.
	aliases map[string]string
	// references reports whether the source may refer to labels.
	references bool
	targets    label.Set
	counters   *label.Counters
	equations  map[ast.Node]formula.Equation
	works      *bibliography // nil: it cites nothing
	captions   []Caption
	unresolved bool
	// toc reports whether the contents have a place.
	toc      bool
	warnings []fault.Warning
}

// findTables finds the tables that are drawn in the source, and appends the texts of their
// cells to it.
func (d *draft) findTables() drawntable.Tables {
	if d.dialect == GFM {
		return nil
	}
	size := len(d.src)

	extended, tables := drawntable.Find(d.src)
	d.src = extended
	d.lines.Append(size, tables.Texts())

	return tables
}

// transform changes the tree after parsing; each step is linear.
func (d *draft) transform(ctx context.Context, root ast.Node, styles *cite.Library) error {
	if d.options.Slides {
		d.takeSlides(root)
	}

	placePageBreaks(root, d.src)

	if d.options.EscapeHTML {
		sanitize.Escape(root)
	} else {
		sanitize.Tame(root, d.src)

		if d.dialect == MDX {
			d.placeComponents(root)
		}
	}
	d.dropComments(root)

	if d.dialect != GFM && bytes.Contains(d.src, []byte("```{")) {
		quarto.DropOptions(root, d.src, codeblock.CellInfo().Match)
	}
	d.placeBlocks(root)
	formula.Place(root, d.src)
	d.placeCitations(root)
	headings := d.anchorHeadings(root)
	d.resolveWikiLinks(root)

	if d.references || d.works != nil {
		reference.TakeHyphens(root, d.src)
	}
	typography.Set(root, d.src, d.options.Lang)
	d.numberElements(root, headings)
	d.resolveReferences(root)

	if err := d.writeCitations(ctx, styles); err != nil {
		return err
	}
	d.finishHeadings(headings)
	d.noteLinksAndImages(root)
	codeblock.Prepare(root, d.src, d.options.LineNumbers, d.options.CodeLook)

	return nil
}

// referenceKeys returns the keys of the references that the document may have.
func (d *draft) referenceKeys() reference.Keys {
	switch {
	case d.works != nil:
		return reference.ToWorks
	case d.references:
		return reference.ToLabels
	}

	return reference.None
}

// resolveReferences links references to the labelled elements. A reference that names none leaves a
// warning.
func (d *draft) resolveReferences(root ast.Node) {
	if d.referenceKeys() == reference.None {
		return
	}
	missing := func(r *reference.Reference, key string) {
		d.unresolved = true
		if len(d.targets) == 0 {
			return
		}
		d.warn(
			fault.LinkBroken,
			d.lines.At(r.Offset),
			fmt.Sprintf("reference to %q, but nothing in the document has that label", input.Short(key)),
		)
	}
	reference.Resolve(root, label.WordsOf(d.options.Lang), d.targets, d.works.cites, missing)
}

// finishOptions returns what the last pass over the HTML needs.
func (d *draft) finishOptions() finish.Options {
	outline := make(map[string]bool, len(d.headings))
	for _, h := range d.headings {
		outline[h.ID] = true
	}

	return finish.Options{
		Asset:     d.options.Asset,
		Fetch:     d.options.Fetch,
		DarkPage:  d.options.DarkPage,
		MaxParts:  d.options.MaxParts,
		Words:     d.words,
		Justified: d.options.Justified != nil,
		Outline:   outline,
		Links:     d.links,
		Embeds:    &d.embeds,
		LineOf: func(text []byte) int {
			return d.lines.At(bytes.Index(d.src, text)) // 0 for -1
		},
	}
}

func (d *draft) title() string {
	for _, h := range d.headings {
		if h.Level == 1 {
			return h.Text
		}
	}

	return ""
}

func (d *draft) warn(code fault.WarningCode, line int, message string) {
	d.warnings = append(d.warnings, fault.Warning{Code: code, Message: message, Line: line})
}
