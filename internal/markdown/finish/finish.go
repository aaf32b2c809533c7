// Package finish is the last pass over sanitised HTML. It embeds images, formulas and diagrams, inserts soft hyphens,
// counts what the browser has to lay out, and checks links within the document. HTML first loads all images, a few at
// a time, then reads the HTML token by token and writes the result.
package finish

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/hyphen"
	"presswork/internal/markdown/tree"
)

// Options are the settings and the data of one document.
type Options struct {
	// Asset opens an image by the clean path in the Markdown, which may leave the document's folder. Nil: the document
	// has no files. A StoreUnavailable error ends the pass, any other becomes a warning. Asset and Fetch are called from
	// several goroutines at once.
	Asset func(name string) ([]byte, error)
	// Fetch downloads an http(s) image. Nil: remote images are left out.
	Fetch func(ctx context.Context, url string) (data []byte, contentType string, err error)
	// DarkPage reports whether the page is dark. Dark drawings on a transparent background then get the class
	// image-plate, for a light background.
	DarkPage bool
	// MaxParts bounds the parts of the document. Default: the constant MaxParts.
	MaxParts int
	// Words divides long words with soft hyphens. Nil: words are not divided.
	Words *hyphen.Dictionary
	// Justified reports whether the text is justified. Shorter words are then divided as well.
	Justified bool
	// Outline holds the ids of the headings. Other elements lose such an id.
	Outline map[string]bool
	// Links are the links into the document itself.
	Links []Link
	// Pages holds the relative addresses that links keep. Links lose other relative addresses: they mean nothing on
	// paper.
	Pages map[string]bool
	// Embeds holds the pieces that replace elements with tree.EmbedAttribute.
	Embeds *tree.Embeds
	// Lines reports whether elements keep their source lines, the attribute tree.LineAttribute.
	Lines bool
	// LineOf returns the source line of a text, 0 if the source does not contain it.
	LineOf func(text []byte) int
}

// Link is a link into the document itself.
type Link struct {
	// Target is the id that the link leads to.
	Target string
	// Line is the source line of the link, from 1.
	Line int
}

// Result is finished HTML.
type Result struct {
	// HTML loads nothing: its images are data URIs.
	HTML string
	// Parts is the size of the document, as MaxParts counts it.
	Parts    int
	Warnings []fault.Warning
}

// pass is one pass over a document.
type pass struct {
	Options

	images   *images
	out      strings.Builder
	ids      map[string]bool // of the elements that are written
	warnings []fault.Warning
}

// HTML finishes sanitised HTML: images become data URIs, links that lead nowhere on paper lose
// their target, ids become unique, and details are open. Errors: ContentTooComplex,
// StoreUnavailable from Asset, the cause of ctx.
func HTML(ctx context.Context, safe []byte, o Options) (Result, error) {
	p := &pass{Options: o, ids: map[string]bool{}}

	err := p.loadImages(ctx, safe)
	if err != nil {
		return Result{}, err
	}
	p.out.Grow(len(safe) + p.images.size())
	texts := textWriter{out: &p.out, words: o.Words, justified: o.Justified}
	var parts cost

	z := html.NewTokenizer(bytes.NewReader(safe))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		raw := z.Raw()
		texts.tag(kind, raw)

		if kind == html.TextToken {
			if err := p.checkText(raw); err != nil {
				return Result{}, err
			}
			texts.write(raw)
			parts.pieces++

			continue
		}

		if bytes.Equal(raw, []byte("</pre>")) {
			parts.endBlock()
			parts.inCode = false
		}

		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			p.out.Write(raw)
			continue
		}
		parts.tag(raw)

		// A tag without attributes needs no parsing, except details, which is opened.
		if bytes.IndexByte(raw, ' ') < 0 && !bytes.HasPrefix(raw, []byte("<details")) {
			p.out.Write(raw)
			continue
		}

		token := z.Token()
		if piece, ok := o.Embeds.Take(attribute(token, tree.EmbedAttribute)); ok {
			parts.embed(piece)
			p.out.WriteString(piece)

			continue
		}
		p.writeTag(token)
	}

	if err := parts.check(cmp.Or(o.MaxParts, MaxParts)); err != nil {
		return Result{}, err
	}
	p.checkLinks()

	return Result{HTML: p.out.String(), Parts: parts.parts(), Warnings: p.warnings}, nil
}

// writeTag writes a start tag with the attributes that mean something in print. Of equal ids, it keeps the first.
func (p *pass) writeTag(token html.Token) {
	token.Attr = keepAttributes(token.Attr, func(a html.Attribute) bool {
		if a.Key == tree.LineAttribute && token.DataAtom != atom.Img {
			return p.Lines
		}

		if a.Key != "id" && (a.Key != "name" || token.DataAtom != atom.A) {
			return true
		}
		// The outline finds headings by their ids: no earlier element may have one of them.
		if p.Outline[a.Val] && a.Key == "id" && !isHeading(token.DataAtom) {
			return false
		}
		first := !p.ids[a.Val] || a.Key == "name"
		p.ids[a.Val] = true

		return first
	})

	switch token.DataAtom {
	case atom.Img:
		p.out.WriteString(p.renderImage(token))
		return
	case atom.A:
		token.Attr = keepAttributes(
			token.Attr,
			func(a html.Attribute) bool { return a.Key != "href" || isPrintableLink(a.Val) || p.Pages[a.Val] },
		)
	case atom.Details:
		token.Attr = append(
			keepAttributes(token.Attr, func(a html.Attribute) bool { return a.Key != "open" }),
			html.Attribute{Key: "open"},
		)
	}
	p.out.WriteString(token.String())
}

// isHeading reports whether an element is h1 to h6.
func isHeading(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}

	return false
}

// isPrintableLink reports whether an address means something in a PDF: a fragment, a web address, or an address for
// mail or telephone.
func isPrintableLink(href string) bool {
	lower := strings.ToLower(href)
	for _, prefix := range []string{"#", "http://", "https://", "mailto:", "tel:"} {
		if strings.HasPrefix(lower, prefix) && len(lower) > len(prefix) {
			return true
		}
	}

	return false
}

// checkLinks warns of links to missing anchors, once for each anchor.
func (p *pass) checkLinks() {
	times := map[string]int{} // the number of links to each anchor, 0 after its warning
	for _, l := range p.Links {
		times[l.Target]++
	}

	for _, l := range p.Links {
		n := times[l.Target]
		if n == 0 || p.ids[l.Target] || l.Target == "top" {
			continue
		}
		times[l.Target] = 0

		again := ""
		if n > 1 {
			again = fmt.Sprintf(" (%d times)", n)
		}
		p.warn(fault.LinkBroken, l.Line,
			fmt.Sprintf("link to %q%s, but nothing in the document has that anchor", input.Short("#"+l.Target), again))
	}
}

// warn adds a warning about a source line.
func (p *pass) warn(code fault.WarningCode, line int, message string) {
	p.warnings = append(p.warnings, fault.Warning{Code: code, Message: message, Line: line})
}

// keepAttributes returns the attributes for which keep returns true. It reuses attrs.
func keepAttributes(attrs []html.Attribute, keep func(html.Attribute) bool) []html.Attribute {
	kept := attrs[:0]
	for _, a := range attrs {
		if keep(a) {
			kept = append(kept, a)
		}
	}

	return kept
}

// attribute returns the value of an attribute, "" without it.
func attribute(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}

	return ""
}

// lineOf returns the source line that an image carries, 0 without one.
func lineOf(t html.Token) int {
	n, _ := strconv.Atoi(attribute(t, tree.LineAttribute))

	return n
}
