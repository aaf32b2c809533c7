package markdown

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/ext/typography"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/tree"
)

var rawTitle = regexp.MustCompile(`(?i)<h1[\s>]`)

// addTitle puts the title above a text without a level-1 heading. Nodes are made
// of places in the source, so its words are put after the source's end.
func (d *draft) addTitle(root ast.Node) {
	title := typography.SetLine(strings.Join(strings.Fields(d.options.Title), " "), d.options.Lang)
	if title == "" || d.titled(root) {
		return
	}
	end := len(d.src)
	d.src = append(d.src[:end:end], title...)
	words := ast.NewTextSegment(text.NewSegment(end, len(d.src)))
	words.SetRaw(true)
	h := ast.NewHeading(1)
	h.AppendChild(h, words)
	root.InsertBefore(root, root.FirstChild(), h)
}

// titled reports whether the text has a level-1 heading, of Markdown or of HTML.
// One in an example of code is none.
func (d *draft) titled(root ast.Node) (found bool) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Heading:
			found = n.Level == 1
		case *ast.HTMLBlock:
			found = !d.options.EscapeHTML && rawTitle.Match(tree.BlockText(n, d.src, 0))
		case *ast.RawHTML:
			found = !d.options.EscapeHTML && rawTitle.Match(n.Segments.Value(d.src))
		}

		if found {
			return ast.WalkStop, nil
		}

		return ast.WalkContinue, nil
	})

	return found
}

// anchorHeadings gives every heading its anchor and, if asked, its number, and
// notes the outline. The headings it returns are those of d.headings.
func (d *draft) anchorHeadings(root ast.Node) []*ast.Heading {
	var nodes []*ast.Heading
	tree.EachBlock(root, func(n ast.Node) {
		if h, ok := n.(*ast.Heading); ok {
			nodes = append(nodes, h)
		}
	})

	ids := make(anchors, len(nodes))
	for _, h := range nodes { // ids of the author's choice come first
		if id := tree.AttributeText(h, "id"); id != "" {
			h.SetAttributeString("id", []byte(ids.unique(id)))
		}
	}

	for _, h := range nodes { // a label of MyST leaves the other name
		if id := tree.AttributeText(h, "id"); d.aliases != nil && label.KindOf(id) == Section {
			if slug := (anchors{}).name(tree.AnchorText(h, d.src)); d.aliases[slug] == "" && slug != id {
				d.aliases[slug] = id
			}
		}
	}
	numbers := newNumbering(nodes, d.options.Chapter)
	previous := 0

	for _, h := range nodes {
		words := headingText(h, d.src)

		line := d.lines.At(h.Pos())
		if previous > 0 && h.Level > previous+1 {
			d.warn(
				fault.HeadingSkipped,
				line,
				fmt.Sprintf("heading %q is at level %d, right under level %d", input.Short(words), h.Level, previous),
			)
		}
		previous = h.Level

		id := tree.AttributeText(h, "id")
		if id == "" {
			id = ids.name(tree.AnchorText(h, d.src))
			h.SetAttributeString("id", []byte(id))
		}

		number := ""
		if d.options.NumberHeadings && !tree.HasClass(h, tree.Unnumbered) {
			number = numbers.next(h.Level)
		}
		d.headings = append(d.headings, Heading{Level: h.Level, Number: number, Text: words, ID: id, Line: line})
	}

	return nodes
}

// finishHeadings takes the text as it is printed, and writes the numbers.
func (d *draft) finishHeadings(nodes []*ast.Heading) {
	for i, h := range nodes {
		d.headings[i].Text = headingText(h, d.src)
		if number := d.headings[i].Number; number != "" {
			h.InsertBefore(h, h.FirstChild(), ast.NewString([]byte(number+"\u2002")))
		}
	}
}

func headingText(h *ast.Heading, src []byte) string {
	return strings.Join(strings.Fields(tree.PlainText(h, src)), " ")
}

// anchors makes ids as GitHub does: lower case, letters, digits, - and _ of
// any script kept, spaces to dashes, repeats numbered.
type anchors map[string]int

func (a anchors) name(heading string) string {
	var b strings.Builder

	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '-', r == '_':
			b.WriteRune(r)
		}
	}

	base := b.String()
	if base == "" {
		base = "section"
	}

	return a.unique(base)
}

// unique returns an id that no other heading has.
func (a anchors) unique(base string) string {
	id := base
	for {
		n, taken := a[id]
		if !taken {
			a[id] = 0
			return id
		}
		// The count is kept on the base, so that a thousand equal headings
		// cost a thousand steps.
		n = max(n, a[base]) + 1
		a[base] = n
		id = base + "-" + strconv.Itoa(n)
	}
}

// numbering counts headings from the level below a single leading title.
type numbering struct {
	top    int
	counts [7]int
}

func newNumbering(nodes []*ast.Heading, chapter int) *numbering {
	if chapter > 0 {
		return &numbering{top: 1, counts: [7]int{1: chapter - 1}}
	}
	titles, top := 0, 6

	for _, h := range nodes {
		if h.Level == 1 {
			titles++
		}
		top = min(top, h.Level)
	}

	if titles == 1 && nodes[0].Level == 1 {
		top = 2
	}

	return &numbering{top: top}
}

// next returns the number of the next heading at level, "" for the title.
func (n *numbering) next(level int) string {
	if level < n.top {
		return ""
	}
	n.counts[level]++
	clear(n.counts[level+1:])

	parts := make([]string, 0, 6)
	for l := n.top; l <= level; l++ {
		parts = append(parts, strconv.Itoa(n.counts[l]))
	}

	return strings.Join(parts, ".")
}
