package document

import (
	"context"
	_ "embed"
	"encoding/base64"
	"html"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"presswork/internal/chromium/fonts"
	"presswork/internal/document/contents"
	"presswork/internal/document/markup"
	"presswork/internal/markdown/block"
	"presswork/themes"
)

//go:embed web.css
var webCSS string

// webSheet is sharedSheet for a document that is read in a browser.
var webSheet = sync.OnceValue(func() *themes.Stylesheet {
	return themes.ParseStylesheet(printCSS + paperCSS + syntaxCSS + webCSS)
})

// webPlan is the plan of an HTML file, which is the page itself.
type webPlan struct{}

// composeWeb composes a document as an HTML file.
func (c *Converter) composeWeb(s source) (Composed, error) {
	blocks, placed, err := s.blocks(contents.Headings(s.body, s.page.options.TOC), false)
	if err != nil {
		return Composed{}, err
	}
	s.page.body = webBody(blocks, placed, true)

	return c.webPage(s, s.page), nil
}

// webPage is a composed HTML file of a page.
func (c *Converter) webPage(s source, p page) Composed {
	composed := s.composed()
	composed.plan = webPlan{}
	composed.Page.HTML, composed.layout = p.webDocument()

	return c.keyed(composed)
}

func (webPlan) make(_ context.Context, _ *Converter, d Composed) (Made, error) {
	return Made{Data: []byte(d.Page.HTML), Warnings: d.Warnings}, nil
}

// webBody writes blocks for screens. With scroll, tables can be scrolled on their own.
func webBody(blocks []block.Block, p contents.Pieces, scroll bool) string {
	var out strings.Builder
	for i := range blocks {
		writeForScreen(&out, &blocks[i], p, scroll)
		out.WriteString(blocks[i].After())
	}

	return out.String()
}

// writeForScreen writes a block without the space after it.
func writeForScreen(out *strings.Builder, b *block.Block, p contents.Pieces, scroll bool) {
	if b.Kind == block.Place {
		if list, known := p[b.Classes[0]]; known {
			for _, m := range list {
				out.WriteString(m.HTML)
			}
			p[b.Classes[0]] = nil // it stands at the first place of its kind

			return
		}
	}

	wrapped := scroll && b.Kind == block.Table
	if wrapped {
		out.WriteString(`<div class="scroll">`)
	}

	text, at := b.Element(), 0
	for i := range b.Blocks {
		within := &b.Blocks[i]
		out.WriteString(text[at:within.At])
		writeForScreen(out, within, p, scroll && !wrapped)
		at = within.At + len(within.HTML)
	}
	out.WriteString(text[at:])

	if wrapped {
		out.WriteString("</div>")
	}
}

// webHead is what the head of a file for browsers has beside the stylesheets of
// a page that is printed.
func (p page) webHead(content string, names themes.Names) string {
	var w markup.Writer
	w.Raw(policyMeta + `<meta name="referrer" content="no-referrer">` + "\n")

	keywords := strings.Join(p.meta.Keywords, ", ")
	for _, m := range [][2]string{{"author", p.meta.Author}, {"description", p.meta.Subject}, {"keywords", keywords}} {
		if m[1] != "" {
			w.Open("meta", "name", m[0], "content", m[1]).Raw("\n")
		}
	}

	return w.Raw("<style>\n" + p.webFonts(content, names) + "</style>\n").String()
}

// faceUse is which faces of a family a page shows.
type faceUse struct {
	stack   string
	weights []int
	italic  bool
}

// holdsAny reports whether a page holds one of some elements.
func holdsAny(names themes.Names, elements ...string) bool {
	return slices.ContainsFunc(elements, func(e string) bool { return names[e] })
}

