package markdown

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/fault"
	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/ext/math"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/tex"
	"presswork/internal/markdown/tree"
)

// maxMathBytes bounds the MathML of one document: short macros can make much of it.
const maxMathBytes = 16 << 20

// FormulaMark begins the alternative text of a formula, so that it can be distinguished
// from an image in the printed page's tags. It is U+2061, function application:
// invisible, and of no use at the start of a text.
const FormulaMark = "\u2061"

// placeFormulas makes blocks of math fences and of paragraphs that are nothing
// but a display formula.
func placeFormulas(root ast.Node, src []byte) {
	tree.EachBlock(root, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			if codeblock.LanguageOf(n, src) == "math" {
				block := &math.Block{Source: tree.BlockText(n, src, 0), Offset: n.Info.Segment.Start}
				if id := tree.CleanID(codeblock.InfoOf(n, src).Attributes.ID); label.KindOf(id) == Equation {
					block.SetAttributeString("id", []byte(id))
				}
				tree.Replace(n, block)
			}
		case *ast.Paragraph:
			if f, ok := n.FirstChild().(*math.Formula); ok && f.Display && f.NextSibling() == nil {
				block := &math.Block{Source: f.Source, Offset: f.Offset}
				if id := cmp.Or(
					tree.AttributeText(f, "id"),
					tree.AttributeText(n, "id"),
				); label.KindOf(
					id,
				) == Equation {
					block.SetAttributeString("id", []byte(id))
				}
				tree.Replace(n, block)
			}
		}
	})
}

var errManyFormulas = errors.New("the document's formulas are too many or too large")

// renderFormulas turns formulas into MathML. One that is wrong shows its source
// and leaves a warning. When the time of all has passed, the others do so with one
// warning. Error: ctx's cause.
func (d *draft) renderFormulas(ctx context.Context, root ast.Node) error {
	limited, cancel := context.WithTimeoutCause(ctx, d.mathTime(), mathTimeError{d.mathTime()})
	defer cancel()
	left := maxMathBytes
	render := func(source []byte, offset int, tag string, display bool, to *label.Label) (int, error) {
		latex := string(source)
		if display && alignsBare(source) {
			latex = `\begin{aligned} ` + latex + ` \end{aligned}`
		}

		f, err := d.formulas.Render(limited, latex, display)
		if to != nil && err == nil && !strings.Contains(f.MathML, rowNumber) {
			f, err = d.renderLabelled(limited, latex, f, to)
		}

		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}

		if _, late := errors.AsType[mathTimeError](err); late {
			if d.hurried {
				return 0, nil
			}
			d.hurried = true
		}

		if left -= len(f.MathML); err == nil && left < 0 {
			err = errManyFormulas
		}

		if err != nil {
			d.warn(
				fault.DiagramFailed,
				d.lines.At(offset),
				fmt.Sprintf("formula %q: %v", clip(strings.Join(strings.Fields(string(source)), " ")), err),
			)

			return 0, nil
		}
		f.MathML = d.numberEquations(f.MathML, to)

		id := ""
		if to != nil {
			id = ` id="` + html.EscapeString(to.ID) + `"`
		}

		class := "math"
		if display {
			class = "math-display"
		}
		d.widestFormula = max(d.widestFormula, f.Width)
		alt := FormulaMark + html.EscapeString(strings.Join(strings.Fields(string(source)), " "))

		return d.embeds.Add(
			fmt.Sprintf(
				`<%s%s class="%s" role="img" aria-label="%s" style="--em:%.1f">%s`,
				tag,
				id,
				class,
				alt,
				f.Width,
				f.MathML,
			),
		), nil
	}
	var failed error
	tree.Each(root, func(n ast.Node) {
		if failed != nil {
			return
		}

		switch n := n.(type) {
		case *math.Formula:
			e := d.equations[n]
			d.counters.BeginChapter(e.chapter)
			n.Embed, failed = render(n.Source, n.Offset, "span", n.Display, e.label)
		case *math.Block:
			e := d.equations[n]
			d.counters.BeginChapter(e.chapter)
			n.Embed, failed = render(n.Source, n.Offset, "div", true, e.label)
		}
	})

	return failed
}

// alignsBare reports whether lines are aligned in a formula outside of any environment, as
// Sphinx has them.
func alignsBare(source []byte) bool {
	for depth, i := 0, 0; i < len(source); i++ {
		switch rest := source[i:]; {
		case rest[0] == '&' && depth == 0:
			return true
		case bytes.HasPrefix(rest, []byte(`\begin{`)):
			depth++
		case bytes.HasPrefix(rest, []byte(`\end{`)):
			depth--
		case rest[0] == '\\':
			i++
		}
	}

	return false
}

// rowNumber is the place that Temml leaves for the number of a row.
const rowNumber = `<span class="tml-eqn">`

// numberEquations fills the places for the numbers of an environment's rows. They
// count through the document, or its chapter. A label means the first of them.
func (d *draft) numberEquations(mathML string, to *label.Label) string {
	rows := strings.Split(mathML, rowNumber)
	for i := range rows[1:] {
		number := d.counters.Next(Equation)
		if to != nil && i == 0 {
			to.Number = number
		}
		rows[i+1] = rowNumber + "(" + number + ")" + rows[i+1]
	}

	return strings.Join(rows, "")
}

var ownTag = regexp.MustCompile(`\\tag\*?\{([^{}]*)\}`)

// renderLabelled renders a formula that has a label and does not number its rows:
// with the next number, unless its author has given it one.
func (d *draft) renderLabelled(
	ctx context.Context,
	source string,
	plain tex.Formula,
	to *label.Label,
) (tex.Formula, error) {
	if own := ownTag.FindStringSubmatch(source); own != nil {
		to.Number = own[1]
		return plain, nil
	}
	to.Number = d.counters.Next(Equation)
	// Equal formulas with numbers of equal length are rendered once.
	place := anyDigit.ReplaceAllString(to.Number, "0")
	f, err := d.formulas.Render(ctx, source+` \tag{`+place+"}", true)
	f.MathML = strings.Replace(f.MathML, `\tag{`+place+`}"`, `\tag{`+to.Number+`}"`, 1)
	f.MathML = strings.Replace(f.MathML, tagText+"("+place+")", tagText+"("+to.Number+")", 1)

	return f, err
}

// tagText begins the text of a tag as Temml writes it.
const tagText = `<mtext class="tml-tag">`

var anyDigit = regexp.MustCompile(`[0-9]`)

// draw renders what is more than text.
func (d *draft) draw(ctx context.Context, root ast.Node) error {
	if err := d.renderFormulas(ctx, root); err != nil {
		return err
	}

	return d.drawDiagrams(ctx, root)
}
