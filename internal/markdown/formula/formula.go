// Package formula renders the formulas of a document as MathML and numbers its equations. Place finds the formulas that
// are blocks. Render renders all formulas in the order of the document, with the macros that are defined so far. It
// puts the MathML into Embeds. References to equations follow when all formulas are rendered.
package formula

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/ext/math"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tex"
	"presswork/internal/markdown/tree"
)

// maxBytes bounds the MathML of one document. Short macros can expand to much more than the source.
const maxBytes = 16 << 20

// Mark begins the alternative text of a formula. It distinguishes a formula from an image in the tags of the printed
// page. It is U+2061 FUNCTION APPLICATION: it is invisible, and no other text begins with it.
const Mark = "\u2061"

// Place turns math fences, and paragraphs that contain only a display formula or only definitions of macros, into math
// blocks.
func Place(root ast.Node, src []byte) {
	tree.EachBlock(root, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			if codeblock.InfoOf(n, src).Language == "math" {
				block := &math.Block{Source: tree.BlockText(n, src, 0), Offset: n.Info.Segment.Start}
				setLabel(block, tree.CleanID(codeblock.InfoOf(n, src).Attributes.ID))
				tree.Replace(n, block)
			}
		case *ast.Paragraph:
			if lines := tree.BlockText(n, src, 0); isDefinitions(string(bytes.TrimSpace(lines))) {
				tree.Replace(n, &math.Block{Source: lines, Offset: n.Lines().At(0).Start})
				return
			}

			if f, ok := n.FirstChild().(*math.Formula); ok && f.Display && f.NextSibling() == nil {
				block := &math.Block{Source: f.Source, Offset: f.Offset}
				setLabel(block, cmp.Or(tree.AttributeText(f, "id"), tree.AttributeText(n, "id")))
				tree.Replace(n, block)
			}
		}
	})
}

// setLabel gives a block an id that is the label of an equation. It ignores other ids.
func setLabel(block *math.Block, id string) {
	if label.KindOf(id) == label.Equation {
		block.SetAttributeString("id", []byte(id))
	}
}

// Equation says how a formula is numbered.
type Equation struct {
	// Chapter is the number of the chapter that the formula is in, "" outside of one.
	Chapter string
	// Label is the target of references, nil without a label. Render sets its number, because it depends on the
	// rendered formulas before it.
	Label *label.Label
	// Rows are the labels in the LaTeX of the formula.
	Rows []RowLabel
}

// Options are the settings and the data of one document.
type Options struct {
	// Lines finds the source lines for warnings.
	Lines *source.Lines
	// Time bounds the rendering of all formulas. Default: 3 s and 50 ms for each KB of Size, up to 30 s.
	Time time.Duration
	// Size is the length of the document in bytes.
	Size int
	// Equations are the numbered formulas and those in chapters, by node.
	Equations map[ast.Node]Equation
	// Counters number the equations.
	Counters *label.Counters
	// Targets are the elements that \ref and \eqref in formulas may name.
	Targets label.Set
	// Macros are LaTeX definitions for all formulas, such as \newcommand{\R}{\mathbb{R}}.
	Macros string
	// Embeds receives the MathML.
	Embeds *tree.Embeds
}

// Result reports how the formulas were rendered.
type Result struct {
	// Widest is the width of the widest formula in em, 0 without formulas.
	Widest float64
	// TimedOut reports whether the time ended before the last formula. A retry may render the rest.
	TimedOut bool
	Warnings []fault.Warning
}

// run renders the formulas of one document.
type run struct {
	Options
	Result

	renderer *tex.Renderer
	macros   macros // of the document so far
	left     int    // bytes of MathML up to maxBytes
	// referred are the elements that formulas refer to.
	referred []*label.Label
	// late embeds the formulas with references, when all numbers are known.
	late []func()
}

// errTooLarge is the error for a formula whose MathML exceeds maxBytes together with that of the formulas before it.
var errTooLarge = errors.New("the document's formulas are too many or too large")

