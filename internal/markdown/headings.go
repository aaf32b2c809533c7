package markdown

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork"
)

// anchorHeadings gives every heading its anchor and, if asked, its number, and
// notes the outline.
func (d *draft) anchorHeadings(root ast.Node) {
	var nodes []*ast.Heading
	eachBlock(root, func(n ast.Node) {
		if h, ok := n.(*ast.Heading); ok {
			nodes = append(nodes, h)
		}
	})
	ids := make(anchors, len(nodes))
	numbers := newNumbering(nodes)
	previous := 0
	for _, h := range nodes {
		text := strings.Join(strings.Fields(plainText(h, d.src)), " ")
		line := d.lines.at(h.Pos())
		id := ids.name(text)
		if previous > 0 && h.Level > previous+1 {
			d.warn(presswork.HeadingSkipped, line, fmt.Sprintf("heading %q is at level %d, right under level %d", clip(text), h.Level, previous))
		}
		previous = h.Level
		if number := numbers.next(h.Level); d.options.NumberHeadings && number != "" {
			h.InsertBefore(h, h.FirstChild(), ast.NewString([]byte(number+"\u2002")))
			text = number + " " + text
		}
		h.SetAttributeString("id", []byte(id))
		d.headings = append(d.headings, Heading{Level: h.Level, Text: text, ID: id, Line: line})
	}
}

// anchors makes ids as GitHub does: lower case, letters, digits, - and _ of
// any script kept, spaces to dashes, repeats numbered.
type anchors map[string]int

func (a anchors) name(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
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

func newNumbering(nodes []*ast.Heading) *numbering {
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

// plainText is what a reader sees of a node's inline content.
func plainText(n ast.Node, src []byte) string {
	var b bytes.Buffer
	eachNode(n, func(c ast.Node) {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Value(src))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(src))
		case *east.FootnoteLink:
		}
	})
	return b.String()
}

// clip shortens text for a message.
func clip(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
