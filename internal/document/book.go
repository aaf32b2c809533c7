package document

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"sync"
	"time"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document/epub"
	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/pdffile"
	"presswork/themes"
)

//go:embed epub.css
var epubCSS string

var bookSheet = sync.OnceValue(func() *themes.Stylesheet { return themes.ParseStylesheet(epubCSS) })

// The cover of a book, in pixels: the proportions that shops ask for.
const (
	coverWidth, coverHeight = 1600, 2560
	pixelsPerInch           = 96
)

// onBookPages are the options of a document for a book in a theme: its pages are
// the reader's, and mostly white.
func onBookPages(o presswork.Options, theme themes.Theme) presswork.Options {
	if theme.Scheme == "dark" {
		o.InkSaver = new(true)
	}

	return o
}

// book makes a book of a rendered document; its Page is the cover, to be shown
// as a picture.
func (c *Converter) book(d Document, p page, body markdown.Document, content string) Composed {
	theme := p.theme
	if isTrue(p.options.InkSaver) {
		theme = theme.InkSaver()
	}
	b := epub.Book{
		Title:         p.meta.Title,
		Lang:          cmp.Or(p.lang, "und"),
		Author:        p.meta.Author,
		Subject:       cmp.Or(p.meta.Subject, p.subtitle),
		Date:          p.meta.Date,
		Keywords:      p.meta.Keywords,
		RightToLeft:   markdown.Direction(p.lang) == "rtl",
		Modified:      c.bookDate(p.meta.Date),
		ContentsTitle: contentsTitle(p.lang),
		CoverTitle:    p.meta.Title,
		ShowContents:  body.TOC || p.options.TOC != nil && *p.options.TOC > 0,
		CSS:           theme.Rules(themes.NamesIn(content), bookSheet()),
		Body:          content,
	}

	depth := presswork.Depth(defaultDepth)
	if p.options.TOC != nil && *p.options.TOC > 0 {
		depth = *p.options.TOC
	}

	for _, h := range contentsOf(body, &depth) {
		b.Headings = append(b.Headings, epub.Heading{Level: h.Level, Text: headingLabel(h), ID: h.ID})
	}

	composed := Composed{
		Output:   d.Output,
		Meta:     p.meta,
		Theme:    p.theme.Name,
		Warnings: body.Warnings,
		strict:   isTrue(p.options.Strict),
		book:     &b,
	}
	if notFalse(p.options.Cover) {
		composed.Page, composed.layout = p.bookCover()
	}

	return c.keyed(composed)
}

// bookDate is when a book was last changed: at the document's own date, else
// today, so that the same document gives the same bytes.
func (c *Converter) bookDate(day string) time.Time {
	if !c.epoch.IsZero() {
		return c.epoch
	}

	if t, err := time.Parse(time.DateOnly, day); err == nil {
		return t
	}

	return c.now().UTC().Truncate(24 * time.Hour)
}

// bookCover is the theme's cover as a page for a picture.
func (p page) bookCover() (printable.Page, layout) {
	const millimetres = 25.4 / pixelsPerInch
	p.options.Cover, p.options.InkSaver, p.body, p.chapters = new(true), nil, "", nil
	p.options.CSS, p.options.CodeTheme = "", ""
	p.sheet = sheet{width: coverWidth * millimetres, height: coverHeight * millimetres, scale: 1}
	p.text, p.rightToLeft = nil, false
	p.lastStyle = "<style>html{margin:0;overflow:hidden;background:" + p.theme.Token(
		"--cover-bg",
	) + "}main{display:none}</style>\n"
	page := printable.Page{
		Sheet: printable.Sheet{
			Width:  coverWidth / float64(pixelsPerInch),
			Height: coverHeight / float64(pixelsPerInch),
		},
	}
	var l layout
	page.HTML, l, _ = p.html()

	return page, l
}

// makeBook writes the book, with a picture of its cover. Errors: the picture's,
// RenderFailed, StrictFindings (with the Warnings).
func (c *Converter) makeBook(ctx context.Context, d Composed) (Made, error) {
	b := *d.book
	if d.Page.HTML != "" && c.picture != nil {
		var err error
		if b.Cover, err = c.picture(ctx, d.Page); err != nil {
			return Made{}, err
		}
	}

	data, left, err := epub.Write(b)
	if err != nil {
		return Made{}, fault.Errorf(fault.RenderFailed, "the book could not be written").WithCause(err)
	}
	// What was composed may be another job's, too.
	made := Made{Data: data, Warnings: slices.Clone(d.Warnings)}

	for _, l := range left {
		name := ""
		if alt := pdffile.OneLine(l.Alt); alt != "" {
			name = fmt.Sprintf(" %q", short(alt))
		}
		made.Warnings = append(
			made.Warnings,
			fault.Warning{
				Code:    fault.ImageFailed,
				Message: fmt.Sprintf("the image%s is left out of the book: %s", name, l.Why),
			},
		)
	}

	if d.strict && len(made.Warnings) > 0 {
		return Made{Warnings: made.Warnings}, strictFindings(made.Warnings)
	}

	return made, nil
}
