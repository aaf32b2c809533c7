package markdown

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/dialect/quarto"
	"presswork/internal/markdown/ext/typography"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/numbering"
	"presswork/internal/markdown/tree"
)

// rawTitle matches a heading of level 1 in raw HTML.
var rawTitle = lazyregexp.New(`(?i)<h1[\s>]`)

// addTitle puts Options.Title above a document without a level-1 heading. It returns src with the title appended,
// because the text of a node is a range of the source. It does not change the caller's array.
func addTitle(root ast.Node, src []byte, o *Options) []byte {
	title := typography.SetLine(strings.Join(strings.Fields(o.Title), " "), o.Lang)
	if title == "" || hasTitle(root, src, !o.EscapeHTML) {
		return src
	}
	end := len(src)
	src = append(src[:end:end], title...)
	words := ast.NewTextSegment(text.NewSegment(end, len(src)))
	words.SetRaw(true)
	h := ast.NewHeading(1)
	h.AppendChild(h, words)
	root.InsertBefore(root, root.FirstChild(), h)

	return src
}

// hasTitle reports whether a document has a level-1 heading in Markdown or, if inHTML is set, in raw HTML.
func hasTitle(root ast.Node, src []byte, inHTML bool) (found bool) {
	_ = ast.Walk(root, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Heading:
			found = n.Level == 1
		case *ast.HTMLBlock:
			found = inHTML && rawTitle().Match(tree.BlockText(n, src, 0))
		case *ast.RawHTML:
			found = inHTML && rawTitle().Match(n.Segments.Value(src))
		}

		if found {
			return ast.WalkStop, nil
		}

		return ast.WalkContinue, nil
	})

	return found
}

// headingsOf returns the headings of a document in order.
func headingsOf(root ast.Node) []*ast.Heading {
	var nodes []*ast.Heading
	tree.EachBlock(root, func(n ast.Node) {
		if h, ok := n.(*ast.Heading); ok {
			nodes = append(nodes, h)
		}
	})

	return nodes
}

// anchorHeadings gives every heading its anchor and adds it to the outline, with its number if headings
// are numbered. It returns the headings in the order of the outline.
func (p *parserState) anchorHeadings(root ast.Node) []*ast.Heading {
	nodes := headingsOf(root)

	ids := make(anchors, len(nodes))
	for _, h := range nodes { // the author's ids stay as they are; generated ones get a number if they are equal
		if id := tree.AttributeText(h, "id"); id != "" {
			h.SetAttributeString("id", []byte(ids.unique(id)))
		}
	}
	aliasLabelled(nodes, p.src, p.aliases)
	numbers := numbering.New(nodes, p.src, p.options.Sections)
	previous := 0

	for _, h := range nodes {
		words := headingText(h, p.src)

		line := p.warnings.lines.At(h.Pos())
		if previous > 0 && h.Level > previous+1 {
			p.warnings.onLine(line, fault.HeadingSkipped,
				fmt.Sprintf("heading %q is at level %d, right under level %d", input.Short(words), h.Level, previous))
		}
		previous = h.Level

		id := tree.AttributeText(h, "id")
		if id == "" {
			id = ids.add(tree.AnchorText(h, p.src))
			h.SetAttributeString("id", []byte(id))
		}

		number := numbers.Next(h)
		if !p.options.NumberHeadings {
			number = ""
		}
		p.out.Headings = append(p.out.Headings,
			Heading{Level: h.Level, Number: number, Text: words, ID: id, Line: line})
	}

	p.out.Sections = numbers.Sections

	return nodes
}

// aliasLabelled adds the anchors that headings would have without a label of MyST to the aliases: links may use
// either name. aliases is nil in a document without such labels.
func aliasLabelled(nodes []*ast.Heading, src []byte, aliases map[string]string) {
	if aliases == nil {
		return
	}

	for _, h := range nodes {
		id := tree.AttributeText(h, "id")
		if label.KindOf(id) != Section {
			continue
		}

		if slug := slugOf(tree.AnchorText(h, src)); aliases[slug] == "" && slug != id {
			aliases[slug] = id
		}
	}
}

// finishHeadings updates the outline to the texts as they are printed, with typographic quotes and resolved
// references. It writes the numbers into the headings, followed by an en space.
func finishHeadings(nodes []*ast.Heading, src []byte, outline []Heading) {
	for i, h := range nodes {
		outline[i].Text = headingText(h, src)
		if number := outline[i].Number; number != "" {
			h.InsertBefore(h, h.FirstChild(), ast.NewString([]byte(number+"\u2002")))
		}
	}
}

// headingText returns the text of a heading on one line.
func headingText(h *ast.Heading, src []byte) string {
	return strings.Join(strings.Fields(tree.PlainText(h, src)), " ")
}

// slugOf returns the anchor that GitHub gives to a heading: lower case, with spaces as dashes. It keeps
// letters and digits of any script, - and _.
func slugOf(heading string) string {
	var b strings.Builder

	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '-', r == '_':
			b.WriteRune(r)
		}
	}

	if b.Len() == 0 {
		return "section"
	}

	return b.String()
}

// anchors holds the anchors of a document. The value is the highest number that unique has appended to the anchor.
type anchors map[string]int

// add returns a unique anchor for a heading.
func (a anchors) add(heading string) string { return a.unique(slugOf(heading)) }

// unique returns base, or base-1, base-2 and so on if other headings have it, and marks the result as taken.
func (a anchors) unique(base string) string {
	id := base
	for {
		n, taken := a[id]
		if !taken {
			a[id] = 0
			return id
		}
		// The count is kept at base, so that 1000 equal headings take 1000 steps, not a million.
		n = max(n, a[base]) + 1
		a[base] = n
		id = base + "-" + strconv.Itoa(n)
	}
}

// placeInBook gives headings their levels and classes in a book. It does nothing without Options.Shift and
// Options.BookPart.
func placeInBook(root ast.Node, o *Options) {
	if o.Shift == 0 && !o.BookPart {
		return
	}

	for _, h := range headingsOf(root) {
		if o.BookPart && h.Level == 1 {
			tree.AddClass(h, quarto.PartClass)
			tree.AddClass(h, tree.Unnumbered)
		}
		h.Level = min(h.Level+o.Shift, 6)
	}
}
