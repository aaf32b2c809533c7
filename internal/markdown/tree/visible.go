package tree

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"
)

// maxProse is the length in bytes after which VisibleText stops: enough to detect a language.
const maxProse = 20_000

// VisibleText returns the text that a reader sees, about the first 20 000 bytes of it: no code,
// addresses, formulas or tags.
func VisibleText(root ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if b.Len() > maxProse {
			return ast.WalkStop, nil
		}

		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte('\n')
			}

			return ast.WalkContinue, nil
		}

		switch n := n.(type) {
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			writeWords(&b, n.Segment.Value(src))

			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.String:
			writeWords(&b, n.Value)
		case *ast.HTMLBlock:
			writeHTMLText(&b, BlockText(n, src, 0))
		}

		return ast.WalkContinue, nil
	})

	return b.String()
}

// writeWords writes text without the addresses in it.
func writeWords(b *strings.Builder, text []byte) {
	if !bytes.Contains(text, []byte("://")) {
		b.Write(text)
		return
	}

	for word := range bytes.FieldsSeq(text) {
		if !bytes.Contains(word, []byte("://")) {
			b.Write(word)
			b.WriteByte(' ')
		}
	}
}

// writeHTMLText writes the text of raw HTML, without that of code, scripts and styles.
func writeHTMLText(b *strings.Builder, raw []byte) {
	hidden := 0 // the number of open elements whose text is not read

	for z := html.NewTokenizer(bytes.NewReader(raw)); ; {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return
		case html.TextToken:
			if hidden == 0 {
				writeWords(b, z.Raw())
				b.WriteByte('\n')
			}
		case html.StartTagToken, html.EndTagToken:
			tag, _ := z.TagName()
			if bytes.Contains([]byte(" code pre script style kbd samp "), []byte(" "+string(tag)+" ")) {
				if kind == html.StartTagToken {
					hidden++
				} else {
					hidden = max(hidden-1, 0)
				}
			}
		}
	}
}
