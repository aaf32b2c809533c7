package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/tree"
)

// cellOption is an option of it, in a comment of its language.
var cellOption = lazyregexp.New(`^(?:#|//|--|%%)\| ?([\w.-]*)(?::[ \t]*([^\n]*))?`)

// dropCellOptions takes the options of Quarto from the beginning of code that it runs,
// and code that these hide.
func (d *draft) dropCellOptions(root ast.Node) {
	if d.dialect == GFM || !bytes.Contains(d.src, []byte("```{")) {
		return
	}
	var hidden []ast.Node
	tree.Each(root, func(n ast.Node) {
		code, ok := n.(*ast.FencedCodeBlock)
		if !ok || code.Info == nil || !codeblock.CellInfo().Match(code.Info.Segment.Value(d.src)) {
			return
		}
		lines := code.Lines()

		options := 0
		for ; options < lines.Len(); options++ {
			line := lines.At(options)

			m := cellOption().FindSubmatch(line.Value(d.src))
			if m == nil {
				break
			}

			if name := string(
				m[1],
			); (name == "echo" || name == "include") &&
				strings.TrimSpace(string(m[2])) == "false" {
				hidden = append(hidden, code)
			}
		}

		if options > 0 && options < lines.Len() {
			if line := lines.At(options); util.IsBlank(line.Value(d.src)) {
				options++
			}
		}
		lines.SetSliced(options, lines.Len())
	})

	for _, n := range hidden {
		if p := n.Parent(); p != nil {
			p.RemoveChild(p, n)
		}
	}
}
