package document

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"sync"

	"presswork"
	"presswork/internal/analysis/lang"
	"presswork/internal/chromium/printable"
	"presswork/internal/document/contents"
	"presswork/internal/document/dates"
	"presswork/internal/document/merge"
	"presswork/internal/document/metadata"
	"presswork/internal/document/sheet"
	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
	"presswork/internal/markdown/dialect"
	"presswork/internal/markdown/ext/bookindex"
	"presswork/internal/markdown/ext/typography"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/pack"
	"presswork/themes"
)

// engineVersion is part of every key. Increase it when the same HTML would be printed or packed differently.
const engineVersion = 6

// source is a document that has been read and rendered. Its output is composed from it.
type source struct {
	Document
	matter metadata.FrontMatter // without invalid values
	body   markdown.Document    // the rendered Markdown
	// page is the part of the page that does not depend on the output.
	page page
	head titleBlock
}

// compose is Compose without the cache.
func (c *Converter) compose(ctx context.Context, d Document) (Composed, error) {
	s, err := c.readSource(ctx, d)
	if err != nil {
		return Composed{Warnings: s.body.Warnings}, err
	}

	switch {
	case s.page.slides && s.Output == presswork.HTML:
		return c.composeWebSlides(s), nil
	case s.page.slides:
		return c.composeSlides(s), nil
	case s.Output == presswork.HTML:
		return c.composeWeb(s)
	case s.Output == presswork.EPUB:
		return c.composeBook(s)
	default:
		return c.composePrint(s)
	}
}

// readSource checks a document, settles its options and theme, and renders its Markdown. With the error StrictFindings,
// the source has the warnings. Errors: those of Compose.
func (c *Converter) readSource(ctx context.Context, d Document) (source, error) {
	matter, err := check(d.Content, d.Options, d.Folder != "")
	if err == nil {
		err = CheckOutput(d.Output, matter, d.Options)
	}

	if err != nil {
		return source{}, err
	}
	d.Output = cmp.Or(d.Output, presswork.PDF)
	o := c.layoutOptions(d, &matter)

	// An unknown theme in the request is an error. In the front matter it may be one of another program's.
	name, ignored, err := c.themes.Resolve(d.Theme, matter.Theme)
	if ignored != nil {
		matter.Drop("theme", fault.AsError(ignored).Message)
	}

	theme, unknown := c.themes.Get(name)
	if err := cmp.Or(err, unknown); err != nil {
		return source{}, err
	}

	if d.Output == presswork.EPUB {
		o = onBookPages(o, theme)
	}
	theme = themeFor(theme, o, d.Output)

	area, err := sheet.Of(o, sheet.ParseMargins(theme.Token("--page-margins")))
	if err != nil {
		return source{}, err
	}

	body, err := c.parse(ctx, d, matter, o, theme)
	if err != nil {
		return source{}, err
	}
	parts := c.layoutParts(&matter, o, body.Lang, area)

	if body.TimedOut && d.external != nil {
		d.external.Store(true) // the result depends on the load of the machine
	}

	for i := range matter.Warnings {
		switch w := &matter.Warnings[i]; {
		case d.Folder != "": // the front matter of a book was written from its settings
			w.Line = 0
		case len(d.Parts) > 0:
			w.Message = merge.Name(d.Path, false) + ": " + w.Message
		}
	}
	slices.SortStableFunc(matter.Warnings, func(a, b fault.Warning) int { return a.Line - b.Line })
	body.Warnings = slices.Concat(d.Warnings, matter.Warnings, body.Warnings)

	// With strict, do not print a document that fails in any case.
	if isTrue(o.Strict) && len(body.Warnings) > 0 {
		return source{body: body}, strictFindings(body.Warnings)
	}

	if err := checkSheets(o, theme, body); err != nil {
		return source{}, err
	}

	s := source{Document: d, matter: matter, body: body, page: page{
		options: o,
		theme:   theme,
		sheet:   area,
		lang:    body.Lang,
		upright: body.Upright,
		slides:  asSlides(o) && d.Output != presswork.EPUB, // a book flows
		columns: inColumns(o, d.Output),
		parts:   parts,
	}}

	return s, c.setMetadata(ctx, &s)
}

