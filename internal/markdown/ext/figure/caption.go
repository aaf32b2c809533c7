package figure

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/markdown/tree"
)

// CaptionTables gives tables their captions: the paragraph after a table that begins with "Table:" or ":", or the
// paragraph before it that begins with "Table:".
func CaptionTables(root ast.Node, src []byte) {
	var tables []*east.Table
	tree.EachBlock(root, func(n ast.Node) {
		if t, ok := n.(*east.Table); ok {
			tables = append(tables, t)
		}
	})

	for _, t := range tables {
		captionTable(t, src)
	}
}

// captionTable gives one table its caption, unless it has one, for example from its attributes.
func captionTable(t *east.Table, src []byte) {
	if _, titled := t.FirstChild().(*tree.Caption); titled {
		return
	}

	above, _ := t.PreviousSibling().(*ast.Paragraph)
	if below, ok := t.NextSibling().(*ast.Paragraph); ok {
		// In a document with captions above tables, the paragraph below a table is the caption of the next table.
		if _, next := below.NextSibling().(*east.Table); next && above != nil && takeCaption(t, above, src, "Table:") {
			return
		}

		if takeCaption(t, below, src, "Table:", ":") {
			return
		}
	}

	if above != nil && takeCaption(t, above, src, "Table:") {
		return
	}
	// Without a blank line above the caption, goldmark parses it as the last row.
	row, ok := t.LastChild().(*east.TableRow)
	if !ok || row.PreviousSibling() == nil {
		return
	}

	first := row.FirstChild()
	for c := first.NextSibling(); c != nil; c = c.NextSibling() {
		if c.FirstChild() != nil {
			return
		}
	}

	if takeCaption(t, first, src, "Table:", ": ") {
		t.RemoveChild(t, row)
	}
}

// takeCaption moves the inline content of a block after a prefix into the caption of a table. The table gets the id and
// the classes of the block. It returns false if the content begins with none of the prefixes, or has no text after it.
func takeCaption(t *east.Table, from ast.Node, src []byte, prefixes ...string) bool {
	first, ok := from.FirstChild().(*ast.Text)
	if !ok {
		return false
	}

	value := first.Segment.Value(src)
	for _, prefix := range prefixes {
		rest, ok := bytes.CutPrefix(value, []byte(prefix))
		if !ok || strings.TrimSpace(string(tree.BlockText(from, src, 0))) == strings.TrimSpace(prefix) {
			continue
		}
		first.Segment = first.Segment.WithStart(first.Segment.Stop - len(bytes.TrimLeft(rest, " \t")))
		c := &tree.Caption{}

		tree.MoveChildren(from, c)

		if id := tree.AttributeText(from, "id"); id != "" {
			t.SetAttributeString("id", []byte(id))
		}

		if class := tree.AttributeText(from, "class"); class != "" {
			tree.AddClass(t, class)
		}

		if from.Kind() == ast.KindParagraph {
			from.Parent().RemoveChild(from.Parent(), from)
		}
		t.InsertBefore(t, t.FirstChild(), c)

		return true
	}

	return false
}
