package formula

import (
	"bytes"
	"html"
	"slices"

	"github.com/yuin/goldmark/ast"
	xhtml "golang.org/x/net/html"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/ext/math"
	"presswork/internal/markdown/tree"
)

// dollars matches formulas in the text of HTML, by the rules for dollars in Markdown. Its groups are the LaTeX of a
// display formula and of an inline one.
var dollars = lazyregexp.New(`\$\$([^$]+)\$\$|\$([^\s$](?:[^$\n]*[^\s$\\])?)\$(?:[^0-9$]|$)`)

// PlaceInHTML turns the formulas in blocks of raw HTML into nodes: goldmark parses no Markdown there. It leaves code,
// scripts and drawings unchanged.
func PlaceInHTML(root ast.Node, src []byte) {
	if !bytes.Contains(src, []byte("$")) {
		return
	}

	tree.EachBlock(root, func(n ast.Node) {
		var raw []byte
		var offset int

		switch n := n.(type) {
		case *ast.HTMLBlock:
			raw, offset = tree.HTMLText(n, src), n.Pos()
		case *tree.RawBlock:
			raw, offset = n.HTML, n.Pos()
		}

		if !dollars().Match(raw) {
			return
		}

		if with := splitAtFormulas(raw, offset); with != nil {
			tree.Replace(n, with)
		}
	})
}

// splitAtFormulas returns raw HTML as a block of formulas and the HTML between them, nil without formulas. offset is
// the position for warnings about the formulas.
func splitAtFormulas(raw []byte, offset int) ast.Node {
	block := ast.NewTextBlock()
	from, at, verbatim := 0, 0, 0 // the end of the last formula, the start of the token, the open verbatim elements
	add := func(to int) {
		s := ast.NewString(raw[from:to])
		s.SetCode(true)
		block.AppendChild(block, s)
	}

	for z := xhtml.NewTokenizer(bytes.NewReader(raw)); ; {
		kind := z.Next()
		token := z.Raw()

		switch kind {
		case xhtml.ErrorToken:
			if from == 0 {
				return nil
			}
			add(len(raw))

			return block
		case xhtml.StartTagToken, xhtml.EndTagToken:
			if name, _ := z.TagName(); isVerbatim(string(name)) {
				verbatim += map[xhtml.TokenType]int{xhtml.StartTagToken: 1, xhtml.EndTagToken: -1}[kind]
			}
		case xhtml.TextToken:
			if verbatim > 0 {
				break
			}

			for _, m := range dollars().FindAllSubmatchIndex(token, -1) {
				group := 2
				if m[group] < 0 {
					group = 4
				}
				add(at + m[0])
				block.AppendChild(block, &math.Formula{
					Source:  []byte(html.UnescapeString(string(token[m[group]:m[group+1]]))),
					Display: group == 2,
					Offset:  offset,
				})
				from = at + m[group+1] + map[int]int{2: 2, 4: 1}[group]
			}
		}
		at += len(token)
	}
}

// isVerbatim reports whether dollars in an element are plain text.
func isVerbatim(element string) bool {
	names := []string{"code", "kbd", "math", "pre", "samp", "script", "style", "svg", "textarea", "tt"}
	return slices.Contains(names, element)
}
