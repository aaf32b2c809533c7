package markdown

import (
	"context"
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"presswork/internal/fault"
	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/tree"
)

// diagram is a mermaid fence that has become a picture.
type diagram struct {
	ast.BaseBlock
	embed int
}

func (*diagram) Kind() ast.NodeKind { return kindDiagram }

func (n *diagram) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindDiagram = ast.NewNodeKind("Diagram")

// drawDiagrams replaces mermaid fences by their pictures. One that cannot be
// drawn stays a block of code and leaves a warning. Errors: those of
// Options.Diagrams, ctx's cause.
func (d *draft) drawDiagrams(ctx context.Context, root ast.Node) error {
	var fences []*ast.FencedCodeBlock
	var sources []string
	tree.EachBlock(root, func(n ast.Node) {
		if code, ok := n.(*ast.FencedCodeBlock); ok && codeblock.LanguageOf(code, d.src) == "mermaid" {
			fences = append(fences, code)
			sources = append(sources, string(tree.BlockText(code, d.src, 0)))
		}
	})

	if len(fences) == 0 {
		return nil
	}

	pictures := make([]Diagram, len(fences))
	if d.options.Diagrams == nil {
		for i := range pictures {
			pictures[i].Problem = "diagrams are not drawn here: that takes a browser"
		}
	} else {
		var err error
		if pictures, err = d.options.Diagrams(ctx, sources); err != nil {
			return err
		}
	}

	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	for i, code := range fences {
		if p := pictures[i]; p.Problem != "" {
			d.warn(
				fault.DiagramFailed,
				d.lines.At(code.Info.Segment.Start)+p.Line,
				"diagram: "+strings.Join(strings.Fields(p.Problem), " "),
			)
		} else {
			tree.Replace(code, &diagram{embed: d.embeds.Add(fmt.Sprintf("<div class=\"diagram\">%s", p.SVG))})
		}
	}

	return nil
}

type diagramRenderer struct{}

func (diagramRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindDiagram, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			tree.WriteEmbed(w, "div", n.(*diagram).embed)
			_ = w.WriteByte('\n')
		}

		return ast.WalkSkipChildren, nil
	})
}