// setMetadata sets the metadata and the title block of a source, and what the page takes from them.
func (c *Converter) setMetadata(ctx context.Context, s *source) (err error) {
	o, lang := s.page.options, s.page.lang
	title := typography.SetLine(pdffile.OneLine(o.Title), lang)
	date, day := dates.Of(s.matter.Date, lang, c.now())

	meta := pack.Meta{
		Title:   cmp.Or(title, pdffile.OneLine(s.body.Title), titleOf(s.Filename), "Document"),
		Author:  pdffile.OneLine(o.Author),
		Subject: cmp.Or(pdffile.OneLine(o.Subject), pdffile.OneLine(s.matter.Abstract)),
		Date:    day,
	}
	for _, word := range o.Keywords {
		if word = pdffile.OneLine(word); word != "" {
			meta.Keywords = append(meta.Keywords, word)
		}
	}

	s.head = titleBlock{subtitle: typography.SetLine(pdffile.OneLine(s.matter.Subtitle), lang), author: meta.Author}
	s.head.authors = authorsOf(s.matter, meta.Author)

	if titleAbove(s.matter, o) != "" {
		s.head.title = title
	}

	if s.matter.Date != "" {
		s.head.date = date
	}

	s.head.above, s.head.below = s.page.parts.Head, s.page.parts.Foot

	s.head.abstract, err = c.abstract(ctx, s.matter, lang)
	s.page.meta, s.page.subtitle, s.page.date = meta, s.head.subtitle, date
	s.page.theme = withScripts(s.page.theme, lang, s.body.HTML, meta.Title, meta.Author, meta.Subject, s.head.subtitle)
	s.page.rightToLeft = s.body.Letters.RightToLeft || s.head.rightToLeft() || refersRightToLeft(s.body.Index)

	return err
}

// composed returns the fields of a composed document that all outputs share. The caller sets the page and the plan.
func (s source) composed() Composed {
	return Composed{
		Output:   s.Output,
		Meta:     s.page.meta,
		Theme:    s.page.theme.Name,
		Warnings: s.body.Warnings,
		strict:   isTrue(s.page.options.Strict),
	}
}

// blocks returns the blocks of the document with its title block and with places for the contents and the lists. The
// pieces are what replaces the places. entries are the headings of the contents. paper is true if the pieces have page
// numbers. Errors: ContentTooComplex, if the contents are too long.
func (s source) blocks(entries []markdown.Heading, paper bool) ([]block.Block, contents.Pieces, error) {
	if err := contents.Check(entries); err != nil {
		return nil, nil, err
	}
	o, lang := s.page.options, s.page.lang
	placed, before := listsOf(s.body, o, lang, paper)
	placed[bookindex.PlaceClass] = contents.Index(s.body.Index, lang, s.Output != presswork.HTML)
	form := contents.Form{Paper: paper, Parts: paper && s.body.Parts > markdown.MaxParts}
	blocks := placeContents(s.body.Blocks, entries, placed, before, lang, isTrue(o.Cover), form)

	return s.head.place(blocks, s.body.Headings), placed, nil
}

// composePrint composes a document for paper.
func (c *Converter) composePrint(s source) (Composed, error) {
	o, body, page := s.page.options, s.body, s.page

	blocks, placed, err := s.blocks(contents.Headings(body, o.TOC), true)
	if err != nil {
		return Composed{}, err
	}

	page.book, page.headings = bookSettingOf(o, page.theme, body), body.Headings
	if page.book.pages {
		page.sheet.Mirror(o)
	}
	page.typeset(blocks, placed)

	switch {
	case page.hasRunningHeads():
		page.chapters, _ = sectionsOf(body.Headings)
	case namesChapter(o) || len(page.text.Leaves) > 0:
		page.chapters = chaptersOf(body.Headings)
	}

	plan := printPlan{
		paper:     c.paper(s, page),
		revision:  page.revision(),
		footnotes: page.footnotes(),
		parts:     body.Parts,
	}
	plan.preflight = preflightOf(s.Document, o, page, body.WidestFormula)
	plan.finish.DropCaps = page.text.DropCaps
	plan.finish.Boxes = pack.Boxes{Bleed: page.sheet.Bleed * pointsPerMM, Marks: page.sheet.Marks * pointsPerMM}

	composed := s.composed()
	composed.Page = printable.Page{Sheet: page.sheet.ForPrinter(), Prepare: page.arrangement()}
	var names themes.Names
	composed.Page.HTML, composed.layout, names = page.html()

	switch {
	case !page.columns && page.parts.PageCSS == "" && c.divisible(o, page.theme, names):
		page.body = "" // it is in the HTML: the plan must not keep it twice
		plan.text, plan.banners = page.text, page.banners
	case body.Parts > markdown.MaxParts:
		return Composed{}, tooMuchAtOnce(body.Parts,
			"it has a stylesheet or a theme of its own, two columns, or pages without header or footer")
	}

	return c.planned(composed, plan, plan.finish, o), nil
}

