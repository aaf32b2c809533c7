package markdown_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/test/cputime"
)

func TestFormulasTakeLinearTime(t *testing.T) {
	t.Parallel()

	size := 200_000
	if markdown.RaceDetector {
		size /= 4
	}

	for _, piece := range []string{
		"$", "$$", "$ ", "$a ", "$a `", "$`", "`$", "$$a ", "$a\n", "$$\n", "$$\na\n", "> $$\n", "\\$", "$$$", "$a $b` ",
		`\(`, `\(a `, `\) \(`, `\(a b\) `, `\[`, "\\[\na\n", "\\[ x\n\\] y\n", "\\begin{align}\n", "\\begin{align}\n\\begin{gather}\n\\end{align} x\n", "> \\[\n",
	} {
		t.Run(fmt.Sprintf("%q", piece), func(t *testing.T) {
			src := strings.Repeat(piece, size/len(piece))
			var err error
			took := cputime.Of(func() { _, err = markdown.New().Parse(t.Context(), []byte(src), markdown.Options{}) })

			if code := fault.CodeOf(err); err != nil && code != fault.ContentTooComplex {
				t.Errorf("%q: %v", piece, err)
			}

			if took > 30*time.Second { // they take 0.5 s, or 1 s under the race detector
				t.Errorf("%q repeated took %s", piece, took)
			}
		})
	}
}

func TestFormulasAreBounded(t *testing.T) {
	t.Parallel()
	// Each formula becomes tens of kilobytes.
	bomb := `$\def\a#1{#1#1#1#1#1#1#1#1#1#1}\a{\a{\a{x}}}\a{\a{\a{x}}}\a{\a{\a{x}}}$` + "\n\n"

	d, err := markdown.New().Parse(t.Context(), []byte(strings.Repeat(bomb, 1000)), markdown.Options{})
	if fault.CodeOf(err) == fault.ContentTooComplex {
		return // the formulas that fit are too much to print
	}

	if err != nil {
		t.Fatal(err)
	}

	if len(d.HTML) > 20<<20 {
		t.Errorf("%d bytes of HTML", len(d.HTML))
	}
	// On a slow machine a formula may run out of time before the total is too large.
	if all := fmt.Sprint(d.Warnings); !strings.Contains(all, "too many or too large") &&
		!strings.Contains(all, "takes too long") {
		t.Errorf("warnings: %.300v", d.Warnings)
	}
}

// Equal formulas with different labels are rendered once for each length of their number.
func TestLabelledFormulasAreRenderedOnce(t *testing.T) {
	t.Parallel()

	n := 10_000
	if testing.Short() || markdown.RaceDetector {
		n = 1000
	}

	var src strings.Builder
	for i := range n {
		fmt.Fprintf(&src, "$$x$$ {#eq:a%d}\n\n```{math}\n:label: b%d\ny\n```\n\n@eq:a%d\n\n", i, i, i)
	}
	var d markdown.Document

	took := cputime.Of(func() { d = render(t, src.String(), markdown.Options{MaxParts: 10_000_000}) })
	if took > 20*time.Second { // 10 times the usual time; rendering each formula took 60 s
		t.Errorf("%d formulas took %s", n, took)
	}

	if len(d.Warnings) > 0 {
		t.Error(d.Warnings[0])
	}

	for _, number := range []int{1, 2, 999, 2 * n} {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			if want := fmt.Sprintf("(%d)</mtext>", number); strings.Count(d.HTML, want) != 1 ||
				!strings.Contains(d.HTML, fmt.Sprintf(`\tag{%d}"`, number)) {
				t.Errorf("%d times %q", strings.Count(d.HTML, want), want)
			}
		})
	}
}

func TestFormulasBeyondTheirTimeStaySource(t *testing.T) {
	t.Parallel()

	var src strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&src, "$x_{%d}$\n\n", i)
	}

	d := render(t, src.String(), markdown.Options{MathTime: time.Millisecond})
	if !d.TimedOut || len(d.Warnings) != 1 ||
		!strings.Contains(d.Warnings[0].Message, "the formulas of the document take longer than 1ms") {
		t.Errorf("timed out %v, warnings %v; want true and one warning", d.TimedOut, d.Warnings)
	}

	if n := strings.Count(d.HTML, `class="math-error"`); n < 2000 {
		t.Errorf("got %d formulas as source, want at least 2000", n)
	}
}

