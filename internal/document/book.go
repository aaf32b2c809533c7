package document

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"sync"
	"time"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document/contents"
	"presswork/internal/document/epub"
	"presswork/internal/document/sheet"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/ext/direction"
	"presswork/internal/pdffile"
	"presswork/themes"
)

//go:embed epub.css
var epubCSS string

// bookSheet returns the stylesheet of books for reading devices.
var bookSheet = sync.OnceValue(func() *themes.Stylesheet { return themes.ParseStylesheet(epubCSS) })

const (
	// The size of an EPUB cover in pixels, in the proportions that shops require.
	coverWidth, coverHeight = 1600, 2560
	pixelsPerInch           = 96 // of CSS
)

// onBookPages returns the options for a document in an EPUB. The reading system sets the colour of the pages, and most
// are white, so a dark theme becomes light.
func onBookPages(o presswork.Options, theme themes.Theme) presswork.Options {
	if theme.Scheme == "dark" {
		o.InkSaver = new(true)
	}

	return o
}

// bookPlan is the plan of an EPUB. Composed.Page is its cover, which is shown as a picture.
type bookPlan struct{ book epub.Book }

// composeBook composes a document as an EPUB. The reading system creates the table of contents.
func (c *Converter) composeBook(s source) (Composed, error) {
	blocks, placed, err := s.blocks(nil, false)
	if err != nil {
		return Composed{}, err
	}
	p, content := s.page, webBody(blocks, placed, false)

	theme := p.inkTheme()
	b := epub.Book{
		Title:         p.meta.Title,
		Lang:          cmp.Or(p.lang, "und"),
		Author:        p.meta.Author,
		Subject:       cmp.Or(p.meta.Subject, p.subtitle),
		Date:          p.meta.Date,
		Keywords:      p.meta.Keywords,
		RightToLeft:   direction.Of(p.lang) == "rtl",
		Modified:      c.bookDate(p.meta.Date),
		ContentsTitle: contents.Title(p.lang),
		CoverTitle:    p.meta.Title,
		ShowContents:  s.body.TOC || p.options.TOC != nil && *p.options.TOC > 0,
		CSS:           theme.Rules(themes.NamesIn(content), bookSheet()),
		Body:          content,
	}

	depth := presswork.Depth(contents.DefaultDepth)
	if p.options.TOC != nil && *p.options.TOC > 0 {
		depth = *p.options.TOC
	}

	for _, h := range contents.Headings(s.body, &depth) {
		b.Headings = append(b.Headings, epub.Heading{Level: h.Level, Text: contents.Label(h), ID: h.ID})
	}

	composed := s.composed()

	composed.plan = bookPlan{b}
	if notFalse(p.options.Cover) {
		composed.Page, composed.layout = p.bookCover()
	}

	return c.keyed(composed, b), nil
}

// bookDate returns the time of the last change of a book: Options.Epoch, or else the date of the document, or else
// today. Without a time of day, the same document gives the same bytes.
func (c *Converter) bookDate(day string) time.Time {
	if !c.epoch.IsZero() {
		return c.epoch
	}

	if t, err := time.Parse(time.DateOnly, day); err == nil {
		return t
	}

	return c.now().UTC().Truncate(24 * time.Hour)
}

// bookCover returns the theme's cover as a page for a picture.
func (p page) bookCover() (printable.Page, offsets) {
	const mmPerPixel = 25.4 / pixelsPerInch
	p.options.Cover, p.options.InkSaver, p.body, p.chapters = new(true), nil, "", nil
	p.options.CSS, p.options.CodeTheme = "", ""
	p.sheet = sheet.Sheet{Width: coverWidth * mmPerPixel, Height: coverHeight * mmPerPixel, Scale: 1}
	p.text, p.rightToLeft = nil, false
	p.lastStyle = "<style>html{margin:0;overflow:hidden;background:" + p.theme.Token("--cover-bg") +
		"}main{display:none}</style>\n"
	page := printable.Page{Sheet: printable.Sheet{
		Width: coverWidth / float64(pixelsPerInch), Height: coverHeight / float64(pixelsPerInch),
	}}
	var l offsets
	page.HTML, l, _ = p.html()

	return page, l
}

// make writes the book with a picture of its cover. Errors: those of Options.Picture, RenderFailed, StrictFindings
// (with the Warnings).
func (p bookPlan) make(ctx context.Context, c *Converter, d Composed) (Made, error) {
	b := p.book

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

	var found []fault.Warning

	for _, l := range left {
		name := ""
		if alt := pdffile.OneLine(l.Alt); alt != "" {
			name = fmt.Sprintf(" %q", input.Short(alt))
		}
		found = append(found, fault.Warning{
			Code:    fault.ImageFailed,
			Message: fmt.Sprintf("the image%s is left out of the book: %s", name, l.Why),
		})
	}

	warnings, err := d.judge(found)
	if err != nil {
		data = nil
	}

	return Made{Data: data, Warnings: warnings}, err
}