// markdownOptions returns the options with which the document's Markdown is rendered. matter is that of the document or
// of one of its parts.
func (c *Converter) markdownOptions(
	d Document,
	matter metadata.FrontMatter,
	o presswork.Options,
	theme themes.Theme,
) markdown.Options {
	settings := markdown.Options{
		FirstLine:      matter.BodyLine,
		Place:          d.Place,
		Dialect:        dialectOf(d, o),
		EscapeHTML:     o.RawHTML == "escaped",
		Lang:           o.Lang,
		Language:       languageOf,
		Hyphenate:      o.Lang != "", // a wrong guess would divide wrongly
		LineNumbers:    isTrue(o.LineNumbers),
		Numbering:      o.Numbering,
		Numbered:       numberedKinds(o),
		Bibliography:   o.Bibliography,
		CitationStyle:  o.CSL,
		NoCite:         o.NoCite,
		Justified:      justified(o, theme),
		NumberHeadings: isTrue(o.NumberedHeadings),
		Asset:          d.Asset,
		Include:        d.Include,
		Folder:         d.Folder,
		Substitutions:  matter.Substitutions,
		Macros:         matter.Macros,
		Variable:       variables(matter, d.Include),
		Formats:        quartoFormats(d.Output),
		Slides:         asSlides(o) && d.Output != presswork.EPUB,
		DarkPage:       theme.Scheme == "dark" && !isTrue(o.InkSaver),
		SourceLines:    d.SourceLines && len(d.Parts) == 0 && d.Place == nil,
		Diagrams:       c.drawer(theme, o),
		MathTime:       c.formulas,
	}
	if o.CodeTheme == "" && hasBuiltinSheets(o, theme) {
		shared := sharedSheet
		if d.Output == presswork.HTML {
			shared = webSheet // the page needs it as well
		}
		names := sync.OnceValue(func() themes.Names { return theme.Names(shared()) })
		settings.CodeLook = func(class string) bool { return names().HasClass(class) }
	}

	if d.Output == presswork.HTML {
		settings.Pages = d.Page
	}

	if c.idle != nil && d.Output == presswork.PDF && !settings.Slides {
		settings.MaxParts = maxDivided
	}

	if notFalse(o.RemoteImages) {
		settings.Fetch = c.fetch
	}

	if d.external != nil {
		return d.watched(settings)
	}

	return settings
}

// languageOf guesses the language of a text. It decides the shapes of Han characters, the direction of the page, quotes
// and spaces. An unknown language counts as English.
func languageOf(prose string) string { return cmp.Or(lang.Of(prose), "en") }

// dialectOf returns the dialect of a document: that of the options, otherwise of its file name.
func dialectOf(d Document, o presswork.Options) string {
	if o.Markdown == "" && (path.Ext(d.Filename) == ".mdx" || path.Ext(d.Path) == ".mdx") {
		return dialect.MDX
	}

	return o.Markdown
}

// keyed sets the key, a digest of all data that affects the result. more has the data of the plan. The key covers the
// version of the browser, because another release may print the same page differently.
func (c *Converter) keyed(d Composed, more ...any) Composed {
	version := ""
	if c.printer != nil {
		version = c.printer.Version()
	}
	h := sha256.New()
	// Encoding plain strings, numbers and booleans cannot fail.
	_ = json.NewEncoder(h).Encode([]any{engineVersion, version, d.Output, d.Page, d.Meta, d.strict, more})
	d.Key = hex.EncodeToString(h.Sum(nil))

	return d
}

// titleOf returns a title for a file name: "annual-report.md" gives "annual-report".
func titleOf(filename string) string {
	base := path.Base(strings.ReplaceAll(filename, "\\", "/"))
	if base == "." || base == "/" {
		return ""
	}

	return pdffile.OneLine(strings.TrimSuffix(base, path.Ext(base)))
}
