package pdf

import (
	"cmp"
	_ "embed"
	"html"
	"net/url"
	"strings"
	"sync"

	"presswork"
	"presswork/internal/markdown"
	"presswork/internal/pdf/file"
	"presswork/themes"
)

// The shared sheets: typography, the machinery of the page, the elements of the
// extended syntax, and the setting of books.
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

// sharedSheet is all of them, of which a page gets what it uses.
var sharedSheet = sync.OnceValue(func() *themes.Stylesheet { return themes.ParseStylesheet(printCSS + paperCSS + syntaxCSS + bookCSS) })

// policy forbids a page that is shown elsewhere everything but showing what is in
// it, should some reference ever get past the sanitisers. The printer has its own.
const policy = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

// unseen spares the printer, whose window is one pixel wide, the layout for that
// window. In a style element of its own, so that the others need not be read anew
// for the page.
const unseen = "<style>@media (max-width:9px){body{display:none!important}}</style>\n"

// charset is the head's first element.
const charset = `<meta charset="utf-8">` + "\n"

// Standalone is the page for another program than the Printer: with a policy of
// its own that lets it fetch nothing.
func (d Composed) Standalone() string {
	return strings.Replace(d.Page.HTML, charset, charset+`<meta http-equiv="Content-Security-Policy" content="`+policy+"\">\n", 1)
}

// page is everything a document's HTML is made of.
type page struct {
	options presswork.Options
	theme   themes.Theme
	sheet   sheet
	meta    file.Meta
	lang    string
	upright bool // some letters are never slanted
	body    string
	// subtitle takes the subject's place on the cover, date is as it is shown.
	subtitle, date string
	// slides reports that the body is one of slides.
	slides bool
	// chapters are the headings whose pages must be known, for header, footer or white
	// pages before them; none when not asked for.
	chapters []markdown.Heading
	book     bookSetting
	headings []markdown.Heading
	leaves   []leaf
}

// root is the start tag of the html element.
func (p page) root() string {
	root := `<html lang="` + html.EscapeString(p.lang) + `" dir="` + markdown.Direction(p.lang) + `"`
	var classes []string
	if p.upright {
		classes = append(classes, "upright-script")
	}
	if p.runsBothWays() {
		classes = append(classes, "both-ways")
	}
	if len(classes) > 0 {
		root += ` class="` + strings.Join(classes, " ") + `"`
	}
	return root + ` data-theme="` + html.EscapeString(p.theme.Name) + `">`
}

// runsBothWays reports whether text may run from right to left somewhere. Elsewhere
// nothing is isolated from the text around it: a paragraph of isolated pieces
// takes Chromium a thirtieth longer.
func (p page) runsBothWays() bool {
	return markdown.Direction(p.lang) == "rtl" || strings.Contains(p.body, " dir=") || strings.ContainsFunc(p.body, markdown.IsRTL)
}

func (p page) html() string {
	const stylesheets = 16 << 10 // at most, in most documents
	root, content := p.root(), p.content()
	var b strings.Builder
	b.Grow(len(content) + stylesheets)
	b.WriteString("<!DOCTYPE html>\n" + root + "\n<head>\n" + charset)
	b.WriteString(`<meta name="viewport" content="width=device-width">` + "\n")
	b.WriteString("<title>" + html.EscapeString(p.meta.Title) + "</title>\n")
	shared := sharedSheet
	if p.slides {
		shared = slideSheet // they are measured in the printer's window
	} else {
		b.WriteString(unseen)
	}
	for _, sheet := range p.stylesheets(themes.NamesIn(root+content+p.arranged()), shared()) {
		if sheet = strings.TrimSpace(sheet); sheet != "" {
			b.WriteString("<style>\n" + sheet + "\n</style>\n")
		}
	}
	if p.fillsStyle() {
		b.WriteString("<style data-fill></style>\n")
	}
	b.WriteString("</head>\n" + content + "</html>\n")
	return b.String()
}

// content is the body element.
func (p page) content() string {
	var b strings.Builder
	b.Grow(len(p.body) + 4<<10)
	b.WriteString("<body")
	var classes []string
	if strings.Contains(p.body, strings.TrimSuffix(turnedStart, ">")) {
		classes = append(classes, "turns")
	}
	if p.book.text {
		classes = append(classes, "book")
	}
	if len(classes) > 0 {
		b.WriteString(` class="` + strings.Join(classes, " ") + `"`)
	}
	b.WriteString(">\n")
	if isTrue(p.options.Cover) {
		p.writeCover(&b)
	}
	p.writeAnchors(&b)
	b.WriteString("<main>\n" + p.body + "</main>\n</body>\n")
	return b.String()
}

