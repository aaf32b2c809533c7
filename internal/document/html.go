package document

import (
	"cmp"
	_ "embed"
	"html"
	"net/url"
	"strings"
	"sync"

	"presswork"
	"presswork/internal/document/arrange"
	"presswork/internal/document/cover"
	"presswork/internal/document/layout"
	"presswork/internal/document/markup"
	"presswork/internal/document/sheet"
	"presswork/internal/document/typeset"
	"presswork/internal/markdown"
	"presswork/internal/markdown/codestyle"
	"presswork/internal/markdown/ext/direction"
	"presswork/internal/markdown/ext/typography"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/pack"
	"presswork/themes"
)

// The shared stylesheets: typography, page layout, the elements of the extended syntax, and the setting of books.
var (
	//go:embed print.css
	printCSS string
	//go:embed paper.css
	paperCSS string
	//go:embed syntax.css
	syntaxCSS string
	//go:embed book.css
	bookCSS string
)

// sharedSheet has all of them, and that of the layouts. A page gets the rules that it uses.
var sharedSheet = sync.OnceValue(func() *themes.Stylesheet {
	return themes.ParseStylesheet(printCSS + paperCSS + syntaxCSS + bookCSS + layout.CSS())
})

// policy allows a page in a browser only to show its own content, in case a reference passes the sanitisers. Only
// Standalone adds it, because the printer sets its own policy.
const policy = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; base-uri 'none'; " +
	"form-action 'none'"

// unseen hides the body in the printer's window, which is one pixel wide, so that Chromium lays out the page only for
// paper. It has its own style element, so that Chromium need not parse the others again for paper.
const unseen = "<style>@media (max-width:9px){body{display:none!important}}</style>\n"

// policyMeta is the element that sets the policy.
const policyMeta = `<meta http-equiv="Content-Security-Policy" content="` + policy + "\">\n"

// charset is the head's first element.
const charset = `<meta charset="utf-8">` + "\n"

// offsets are the places of the parts of a page in its HTML, in bytes. Pairs are a start and an end.
type offsets struct {
	charset int // the end of the element with the character set
	// facing and banners are the rules of these names in the stylesheet. head is the end of the last stylesheet.
	facing, banners [2]int
	head            int
	// start is the end of the body's start tag, cover the end of the cover. main is the content of the main element.
	start, cover int
	main         [2]int
}

// page has everything of which a document's HTML consists. Each output fills it in its own way.
type page struct {
	options presswork.Options
	theme   themes.Theme
	sheet   sheet.Sheet
	meta    pack.Meta
	lang    string
	upright bool   // some letters are never slanted
	body    string // the content of the main element, as HTML
	// text describes the body as typeset for paper. It is nil for slides, covers and screens.
	text *typeset.Text
	// rightToLeft is true if some text is read from right to left.
	rightToLeft bool
	// lastStyle is a stylesheet after all others, "" for none.
	lastStyle string
	// subtitle replaces the subject on the cover. date is the displayed date.
	subtitle, date string
	// slides is true if the body consists of slides.
	slides bool
	// columns is true if the text is in two columns. parts are those of the layout.
	columns bool
	parts   layout.Parts
	// chapters are the headings whose pages must be known for the header, the footer or blank pages; otherwise
	// nil.
	chapters []markdown.Heading
	book     bookSetting
	headings []markdown.Heading // all headings of the document
}

// root returns the start tag of the html element of a page that contains names.
func (p page) root(names themes.Names) string {
	var w markup.Writer

	var classes []string
	if p.upright {
		classes = append(classes, "upright-script")
	}

	if p.runsBothWays(names) {
		classes = append(classes, "both-ways")
	}

	return w.Open(`html lang="`+html.EscapeString(p.lang)+`"`, "dir", direction.Of(p.lang),
		"class", strings.Join(classes, " "), "data-theme", p.theme.Name).String()
}

// runsBothWays reports whether some text may run from right to left. In other documents nothing is isolated from
// the text around it: isolation costs Chromium 3 % of the layout of a paragraph.
func (p page) runsBothWays(names themes.Names) bool {
	return direction.Of(p.lang) == "rtl" || names.HasAttribute("dir") || p.rightToLeft
}

// html returns the complete page, the offsets that sections need, and the names that stylesheets may refer to.
func (p page) html() (string, offsets, themes.Names) {
	const stylesheets = 16 << 10 // bytes at most, in most documents
	content, l := p.content()

	named := content
	if p.footnotes() {
		named += arrange.Elements
	}
	names := themes.NamesIn(named)
	root := p.root(names)
	names = names.Union(themes.NamesIn(root))
	var b markup.Writer
	b.Grow(len(content) + stylesheets)
	b.Raw("<!DOCTYPE html>\n" + root + "\n<head>\n" + charset)
	l.charset = b.Len()
	b.Raw(`<meta name="viewport" content="width=device-width">`+"\n").Element("title", p.meta.Title).Raw("\n")

	shared := sharedSheet
	if p.slides {
		shared = slideSheet // they are measured in the printer's window
	} else {
		b.Raw(unseen)
	}

	for i, sheet := range p.stylesheets(names, shared()) {
		if sheet = strings.TrimSpace(sheet); sheet != "" {
			b.Raw("<style>\n")

			if i == 0 {
				facing := b.Len() + len(p.rulesBefore(p.inkTheme()))
				l.facing = [2]int{facing, facing + len(p.sheet.FacingCSS(p.book.pages))}
				l.banners = [2]int{l.facing[1], l.facing[1] + len(p.banners(thisPage, allPages))}
			}
			b.Raw(sheet + "\n</style>\n")
		}
	}

	if p.fillsStyle() {
		b.Raw("<style data-fill></style>\n")
	}
	b.Raw(p.lastStyle)
	l.head = b.Len()
	b.Raw("</head>\n")
	l.start, l.cover = l.start+b.Len(), l.cover+b.Len()
	l.main = [2]int{l.main[0] + b.Len(), l.main[1] + b.Len()}
	b.Raw(content + "</html>\n")

	return b.String(), l, names
}