// webFonts is CSS with the theme's faces that a page shows, cut to its
// characters. What no embedded face has is left to the reader's machine.
func (p page) webFonts(content string, names themes.Names) string {
	theme := p.theme

	headingWeight, err := strconv.Atoi(theme.Token("--heading-weight"))
	if err != nil {
		headingWeight = 700
	}
	body := faceUse{
		stack:   theme.Fonts.Body,
		weights: []int{400},
		italic:  holdsAny(names, "em", "i", "cite", "var", "dfn", "blockquote"),
	}

	headings := holdsAny(names, "h1", "h2", "h3", "h4", "h5", "h6")
	if headings || holdsAny(names, "strong", "b", "th", "dt", "summary") || names.Class("alert-title") ||
		names.Class("title") ||
		names.Class("authors") {
		body.weights = append(body.weights, 700)
	}

	uses := []faceUse{body}
	if headings || holdsAny(names, "hr", "header") || names.AnyClass() {
		uses = append(
			uses,
			faceUse{
				stack:   theme.Fonts.Heading,
				weights: []int{headingWeight},
				italic:  theme.Token("--heading-style") == "italic",
			},
		)
	}

	if cover := theme.Token("--font-cover"); cover != "" && isTrue(p.options.Cover) {
		uses = append(uses, faceUse{stack: cover, weights: []int{headingWeight}})
	}

	if holdsAny(names, "code", "pre", "kbd", "samp", "tt") {
		uses = append(uses, faceUse{stack: theme.Fonts.Mono, weights: []int{400}})
	}

	if names["math"] {
		uses = append(uses, faceUse{stack: "STIX Two Math", weights: []int{400}})
	}
	characters := charactersOf(p.meta.Title + content)
	var b strings.Builder
	written := map[string]bool{}

	for _, use := range uses {
		family, _, _ := strings.Cut(use.stack, ",")

		family = strings.Trim(strings.TrimSpace(family), `"'`)
		for _, face := range facesFor(fonts.FacesOf(family), use) {
			if written[face.File] {
				continue
			}

			written[face.File] = true
			if data, ok := fonts.Face(face.File); ok {
				if small, err := fonts.Subset(data, characters); err == nil && small != nil {
					b.WriteString(face.Rule(family, "data:font/woff;base64,"+base64.StdEncoding.EncodeToString(small)))
				}
			}
		}
	}

	return b.String()
}

// facesFor picks the faces a use needs: of each weight the nearest, and one
// italic.
func facesFor(faces []fonts.WebFace, use faceUse) (chosen []fonts.WebFace) {
	nearest := func(weight int, italic bool) {
		best := -1
		for i, f := range faces {
			if f.Italic == italic &&
				(best < 0 || max(f.Weight-weight, weight-f.Weight) < max(faces[best].Weight-weight, weight-faces[best].Weight)) {
				best = i
			}
		}

		if best >= 0 {
			chosen = append(chosen, faces[best])
		}
	}
	for _, weight := range use.weights {
		nearest(weight, false)
	}

	if use.italic {
		nearest(use.weights[0], true)
	}

	return chosen
}

// charactersOf lists the characters of a page's text once, with those that
// stylesheets write themselves: numbers, quotes, bullets, and capitals.
func charactersOf(content string) (list []rune) {
	seen := map[rune]bool{}

	add := func(r rune) {
		if r >= ' ' && r != unicode.ReplacementChar && !seen[r] {
			seen[r] = true
			list = append(list, r)
		}
	}
	for r := rune(' '); r <= '~'; r++ {
		add(r)
	}

	for _, r := range "\u00a0\u00ad–—‘’“”„‚«»‹›…•◦▪·×−≈→←↑↓✓☐☑†‡§¶©®™€°" {
		add(r)
	}

	for _, r := range html.UnescapeString(block.Visible(content)) {
		add(r)
		add(unicode.ToUpper(r))
	}

	return list
}

// webDocument is the page as one file for browsers, without a script and with a
// policy that lets it fetch nothing.
func (p page) webDocument() (string, layout) {
	content, _ := p.content()
	names := themes.NamesIn(content)
	root := p.root(names)
	names = names.With(themes.NamesIn(root))
	var b markup.Writer
	b.Raw("<!DOCTYPE html>\n" + root + "\n<head>\n" + charset)
	l := layout{charset: b.Len()}
	b.Raw(p.webHead(content, names) + `<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n")
	b.Element("title", p.meta.Title).Raw("\n")

	shared := webSheet
	if p.slides {
		shared = slideWebSheet
	}

	for _, sheet := range p.stylesheets(names, shared()) {
		if sheet = strings.TrimSpace(sheet); sheet != "" {
			b.Raw("<style>\n" + sheet + "\n</style>\n")
		}
	}
	b.Raw("</head>\n" + content + "</html>\n")

	return b.String(), l
}
