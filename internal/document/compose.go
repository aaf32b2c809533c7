package document

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/pdffile"
	"presswork/themes"
)

// engineVersion is part of every key. It goes up when the same HTML would be
// printed or packed into something else.
const engineVersion = 5

// compose is Compose without a memory.
func (c *Converter) compose(ctx context.Context, d Document) (Composed, error) {
	matter, err := Check(d.Content, d.Options)
	if err == nil {
		err = CheckOutput(d.Output, matter, d.Options)
	}

	if err != nil {
		return Composed{}, err
	}
	d.Output = cmp.Or(d.Output, presswork.PDF)
	o := deckOptions(over(d.Options, matter.Options), matter.Deck)
	slides := asSlides(o) && d.Output != presswork.EPUB // a book flows

	name, ignored, err := c.themes.Resolve(d.Theme, matter.Theme)
	if ignored != nil {
		matter.Drop("theme", fault.AsError(ignored).Message)
	}

	theme, unknown := c.themes.Get(name)
	if err := cmp.Or(err, unknown); err != nil {
		return Composed{}, err
	}

	if d.Output == presswork.EPUB {
		o = onBookPages(o, theme)
	}

	body, err := c.renderAll(ctx, d, matter, o, theme)
	if err != nil {
		return Composed{}, err
	}

	if body.Hurried && d.outside != nil {
		d.outside.Store(true) // the time of others
	}
	slices.SortStableFunc(matter.Warnings, func(a, b fault.Warning) int { return a.Line - b.Line })
	body.Warnings = slices.Concat(matter.Warnings, body.Warnings)

	lang := body.Lang
	if isTrue(o.Strict) && len(body.Warnings) > 0 {
		return Composed{Warnings: body.Warnings}, strictFindings(body.Warnings)
	}

	if err := checkSheets(o, theme, body); err != nil {
		return Composed{}, err
	}

	sheet, err := sheetOf(o, marginsOf(theme))
	if err != nil {
		return Composed{}, err
	}
	title := markdown.SetLine(pdffile.OneLine(o.Title), lang)
	meta := pdffile.Meta{
		Title: cmp.Or(title, pdffile.OneLine(body.Title), titleOf(d.Filename), "Document"),
		Author: pdffile.OneLine(
			o.Author,
		),
		Subject: cmp.Or(pdffile.OneLine(o.Subject), pdffile.OneLine(matter.Abstract)),
	}
	date, day := dateOf(matter.Date, lang, c.now())
	meta.Date = day

	head := titleBlock{subtitle: markdown.SetLine(pdffile.OneLine(matter.Subtitle), lang), author: meta.Author}
	if titleAbove(matter, o) != "" {
		head.title = title
	}

	if matter.Date != "" {
		head.date = date
	}

	if head.abstract, err = c.abstract(ctx, matter, lang); err != nil {
		return Composed{}, err
	}

	for _, word := range o.Keywords {
		if word = pdffile.OneLine(word); word != "" {
			meta.Keywords = append(meta.Keywords, word)
		}
	}

	if slides {
		page := page{
			options:  o,
			theme:    theme,
			sheet:    sheet,
			meta:     meta,
			subtitle: head.subtitle,
			date:     date,
			lang:     lang,
			upright:  body.Upright,
			slides:   true,
		}

		return c.slides(d, page, head, matter, body), nil
	}

	contents := contentsOf(body, o.TOC)
	if d.Output == presswork.EPUB { // its contents are the reader's
		contents = nil
	}

	if err := checkContents(contents); err != nil {
		return Composed{}, err
	}
	paper := d.Output != presswork.HTML && d.Output != presswork.EPUB
	placed, before := listsOf(body, o, lang, paper)
	placed[markdown.IndexPlace] = indexOf(body.Index, lang, d.Output != presswork.HTML)
	text := head.place(
		placeContents(body.Blocks, contents, placed, before, lang, isTrue(o.Cover), paper),
		body.Headings,
	)

	page := page{
		options:     o,
		theme:       theme,
		sheet:       sheet,
		meta:        meta,
		subtitle:    head.subtitle,
		date:        date,
		lang:        lang,
		upright:     body.Upright,
		rightToLeft: body.Letters.RightToLeft || head.rightToLeft() || refersRightToLeft(body.Index),
	}
	if !paper {
		page.body = webBody(text, placed, d.Output == presswork.HTML)
		if d.Output == presswork.EPUB {
			return c.book(d, page, body, page.body), nil
		}
		composed := Composed{Output: d.Output, Meta: meta, Theme: theme.Name, Warnings: body.Warnings}
		composed.Page.HTML, composed.layout = page.webDocument()

		return c.keyed(composed), nil
	}

	page.book, page.headings = bookSettingOf(o, theme, body), body.Headings
	if page.book.pages {
		page.sheet.mirror(o)
	}
	page.typeset(text, placed)

	switch {
	case page.runningHeads():
		page.chapters, _ = sectionsOf(body.Headings)
	case namesChapter(o) || len(page.text.leaves) > 0:
		page.chapters = chaptersOf(body.Headings)
	}
	composed := Composed{
		Output:     d.Output,
		Page:       printable.Page{Sheet: page.sheet.forPrinter(), Prepare: page.arrangement()},
		Meta:       meta,
		Theme:      theme.Name,
		Warnings:   body.Warnings,
		Finish:     finishOf(d, o, body, c.epoch),
		strict:     isTrue(o.Strict),
		revision:   page.revision(),
		preflight:  preflightOf(d, o, page, page.text.doubtful, body.WidestFormula),
		background: page.background(),
		footnotes:  page.footnotes(),
	}
	var names themes.Names
	composed.Page.HTML, composed.layout, names = page.html()
	composed.resolution = resolutionOf(o)
	composed.Finish.Boxes = page.sheet.boxes()
	composed.Finish.DropCaps = page.text.dropCaps

	composed.divisible, composed.parts = c.divisible(o, theme, names), body.Parts
	switch {
	case composed.divisible:
		page.body = "" // not to be remembered
		composed.text = page.text
		composed.banners, composed.top, composed.mirrored = page.banners, page.sheet.textTop(), page.sheet.mirrored
	case body.Parts > markdown.MaxParts:
		return Composed{}, tooMuchAtOnce(
			body.Parts,
			"it has a stylesheet or a theme of its own, or pages without header or footer",
		)
	}

	return c.keyed(composed), nil
}

