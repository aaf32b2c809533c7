package markdown

import (
	"context"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"presswork/internal/fault"
	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/tree"
)

// embeddedDiv is a div that finish.HTML replaces by a finished piece of HTML: a drawn diagram, or the mark
// between two slides.
type embeddedDiv struct {
	ast.BaseBlock
	embed int // the number that tree.Embeds.Add returned
}

func (*embeddedDiv) Kind() ast.NodeKind { return kindEmbeddedDiv }

func (n *embeddedDiv) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindEmbeddedDiv = ast.NewNodeKind("EmbeddedDiv")

type embeddedRenderer struct{}

func (embeddedRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindEmbeddedDiv, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			tree.WriteEmbed(w, "div", n.(*embeddedDiv).embed)
			_ = w.WriteByte('\n')
		}

		return ast.WalkSkipChildren, nil
	})
}

// drawDiagrams replaces code blocks of Mermaid, Graphviz and D2 by their diagrams. A diagram with a problem stays
// code, with a warning. Errors: that of Options.Diagrams, the cause of ctx.
func (p *parserState) drawDiagrams(ctx context.Context, root ast.Node) error {
	var fences []*ast.FencedCodeBlock
	var sources []DiagramSource
	tree.EachBlock(root, func(n ast.Node) {
		code, ok := n.(*ast.FencedCodeBlock)
		if !ok {
			return
		}

		if language := codeblock.InfoOf(code, p.src).Diagram(); language != "" {
			fences = append(fences, code)
			sources = append(sources, DiagramSource{language, string(tree.BlockText(code, p.src, 0))})
		}
	})

	if len(fences) == 0 {
		return nil
	}

	diagrams := make([]Diagram, len(fences))
	if p.options.Diagrams == nil {
		for i := range diagrams {
			diagrams[i].Problem = "diagrams are drawn by a browser, and none is available"
		}
	} else {
		var err error
		if diagrams, err = p.options.Diagrams(ctx, sources); err != nil {
			return err
		}
	}

	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	for i, code := range fences {
		d := diagrams[i]
		if d.Problem == "" {
			tree.Replace(code, &embeddedDiv{embed: p.embeds.Add(`<div class="diagram">` + d.SVG)})
			continue
		}
		// Line 1 of the diagram follows the line of the fence.
		line := p.warnings.lines.At(code.Info.Segment.Start) + d.Line
		p.warnings.onLine(line, fault.DiagramFailed, "diagram: "+strings.Join(strings.Fields(d.Problem), " "))
	}

	return nil
}
