// Package sanitize makes the raw HTML of documents safe. Escape or RawHTML changes the parsed document: Escape turns
// all raw HTML into text, RawHTML only what would break the page. Later, a Policy, the allow-list, cleans the finished
// page.
package sanitize

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/ext/emoji"
	"presswork/internal/markdown/tree"
)

// Escape turns all raw HTML into text.
func Escape(root ast.Node) {
	var raw []ast.Node
	tree.Each(root, func(n ast.Node) {
		switch n.(type) {
		case *ast.RawHTML, *ast.HTMLBlock:
			raw = append(raw, n)
		}
	})

	for _, n := range raw {
		rawToText(n)
	}
}

// rawToText replaces a node of raw HTML by its source as text.
func rawToText(node ast.Node) {
	switch n := node.(type) {
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			n.Parent().InsertBefore(n.Parent(), n, ast.NewRawTextSegment(n.Segments.At(i)))
		}
		n.Parent().RemoveChild(n.Parent(), n)
	case *ast.HTMLBlock:
		p := ast.NewParagraph()

		lines := n.Lines().Sliced(0, n.Lines().Len())
		if n.HasClosure() {
			lines = append(lines, n.ClosureLine)
		}

		for _, s := range lines {
			p.AppendChild(p, ast.NewRawTextSegment(s))
		}
		tree.Replace(n, p)
	}
}

// isBalanced reports whether raw HTML has a start tag for each end tag of a dropped element, and the reverse. The
// sanitiser counts these tags through the document and ignores their names, so one tag too many would remove the rest
// of the document.
func isBalanced(raw []byte) bool {
	depth, unread := 0, "" // unread is the open element whose content is not HTML

	for z := html.NewTokenizer(bytes.NewReader(raw)); ; {
		kind := z.Next()
		if kind == html.ErrorToken { // the end, possibly within a tag
			return depth == 0 && unread == "" && !droppedTag().Match(bytes.ToLower(z.Raw()))
		}

		if kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		tag, _ := z.TagName()
		name := string(tag)
		// The sanitiser removes scripts and styles without counting them.
		isCounted := name != "script" && name != "style" && slices.Contains(tree.DroppedElements(), name)

		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			if isUnread(name) {
				unread = name
			}

			if isCounted && kind == html.StartTagToken {
				depth++
			}
		case html.EndTagToken:
			if name == unread {
				unread = ""
			}

			if isCounted {
				depth--
			}
		}

		if depth < 0 {
			return false
		}
	}
}

// isUnread reports whether an HTML tokenizer takes the content of an element, up to its end tag, as text.
func isUnread(element string) bool {
	switch element {
	case "iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp":
		return true
	}

	return false
}

// droppedTag matches the start of a tag of a dropped element in lower-case HTML.
var droppedTag = lazyregexp.New(`</?(` + strings.Join(tree.DroppedElements(), "|") + `)\b`)

// RawHTML turns unbalanced raw HTML into text, because the sanitiser would remove what follows it: "use the <script>
// tag" must not end the document. In the other raw HTML it removes the reserved classes and replaces emoji shortcodes.
func RawHTML(root ast.Node, src []byte) {
	var unbalanced []ast.Node
	tree.Each(root, func(n ast.Node) {
		if h, ok := n.(*ast.HTMLBlock); ok {
			raw := tree.HTMLText(h, src)
			if droppedTag().Match(bytes.ToLower(raw)) && !isBalanced(raw) {
				unbalanced = append(unbalanced, h)
			}

			return
		}
		// goldmark parses each tag in a paragraph as a node of its own, so all tags of the paragraph count together.
		var pieces []ast.Node
		var raw []byte

		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			r, ok := c.(*ast.RawHTML)
			if !ok {
				continue
			}

			piece := r.Segments.Value(src)
			if droppedTag().Match(bytes.ToLower(piece)) {
				pieces = append(pieces, r)
			}
			raw = append(raw, piece...)
		}

		if len(pieces) > 0 && !isBalanced(raw) {
			unbalanced = append(unbalanced, pieces...)
		}
	})

	for _, n := range unbalanced {
		rawToText(n)
	}
	rewrite(root, src)
}

// rewrite removes the classes that the style sheet reserves, and replaces emoji shortcodes in blocks of HTML, whose
// text goldmark does not parse.
func rewrite(root ast.Node, src []byte) {
	var raw []ast.Node
	tree.Each(root, func(n ast.Node) {
		if n.Kind() == ast.KindRawHTML || n.Kind() == ast.KindHTMLBlock {
			raw = append(raw, n)
		}
	})

	for _, node := range raw {
		switch n := node.(type) {
		case *ast.RawHTML:
			tag := n.Segments.Value(src)
			if clean := tree.StripReservedClasses(tag); !bytes.Equal(clean, tag) {
				s := ast.NewString(clean)
				s.SetCode(true)
				tree.Replace(n, s)
			}
		case *ast.HTMLBlock:
			block := tree.HTMLText(n, src)
			if clean := emoji.InHTML(tree.StripReservedClasses(block)); !bytes.Equal(clean, block) {
				tree.Replace(n, &tree.RawBlock{HTML: clean})
			}
		}
	}
}