func (c *Converter) markdownOptions(
	d Document,
	matter markdown.Matter,
	o presswork.Options,
	theme themes.Theme,
) markdown.Options {
	settings := markdown.Options{
		FirstLine:      matter.BodyLine,
		Dialect:        dialectOf(d, o),
		EscapeHTML:     o.RawHTML == "escaped",
		Lang:           o.Lang,
		Language:       guessLanguage,
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
		Substitutions:  matter.Substitutions,
		Slides:         asSlides(o) && d.Output != presswork.EPUB,
		DarkPage:       theme.Scheme == "dark" && !isTrue(o.InkSaver),
		Diagrams:       c.drawer(theme, o),
		MathTime:       c.formulas,
	}
	if o.CodeTheme == "" && ownSheets(o, theme) {
		names := sync.OnceValue(func() themes.Names { return theme.Names(sharedSheet()) })
		settings.CodeLook = func(class string) bool { return names().Class(class) }
	}

	if c.idle != nil && d.Output == presswork.PDF && !settings.Slides {
		settings.MaxParts = maxDivided
	}

	if notFalse(o.RemoteImages) {
		settings.Fetch = c.fetch
	}

	if d.outside != nil {
		return d.watched(settings)
	}

	return settings
}

// dialectOf is the dialect of a document that names it, or whose file's name does.
func dialectOf(d Document, o presswork.Options) string {
	if o.Markdown == "" && (path.Ext(d.Filename) == ".mdx" || path.Ext(d.Path) == ".mdx") {
		return markdown.MDX
	}

	return o.Markdown
}

// keyed sets the key: a digest of all that decides what the result looks like.
func (c *Converter) keyed(d Composed) Composed {
	version := ""
	if c.printer != nil {
		version = c.printer.Version()
	}
	h := sha256.New()
	// Encoding plain strings, numbers and booleans cannot fail.
	_ = json.NewEncoder(h).
		Encode([]any{engineVersion, version, d.Output, d.Page, d.Meta, d.Finish, d.strict, d.book, d.resolution})
	d.Key = hex.EncodeToString(h.Sum(nil))

	return d
}

// strictFindings makes an error of warnings.
func strictFindings(warnings []fault.Warning) error {
	const shown = 5
	var b strings.Builder

	for i, w := range warnings {
		if i == shown {
			fmt.Fprintf(&b, "; and %d more", len(warnings)-shown)
			break
		}

		if i > 0 {
			b.WriteString("; ")
		}

		if w.Line > 0 {
			fmt.Fprintf(&b, "line %d: ", w.Line)
		}
		b.WriteString(w.Message)
	}

	return fault.Errorf(fault.StrictFindings, "strict: %s", b.String())
}

// titleOf makes a title of a file name: "annual-report.md" is "annual-report".
func titleOf(filename string) string {
	base := path.Base(strings.ReplaceAll(filename, "\\", "/"))
	if base == "." || base == "/" {
		return ""
	}

	return pdffile.OneLine(strings.TrimSuffix(base, path.Ext(base)))
}