// Render renders all formulas. A formula that Temml rejects keeps its source, with a warning. When the time is over,
// the other formulas keep their source, with one warning for all. The error is the cause of ctx.
func Render(ctx context.Context, root ast.Node, renderer *tex.Renderer, o Options) (Result, error) {
	limit := cmp.Or(o.Time, timeFor(o.Size))

	limited, cancel := context.WithTimeoutCause(ctx, limit, timeError{limit})
	defer cancel()
	r := &run{Options: o, renderer: renderer, left: maxBytes}
	r.macros.take(o.Macros)
	tree.Each(root, func(n ast.Node) {
		if ctx.Err() != nil {
			return
		}

		switch n := n.(type) {
		case *math.Formula:
			markup := r.render(limited, n.Source, n.Offset, "span", n.Display, o.Equations[n])
			r.embed(&n.Embed, markup)

			if isInImage(n) {
				n.Plain = textOf(markup)
			}
		case *math.Block:
			r.embed(&n.Embed, r.render(limited, n.Source, n.Offset, "div", true, o.Equations[n]))
		}
	})

	for _, set := range r.late {
		set()
	}

	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}

	return r.Result, nil
}

// isInImage reports whether a formula is in the description of an image, which is plain text.
func isInImage(n ast.Node) bool {
	for n = n.Parent(); n != nil && n.Type() == ast.TypeInline; n = n.Parent() {
		if n.Kind() == ast.KindImage {
			return true
		}
	}

	return false
}

var (
	// space matches a space of MathML.
	space = lazyregexp.New(`<mspace\b[^>]*></mspace>`)
	// flat matches the MathML tags of parts that stand next to each other on the line.
	flat = lazyregexp.New(`</?(?:span|math|mrow|mi|mn|mo|mtext)\b[^>]*>|` + Mark)
)

// textOf returns the text of a formula if it has nothing above or below its line, else "".
func textOf(markup string) string {
	text := flat().ReplaceAllString(space().ReplaceAllString(markup, " "), "")
	if strings.Contains(text, "<") {
		return ""
	}

	return strings.TrimSpace(html.UnescapeString(text))
}

// embed adds the markup of a formula to Embeds, unless it is empty, and sets number to the embed's number. Markup with
// places for references is added when all formulas are rendered.
func (r *run) embed(number *int, markup string) {
	switch {
	case markup == "":
	case strings.Contains(markup, placeStart):
		r.late = append(r.late, func() { *number = r.Embeds.Add(r.writeReferences(markup)) })
	default:
		*number = r.Embeds.Add(markup)
	}
}

// render returns the markup of one formula without its end tag, "" if it keeps its source. A formula of definitions
// only becomes a hidden element.
func (r *run) render(
	ctx context.Context,
	source []byte,
	offset int,
	tag string,
	display bool,
	e Equation,
) (markup string) {
	r.Counters.BeginChapter(e.Chapter)

	source = []byte(r.macros.take(string(source)))
	if len(bytes.TrimSpace(source)) == 0 && len(r.macros.of) > 0 {
		return "<" + tag + " hidden>"
	}
	source = []byte(r.refer(string(source), offset))
	oneLine := strings.Join(strings.Fields(string(source)), " ")

	f, err := r.renderTeX(ctx, source, display, e.Label)
	if _, late := errors.AsType[timeError](err); late {
		if r.TimedOut {
			return ""
		}
		r.TimedOut = true
	}

	if r.left -= len(f.MathML); err == nil && r.left < 0 {
		err = errTooLarge
	}

	if err != nil {
		r.Warnings = append(r.Warnings, fault.Warning{
			Code:    fault.DiagramFailed,
			Line:    r.Lines.At(offset),
			Message: fmt.Sprintf("formula %q: %v", input.Short(oneLine), err),
		})

		return ""
	}

	id := ""
	if e.Label != nil {
		id = ` id="` + html.EscapeString(e.Label.ID) + `"`
	}

	class := "math"
	if display {
		class = "math-display"
	}
	r.Widest = max(r.Widest, f.Width)

	return fmt.Sprintf(`<%s%s class="%s" role="img" aria-label="%s" style="--em:%.1f">%s%s`,
		tag, id, class, Mark+html.EscapeString(oneLine), f.Width, anchorsOf(e), r.numberRows(f.MathML, e))
}

