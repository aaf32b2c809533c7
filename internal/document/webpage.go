package document

import (
	"context"
	_ "embed"
	"strings"
	"sync"

	"presswork/internal/document/contents"
	"presswork/internal/document/layout"
	"presswork/internal/document/markup"
	"presswork/internal/document/webfont"
	"presswork/internal/markdown/block"
	"presswork/themes"
)

//go:embed web.css
var webCSS string

// webSheet is sharedSheet for documents in a browser.
var webSheet = sync.OnceValue(func() *themes.Stylesheet {
	return themes.ParseStylesheet(printCSS + paperCSS + syntaxCSS + layout.CSS() + webCSS)
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

// webPage returns the composed HTML file of a page.
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
			p[b.Classes[0]] = nil // further places of the class stay empty

			return
		}
	}

	wrapped := scroll && b.Kind == block.Table
	if wrapped {
		out.WriteString(`<div class="scroll">`)
	}

	text, at := b.Element(), 0
	for i := range b.Blocks {
		inner := &b.Blocks[i]
		out.WriteString(text[at:inner.At])
		writeForScreen(out, inner, p, scroll && !wrapped)
		at = inner.At + len(inner.HTML)
	}
	out.WriteString(text[at:])

	if wrapped {
		out.WriteString("</div>")
	}
}

// webHead returns the additional elements in the head of a file for browsers.
func (p page) webHead(content string, names themes.Names) string {
	var w markup.Writer
	w.Raw(policyMeta + `<meta name="referrer" content="no-referrer">` + "\n")

	keywords := strings.Join(p.meta.Keywords, ", ")
	for _, m := range [][2]string{{"author", p.meta.Author}, {"description", p.meta.Subject}, {"keywords", keywords}} {
		if m[1] != "" {
			w.Open("meta", "name", m[0], "content", m[1]).Raw("\n")
		}
	}

	return w.Raw("<style>\n" + webfont.CSS(p.theme, names, p.meta.Title+content, isTrue(p.options.Cover)) + "</style>\n").
		String()
}

// webDocument returns the page as one file for browsers. It has no script, and its policy lets it load nothing.
func (p page) webDocument() (string, offsets) {
	content, _ := p.content()
	names := themes.NamesIn(content)
	root := p.root(names)
	names = names.Union(themes.NamesIn(root))
	var b markup.Writer
	b.Raw("<!DOCTYPE html>\n" + root + "\n<head>\n" + charset)
	l := offsets{charset: b.Len()}
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
