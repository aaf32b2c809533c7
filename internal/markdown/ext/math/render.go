package math

import (
	"bytes"
	"html"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

// nodeRenderer writes the empty elements that typeset formulas replace, and the source of other formulas as code.
type nodeRenderer struct{}

func (nodeRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindFormula, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		n := node.(*Formula)
		switch {
		case !entering:
		case n.Embed == 0:
			_, _ = w.WriteString(`<code class="math-error">` + html.EscapeString(string(n.Source)) + `</code>`)
		default:
			tree.WriteEmbed(w, "span", n.Embed)
		}

		return ast.WalkSkipChildren, nil
	})
	reg.Register(kindBlock, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		n := node.(*Block)
		switch {
		case !entering:
			return ast.WalkSkipChildren, nil
		case n.Embed == 0:
			source := html.EscapeString(string(bytes.Trim(n.Source, "\n")))
			_, _ = w.WriteString(`<pre class="math-error"><code>` + source + `</code></pre>`)
		default:
			tree.WriteEmbed(w, "div", n.Embed)
		}
		_ = w.WriteByte('\n')

		return ast.WalkSkipChildren, nil
	})
}