// renderTeX renders the LaTeX of a formula. A labelled formula without numbered rows gets one number.
func (r *run) renderTeX(ctx context.Context, source []byte, display bool, to *label.Label) (tex.Formula, error) {
	latex := string(source)
	if display && hasBareAlignment(source) {
		latex = `\begin{aligned} ` + latex + ` \end{aligned}`
	}

	f, err := r.typeset(ctx, latex, display)
	if to != nil && err == nil && !strings.Contains(f.MathML, rowNumber) {
		return r.renderLabelled(ctx, latex, f, to)
	}

	return f, err
}

// typeset renders LaTeX with the macros that it uses.
func (r *run) typeset(ctx context.Context, latex string, display bool) (tex.Formula, error) {
	if ctx.Err() != nil {
		return tex.Formula{}, context.Cause(ctx)
	}

	return r.renderer.Render(ctx, r.macros.usedBy(latex), latex, display)
}

// hasBareAlignment reports whether a formula aligns lines with & outside of any environment. Sphinx allows it, Temml
// does not.
func hasBareAlignment(source []byte) bool {
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

// rowNumber is the start tag of the element that Temml writes for the number of a row. Its content is empty.
const rowNumber = `<span class="tml-eqn">`

// anchorsOf returns the anchors of the labels of a formula, except the one of the formula itself.
func anchorsOf(e Equation) string {
	var b strings.Builder

	for _, l := range e.Rows {
		if l.To != e.Label {
			b.WriteString(`<span id="` + html.EscapeString(l.To.ID) + `"></span>`)
		}
	}

	return b.String()
}

// numberRows writes the numbers of the rows of an environment. The label of the formula refers to the first row.
func (r *run) numberRows(mathML string, e Equation) string {
	var numbers []string

	rows := strings.Split(mathML, rowNumber)
	for i := range rows[1:] {
		numbers = append(numbers, r.Counters.Next(label.Equation))
		rows[i+1] = rowNumber + "(" + numbers[i] + ")" + rows[i+1]
	}

	if e.Label != nil && len(numbers) > 0 {
		e.Label.Number = numbers[0]
	}

	for _, l := range e.Rows {
		switch {
		case l.Tag != "":
			l.To.Number = l.Tag
		case l.Row >= 0 && l.Row < len(numbers):
			l.To.Number = numbers[l.Row]
		case e.Label != nil:
			l.To.Number = e.Label.Number
		}
	}

	return strings.Join(rows, "")
}

var (
	// ownTag matches \tag{…} of an equation; anyDigit matches a digit.
	ownTag   = lazyregexp.New(`\\tag\*?\{([^{}]*)\}`)
	anyDigit = lazyregexp.New(`[0-9]`)
)

// tagText begins the text of a tag in Temml's output.
const tagText = `<mtext class="tml-tag">`

// renderLabelled renders a labelled formula with the next number. If the author has set a tag, it returns plain, the
// formula as it is already rendered.
func (r *run) renderLabelled(
	ctx context.Context,
	latex string,
	plain tex.Formula,
	to *label.Label,
) (tex.Formula, error) {
	if own := ownTag().FindStringSubmatch(latex); own != nil {
		to.Number = own[1]
		return plain, nil
	}
	to.Number = r.Counters.Next(label.Equation)
	// Render with zeros and replace them, so that equal formulas with numbers of equal length share a cache entry.
	place := anyDigit().ReplaceAllString(to.Number, "0")
	f, err := r.typeset(ctx, latex+` \tag{`+place+"}", true)
	f.MathML = strings.Replace(f.MathML, `\tag{`+place+`}"`, `\tag{`+to.Number+`}"`, 1)
	f.MathML = strings.Replace(f.MathML, tagText+"("+place+")", tagText+"("+to.Number+")", 1)

	return f, err
}
