package markdown

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"presswork"
)

const (
	// maxMathBytes bounds the MathML of one document: short macros can make
	// much of it.
	maxMathBytes = 16 << 20
	// maxMathTime bounds the rendering of one document's formulas. A thousand
	// take about a second.
	maxMathTime = 10 * time.Second
)

// FormulaMark begins the alternative text of a formula, so that it can be distinguished
// from an image in the printed page's tags. It is U+2061, function application:
// invisible, and of no use at the start of a text.
const FormulaMark = "\u2061"

// placeFormulas makes blocks of math fences and of paragraphs that are nothing
// but a display formula.
func placeFormulas(root ast.Node, src []byte) {
	eachBlock(root, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			if languageOf(n, src) == "math" {
				replace(n, &formulaBlock{source: blockText(n, src, 0), offset: n.Info.Segment.Start})
			}
		case *ast.Paragraph:
			if f, ok := n.FirstChild().(*formula); ok && f.display && f.NextSibling() == nil {
				replace(n, &formulaBlock{source: f.source, offset: f.offset})
			}
		}
	})
}

var (
	errManyFormulas = errors.New("the document's formulas are too many or too large")
	errMathTime     = errors.New("the document's formulas take too long")
)

// renderFormulas turns formulas into MathML. One that is wrong shows its source
// and leaves a warning; only an ended context is an error.
func (d *draft) renderFormulas(ctx context.Context, root ast.Node) error {
	limited, cancel := context.WithTimeoutCause(ctx, maxMathTime, errMathTime)
	defer cancel()
	left := maxMathBytes
	render := func(source []byte, offset int, tag string, display bool) (int, error) {
		f, err := d.formulas.Render(limited, string(source), display)
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if left -= len(f.MathML); err == nil && left < 0 {
			err = errManyFormulas
		}
		if err != nil {
			d.warn(presswork.DiagramFailed, d.lines.at(offset), fmt.Sprintf("formula %q: %v", clip(strings.Join(strings.Fields(string(source)), " ")), err))
			return 0, nil
		}
		f.MathML = d.numberEquations(f.MathML)
		class := "math"
		if display {
			class = "math-display"
		}
		alt := FormulaMark + html.EscapeString(strings.Join(strings.Fields(string(source)), " "))
		return d.embed(fmt.Sprintf(`<%s class="%s" role="img" aria-label="%s" style="--em:%.1f">%s`, tag, class, alt, f.Width, f.MathML)), nil
	}
	var failed error
	eachNode(root, func(n ast.Node) {
		if failed != nil {
			return
		}
		switch n := n.(type) {
		case *formula:
			n.embed, failed = render(n.source, n.offset, "span", n.display)
		case *formulaBlock:
			n.embed, failed = render(n.source, n.offset, "div", true)
		}
	})
	return failed
}

// numberEquations fills the places that Temml leaves for the numbers of an
// environment's rows. They count through the document.
func (d *draft) numberEquations(mathML string) string {
	const place = `<span class="tml-eqn">`
	rows := strings.Split(mathML, place)
	for i := range rows[1:] {
		d.equations++
		rows[i+1] = place + "(" + strconv.Itoa(d.equations) + ")" + rows[i+1]
	}
	return strings.Join(rows, "")
}

// draw renders what is more than text.
func (d *draft) draw(ctx context.Context, root ast.Node) error {
	if err := d.renderFormulas(ctx, root); err != nil {
		return err
	}
	return d.drawDiagrams(ctx, root)
}

// embedAttr marks the element that a finished piece of HTML, one that the
// sanitiser would not let pass, is put in place of.
const embedAttr = "data-embed"

// embed keeps a piece: a start tag and what is inside its element. It returns
// the piece's number.
func (d *draft) embed(html string) int {
	d.embeds = append(d.embeds, html)
	return len(d.embeds)
}

// takeEmbed gives a piece out once: raw HTML may name any.
func (d *draft) takeEmbed(number string) (html string, ok bool) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(d.embeds) || d.embeds[n-1] == "" {
		return "", false
	}
	html, d.embeds[n-1] = d.embeds[n-1], ""
	return html, true
}

func writeEmbed(w util.BufWriter, tag string, number int) {
	_, _ = w.WriteString("<" + tag + " " + embedAttr + `="` + strconv.Itoa(number) + `"></` + tag + ">")
}

// formulaRenderer writes places for finished formulas, and the source of the
// others.
type formulaRenderer struct{}

func (formulaRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindFormula, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		n := node.(*formula)
		switch {
		case !entering:
		case n.embed == 0:
			_, _ = w.WriteString(`<code class="math-error">` + html.EscapeString(string(n.source)) + `</code>`)
		default:
			writeEmbed(w, "span", n.embed)
		}
		return ast.WalkSkipChildren, nil
	})
	reg.Register(kindFormulaBlock, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		n := node.(*formulaBlock)
		switch {
		case !entering:
			return ast.WalkSkipChildren, nil
		case n.embed == 0:
			_, _ = w.WriteString(`<pre class="math-error"><code>` + html.EscapeString(string(bytes.Trim(n.source, "\n"))) + `</code></pre>`)
		default:
			writeEmbed(w, "div", n.embed)
		}
		_ = w.WriteByte('\n')
		return ast.WalkSkipChildren, nil
	})
}