// content returns the body element.
func (p page) content() (string, offsets) {
	var b markup.Writer
	b.Grow(len(p.body) + 4<<10)

	var classes []string
	if p.text != nil && p.text.Turns {
		classes = append(classes, "turns")
	}

	if p.book.text {
		classes = append(classes, "book")
	}

	if name := layout.Of(p.options.As).Name; name != "" {
		classes = append(classes, name)
	}

	if p.columns {
		classes = append(classes, "two-columns")
	}

	b.Open("body", "class", strings.Join(classes, " ")).Raw("\n")

	l := offsets{start: b.Len()}
	if isTrue(p.options.Cover) {
		p.writeCover(&b)
	}
	l.cover = b.Len()
	p.writeAnchors(&b)
	b.Raw("<main>\n")
	l.main = [2]int{b.Len(), b.Len() + len(p.body)}
	b.Raw(p.body + "</main>\n</body>\n")

	return b.String(), l
}

// inkTheme returns the theme, with the changes of the option ink_saver.
func (p page) inkTheme() themes.Theme {
	if isTrue(p.options.InkSaver) {
		return p.theme.InkSaver()
	}

	return p.theme
}

// background returns the colour of the pages.
func (p page) background() string { return p.inkTheme().Token("--base-100") }

// stylesheets returns the layers for a page that contains names. Each has its own style element: an unclosed rule
// in one does not affect the next. The page gets only those shared rules that could match one of its names.
func (p page) stylesheets(names themes.Names, shared *themes.Stylesheet) []string {
	theme, last := p.inkTheme(), ""
	if isTrue(p.options.InkSaver) || theme.Changed() {
		last = theme.Tokens()
	}

	code := ""
	if p.options.CodeTheme != "" {
		code, _ = codestyle.CSS(p.options.CodeTheme)
	}
	// In Chromium a later @page rule overrides an earlier named one, so this sheet goes before the print sheet
	// with its cover page.
	paper := p.sheet.FacingCSS(p.book.pages) + p.banners(thisPage, allPages) + bareCSS(names) + p.layoutPages()
	if hasBuiltinSheets(p.options, theme) {
		return []string{p.rulesBefore(theme) + paper + theme.Fit(names, shared, p.sheet.Properties()), code}
	}
	// A custom stylesheet may use any property and set it anywhere.
	extra, _ := themes.FilterCSS(p.options.CSS)

	return []string{p.rulesBefore(theme) + paper, shared.Fit(names), p.theme.CSS(), last, code, extra}
}

// rulesBefore returns the rules before those of facing pages, header and footer.
func (p page) rulesBefore(theme themes.Theme) string {
	if hasBuiltinSheets(p.options, theme) {
		return p.sheet.CSS()
	}

	return theme.Tokens() + themes.Properties(p.sheet.Properties()).Rule() + p.sheet.CSS()
}

// hasBuiltinSheets reports whether all stylesheets of a page are built in: no custom theme, no extra stylesheet. A code
// theme does not count.
func hasBuiltinSheets(o presswork.Options, theme themes.Theme) bool {
	return o.CSS == "" && !theme.Custom
}

// Values of the content property for the number of a page and of all pages, when all pages are printed at once.
const (
	thisPage = "counter(page)"
	allPages = "counter(pages)"
)

// banners returns the header and footer as a stylesheet. number and total are values of the content property. By
// default, pages are numbered at the foot.
func (p page) banners(number, total string) string {
	header, footer := "", p.folio()
	if p.options.HeaderText != nil {
		header = *p.options.HeaderText
	}

	if p.options.FooterText != nil {
		footer = *p.options.FooterText
	}

	head := p.bannerContent(header, p.sheet.Top, number, total)
	if p.hasRunningHeads() && len(p.chapters) > 0 && bannerCapacity(p.sheet, p.sheet.Top) > 0 {
		head = "counter(page," + runningStyle + ")"
	}

	foot := p.bannerContent(footer, p.sheet.Bottom, number, total)

	return "@page{@top-center{content:" + head + "}@bottom-center{content:" + foot + "}}\n"
}

// noBanners removes header and footer.
const noBanners = "@page{@top-center{content:" + noContent + "}@bottom-center{content:" + noContent + "}}\n"

// folio returns the default footer of a page: that of its theme, or only the number for a book.
func (p page) folio() string {
	text := strings.Trim(p.theme.Token("--folio-text"), `"`)
	if text == "" || checkBanner("folio", text) != nil {
		text = "{page} / {total}"
	}

	if p.book.pages && (strings.Contains(text, "{total}") || strings.Contains(text, "{title}")) {
		text = "{page}"
	}

	return text
}

// writeAnchors writes invisible links to the chapters, because Chromium writes the places of link targets only.
func (p page) writeAnchors(b *markup.Writer) {
	if len(p.chapters) == 0 {
		return
	}
	b.Open("nav hidden")

	for _, c := range p.chapters {
		b.Element("a", "", "href", "#"+url.PathEscape(c.ID))
	}
	b.Close("nav").Raw("\n")
}

// writeCover writes the cover of the document.
func (p page) writeCover(w *markup.Writer) {
	cover.Write(w, p.sheet, isTrue(p.options.InkSaver), cover.Cover{
		Title:   p.meta.Title,
		Subject: cmp.Or(p.subtitle, typography.SetLine(pdffile.OneLine(p.options.Subject), p.lang)),
		Author:  p.meta.Author,
		Date:    p.date,
	})
}