func TestDiagramsAreDrawnOnceAndFailuresKeepTheirSource(t *testing.T) {
	t.Parallel()
	src := "```{graphviz}\ngraph { A -- B }\n```\n\n> ```Mermaid\n> broken\n> ```\n"
	calls := 0

	d := render(
		t,
		src,
		markdown.Options{
			Diagrams: func(_ context.Context, sources []markdown.DiagramSource) ([]markdown.Diagram, error) {
				calls++

				want := []markdown.DiagramSource{{"dot", "graph { A -- B }\n"}, {"mermaid", "broken\n"}}
				if !slices.Equal(sources, want) {
					t.Errorf("sources: %q", sources)
				}

				return []markdown.Diagram{{SVG: "<svg id=first></svg>"}, {Problem: "line 1: what is\nthat?"}}, nil
			},
		},
	)
	if calls != 1 || !strings.Contains(d.HTML, `<div class="diagram"><svg id=first></svg></div>`) ||
		!strings.Contains(d.HTML, "broken") {
		t.Errorf("%d calls, %s", calls, d.HTML)
	}

	want := fault.Warning{Code: fault.DiagramFailed, Line: 5, Message: "diagram: line 1: what is that?"}
	if len(d.Warnings) != 1 || d.Warnings[0] != want {
		t.Errorf("warnings %v, want %v", d.Warnings, want)
	}

	d = render(t, src, markdown.Options{})
	if len(d.Warnings) != 2 || !strings.Contains(d.HTML, "A -- B") {
		t.Errorf("without a browser: %v, %s", d.Warnings, d.HTML)
	}
}

func TestDiagramCellOfQuartoIsAFigure(t *testing.T) {
	t.Parallel()

	d := render(
		t,
		"```{dot}\n//| label: fig-runs\n//| fig-cap: \"Runs & stops\"\n//| echo: false\n\ngraph { a -- b }\n```\n\nSee @fig-runs.",
		markdown.Options{
			Diagrams: func(_ context.Context, sources []markdown.DiagramSource) ([]markdown.Diagram, error) {
				if want := []markdown.DiagramSource{{"dot", "graph { a -- b }\n"}}; !slices.Equal(sources, want) {
					t.Errorf("got the sources %q, want %q", sources, want)
				}

				return []markdown.Diagram{{SVG: "<svg></svg>"}}, nil
			},
		},
	)

	for _, want := range []string{`<figure id="fig-runs">`, "<svg></svg>", "Figure\u00a01", "Runs &amp; stops", `See <a href="#fig-runs"`} {
		if !strings.Contains(d.HTML, want) {
			t.Errorf("%s lacks %s", d.HTML, want)
		}
	}
}

func TestMacrosHoldForLaterFormulas(t *testing.T) {
	t.Parallel()

	d := render(t, "\\newcommand{\\R}{\\mathbb{R}}\n\\newcommand{\\n}[1]{\\lVert #1 \\rVert}\n\n"+
		"$\\n{x} \\in \\R$ and\n\n$$\\renewcommand{\\R}{Q} y \\in \\R$$\n\n$$\\def\\z{z}$$\n\n$\\R\\z$ $\\later$\n\n$\\def\\later{x}$",
		markdown.Options{})

	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Message, `\later`) {
		t.Errorf("warnings %v, want one about \\later", d.Warnings)
	}

	if n := strings.Count(d.HTML, "<math"); n != 3 || strings.Contains(d.HTML, "newcommand") {
		t.Errorf("%d formulas are set, want 3: %s", n, d.HTML)
	}

	if !strings.Contains(d.HTML, "ℝ") || !strings.Contains(d.HTML, "𝑄") && !strings.Contains(d.HTML, "<mi>Q</mi>") {
		t.Errorf("the macros are not used: %s", d.HTML)
	}
}

func TestEndlessMacrosAreBounded(t *testing.T) {
	t.Parallel()

	d := render(t, "$$\\def\\a{\\b\\b}\\def\\b{\\a\\a}$$\n\n$\\a$ and $x$", markdown.Options{})
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Message, "too many expansions") ||
		strings.Count(d.HTML, "<math") != 1 {
		t.Errorf("warnings %v, %s", d.Warnings, d.HTML)
	}
}
