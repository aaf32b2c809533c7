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

// bookPlan is the plan of an EPUB. Its page is the cover, to be shown as a picture.
type bookPlan struct{ book epub.Book }

// composeBook composes a document as an EPUB, whose reading system makes the contents.
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
	p.sheet = sheet.Sheet{Width: coverWidth * millimetres, Height: coverHeight * millimetres, Scale: 1}
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

// make writes the book, with a picture of its cover. Errors: the picture's,
// RenderFailed, StrictFindings (with the Warnings).
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