// background is the colour of the pages.
func (p page) background() string {
	if isTrue(p.options.InkSaver) {
		return p.theme.InkSaver().Token("--base-100")
	}
	return p.theme.Token("--base-100")
}

// stylesheets lists the layers for a page that holds names, each in a style
// element of its own, so that nothing left open in one reaches the next. Of ours,
// the shared ones, it gets the rules that could match something.
func (p page) stylesheets(names themes.Names, shared *themes.Stylesheet) []string {
	theme, last := p.theme, ""
	if isTrue(p.options.InkSaver) {
		theme = p.theme.InkSaver()
		last = theme.Tokens()
	}
	code := ""
	if p.options.CodeTheme != "" {
		code, _ = markdown.CodeCSS(p.options.CodeTheme)
	}
	// Chromium lets a later @page rule win over an earlier named one, so the
	// sheet goes before the print sheet with its cover page.
	paper := p.sheet.css() + p.facing() + p.banners(thisPage, allPages) + bareCSS(names)
	if ownSheets(p.options, theme) {
		return []string{paper + theme.Fit(names, shared, p.sheet.properties()), code}
	}
	// Another's stylesheet may use any property, and set it anywhere.
	extra, _ := themes.FilterCSS(p.options.CSS)
	return []string{theme.Tokens() + p.sheet.properties().Rule() + paper, shared.Fit(names), p.theme.CSS(), last, code, extra}
}

// ownSheets reports whether all of a page's stylesheets are ours, a code theme
// left aside.
func ownSheets(o presswork.Options, theme themes.Theme) bool { return o.CSS == "" && !theme.Custom }

// A page's number and how many there are, as values of the content property, where all
// pages are printed at once.
const (
	thisPage = "counter(page)"
	allPages = "counter(pages)"
)

// banners are the header and footer as a style sheet, with a page's number and how
// many there are as such values. Without a word about them, pages are numbered at the
// foot.
func (p page) banners(number, total string) string {
	header, footer := "", p.folio()
	if p.options.HeaderText != nil {
		header = *p.options.HeaderText
	}
	if p.options.FooterText != nil {
		footer = *p.options.FooterText
	}
	head := p.bannerContent(header, p.sheet.top, number, total)
	if p.runningHeads() && len(p.chapters) > 0 && p.sheet.capacity(p.sheet.top) > 0 {
		head = "counter(page," + runningStyle + ")"
	}
	return "@page{@top-center{content:" + head + "}@bottom-center{content:" + p.bannerContent(footer, p.sheet.bottom, number, total) + "}}\n"
}

// noBanners leaves header and footer away.
const noBanners = "@page{@top-center{content:" + noContent + "}@bottom-center{content:" + noContent + "}}\n"

// folio is the footer of a page that nobody chose: its theme's, of a book the number
// alone.
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

// writeAnchors writes links to the chapters, unseen: Chromium writes the place of
// what a link points to.
func (p page) writeAnchors(b *strings.Builder) {
	if len(p.chapters) == 0 {
		return
	}
	b.WriteString("<nav hidden>")
	for _, c := range p.chapters {
		b.WriteString(`<a href="#` + url.PathEscape(c.ID) + `"></a>`)
	}
	b.WriteString("</nav>\n")
}

// writeCover writes the title page. Its title is no heading, so that outline
// and structure hold the document's own headings once.
func (p page) writeCover(b *strings.Builder) {
	line := func(class, text string) {
		if text != "" {
			b.WriteString(`<p class="` + class + `">` + html.EscapeString(text) + "</p>\n")
		}
	}
	subject := cmp.Or(p.subtitle, markdown.SetLine(file.OneLine(p.options.Subject), p.lang))
	b.WriteString(`<section class="` + coverClass(p.sheet, isTrue(p.options.InkSaver)) + `" style="` + coverStyle(p.sheet, p.meta.Title, subject) + "\">\n<div class=\"cover-head\">\n")
	line("cover-title", p.meta.Title)
	line("cover-subject", subject)
	b.WriteString("</div>\n<div class=\"cover-foot\">\n")
	line("cover-author", p.meta.Author)
	line("cover-date", p.date)
	b.WriteString("</div>\n</section>\n")
}
