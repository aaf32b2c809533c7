package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"presswork/internal/markdown/tree"
)

// readTag reads a tag in running text.
func (r *outliner) readTag(raw []byte) {
	z := html.NewTokenizer(bytes.NewReader(raw))
	if z.Next() != html.EndTagToken {
		r.takeTag(z)
	}
}

// takeTag adds the line break, address or image of the tokenizer's current tag to the block. It returns the element.
func (r *outliner) takeTag(z *html.Tokenizer) atom.Atom {
	name, more := z.TagName()

	tag := atom.Lookup(name)
	switch tag {
	case atom.Br:
		r.text.WriteString(LineSeparator)
	case atom.A:
		r.addAddress([]byte(attributes(z, more, "href")))
	case atom.Img:
		r.cur.Images = append(r.cur.Images, attributes(z, more, "src", "alt"))
	}

	return tag
}

// attributes returns the values of the named attributes of the current tag, in their order in the source, with spaces
// between them. more reports whether the tag has attributes.
func attributes(z *html.Tokenizer, more bool, names ...string) string {
	var words []string

	for more {
		var key, value []byte
		if key, value, more = z.TagAttr(); slices.Contains(names, string(key)) {
			words = append(words, string(value))
		}
	}

	return strings.Join(words, " ")
}

// readHTML reads a block of HTML: each run of text becomes a paragraph or a heading. Code, styles and drawings are
// skipped. HTMLLines gets the lines that hold no text.
func (r *outliner) readHTML(n *ast.HTMLBlock) {
	raw, lines := tree.HTMLText(n, r.src), n.Lines().Len()
	if n.HasClosure() {
		lines++
	}
	level, hidden := 0, 0 // the level of the heading that is open; the open elements whose content is not text
	next := func() {
		if len(bytes.TrimSpace(r.text.Bytes())) > 0 || len(r.cur.Images) > 0 || len(r.cur.Addresses) > 0 {
			if r.cur.Level = level; level > 0 {
				r.cur.Kind = HeadingBlock
			}
			r.endBlock()
			lines -= strings.Count(r.cur.Text, "\n") + min(len(r.cur.Text), 1)
		}
		r.beginBlock(Block{})
	}
	r.beginBlock(Block{})

	for z := html.NewTokenizer(bytes.NewReader(raw)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			next()
			r.out.HTMLLines += max(lines, 0)

			return
		case html.TextToken:
			if hidden == 0 {
				r.text.Write(bytes.TrimLeft(z.Text(), "\n"))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if tag := r.takeTag(z); isSkipped(tag) {
				hidden++
			} else if !isInline(tag) {
				next()
				level = headingLevel(tag)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if tag := atom.Lookup(name); isSkipped(tag) {
				hidden = max(hidden-1, 0)
			} else if !isInline(tag) {
				next()
				level = 0
			}
		}
	}
}

// isSkipped reports whether the outline skips the content of an element: code, scripts, styles and drawings.
func isSkipped(tag atom.Atom) bool {
	switch tag {
	case atom.Pre, atom.Script, atom.Style, atom.Svg:
		return true
	}

	return false
}

// isInline reports whether an element is part of running text. Unknown elements are.
func isInline(tag atom.Atom) bool {
	switch tag {
	case atom.P,
		atom.Div,
		atom.Center,
		atom.Section,
		atom.Article,
		atom.Header,
		atom.Footer,
		atom.Details,
		atom.Summary,
		atom.Hr,
		atom.Ul,
		atom.Ol,
		atom.Li,
		atom.Dl,
		atom.Dt,
		atom.Dd,
		atom.Table,
		atom.Tr,
		atom.Td,
		atom.Th,
		atom.Blockquote,
		atom.Figure,
		atom.Figcaption:
		return false
	}

	return headingLevel(tag) == 0
}

// headingLevel returns the level of a heading, 0 for other elements.
func headingLevel(tag atom.Atom) int {
	for i, h := range []atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6} {
		if tag == h {
			return i + 1
		}
	}

	return 0
}
