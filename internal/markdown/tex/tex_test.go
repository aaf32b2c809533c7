package tex_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"presswork/internal/markdown/tex"
	"presswork/internal/test/golden"
)

// formulas are rendered into testdata/formulas.golden. A D before one makes it a display formula.
var formulas = []string{
	`x^2 + y_1`,
	`\frac{a}{b}`,
	`\sqrt[3]{x+1}`,
	`D\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt\pi}{2}`,
	`D\sum_{k=1}^{n} k = \frac{n(n+1)}{2} \tag{1}`,
	`\begin{pmatrix} a & b \\ c & d \end{pmatrix}`,
	`D\begin{align} a &= b + c \\ d &= e \end{align}`,
	`D\begin{aligned} f(x) &= x \\ &= y \end{aligned}`,
	`f(x) = \begin{cases} 1 & x > 0 \\ 0 & \text{otherwise} \end{cases}`,
	`\mathbb{R} \subset \mathcal{L}(\mathfrak{g})`,
	`\hat{x} \vec{v} \overline{AB} \widehat{xyz}`,
	`\lim_{x\to 0} \frac{\sin x}{x}`,
	`\left( \frac{1}{2} \right]`,
	`\text{für } n \ge 1`,
	`\color{red}{x} \cancel{y} \boxed{z}`,
	`\ce{2H2 + O2 -> 2H2O}`,
	`\binom{n}{k}`,
	`\underbrace{a+b}_{\text{sum}}`,
	`\newcommand{\R}{\mathbb{R}} \R^n`,
	`a < b \& c > d`,
	`A \xrightarrow{f} B`,
	`x' \notin \emptyset`,
	`\operatorname{rank} A`,
}

func TestFormulasBecomeMathML(t *testing.T) {
	t.Parallel()
	r := tex.New()
	var out strings.Builder

	for _, src := range formulas {
		src, display := strings.CutPrefix(src, "D")

		f, err := r.Render(t.Context(), "", src, display)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		fmt.Fprintf(&out, "%s\n%.1f em\n%s\n\n", src, f.Width, f.MathML)
	}
	golden.Check(t, "formulas.golden", []byte(out.String()))
}

var markupOrSpace = regexp.MustCompile(`<[^>]*>|[\s\x{2061}\x{200B}-\x{200D}\x{2009}\x{A0}]`)

func TestCommandsOfPackagesAreSet(t *testing.T) {
	t.Parallel()
	r := tex.New()

	for src, want := range map[string]string{
		`\mbox{if } x`:                                        "if x",
		`\text{my_name & #1 5% a^b $x_1$}`:                    "my_name &amp; #1 5% a^b x1",
		`A ∈ 𝔽^{m} 𝐯 𝜶 𝟙 𝜙`:                                   "A∈𝔽m𝐯𝜶1ϕ",
		`\R \exist \sube \rarr \Rarr \rArr`:                   "ℝ∃⊆→⇒⇒",
		`\unicode{x2264} \bbox[5px]{x}`:                       "≤x",
		`\begin{eqnarray}a&=&b\end{eqnarray}`:                 "a=b",
		`\KaTeX`:                                              "KaTeX",
		`\SI{3}{\meter}`:                                      "3m",
		`\SI{9.81}{\meter\per\second\squared}`:                "9.81ms−2",
		`\qty[per-mode=symbol]{20}{\celsius}`:                 "20°C",
		`\si{kg.m/s^2}`:                                       "kgm/s2",
		`\unit{\micro\ohm}`:                                   "µΩ",
		`\num{12345.5}`:                                       "12345.5",
		`\num{1.5e-3}`:                                        "1.5×10−3",
		`\num{1.2 +- 0.3}`:                                    "1.2±0.3",
		`\SIrange{1}{5}{\percent}`:                            "1%–5%",
		`\ang{12;30;5}`:                                       "12°30′5″",
		`\DeclareMathOperator{\Var}{Var}\Var(x)`:              "Var(x)",
		`\begin{aligned}a&=b\intertext{and}c&=d\end{aligned}`: "a=bandc=d",
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()

			f, err := r.Render(t.Context(), "", src, true)
			if err != nil {
				t.Fatal(err)
			}

			text := markupOrSpace.ReplaceAllString(f.MathML, "")
			if text != strings.ReplaceAll(want, " ", "") {
				t.Errorf("got %q, want %q", text, want)
			}
		})
	}
}

func TestWrongFormulasAreExplained(t *testing.T) {
	t.Parallel()
	r := tex.New()

	for src, want := range map[string]string{
		``:                              "is empty",
		`\foo`:                          `\foo`,
		`\frac{a`:                       "expected '}'",
		`a}`:                            "}",
		`\begin{matrix} a`:              "expected",
		`\href{javascript:alert(1)}{x}`: `\href`,
		`\includegraphics{http://a/b}`:  "not trusted",
		`\def\a{\a\a}\a`:                "too many expansions",
		strings.Repeat("x", 9000):       "at most 8192",
		strings.Repeat("{", 4000):       "",
		strings.Repeat(`\frac{`, 1300):  "",
		`\begin{constructor}\end{x}`:    "",
		`\begin{__proto__}\end{x}`:      "",
		doubling(28):                    "too ",
		`\def\a#1{` + strings.Repeat("#1", 1500) + `}\a{\a{\a{xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx}}}`: "too ", // too complex, or too long on a busy machine
	} {
		t.Run(src, func(t *testing.T) {
			start := time.Now()

			f, err := r.Render(t.Context(), "", src, true)
			if err == nil {
				t.Errorf("%.60s: got %.200s, want an error", src, f.MathML)
				return
			}

			if !strings.Contains(err.Error(), want) {
				t.Errorf("%.60s: got %q, want %q in it", src, err, want)
			}

			if len(err.Error()) > 300 || strings.Contains(err.Error(), "setting") ||
				strings.ContainsAny(err.Error(), "\n\u0332") {
				t.Errorf("%.60s: got %q, want one line of plain words", src, err)
			}

			if took := time.Since(start); took > time.Minute {
				t.Errorf("%.60s: took %s", src, took)
			}
		})
	}
	// A formula must not affect later ones.
	if _, err := r.Render(t.Context(), "", `\gdef\alpha{2}x`, false); err != nil {
		t.Error(err)
	}

	if f, err := r.Render(t.Context(), "", `\alpha`, false); err != nil || !strings.Contains(f.MathML, "α") {
		t.Errorf("a formula changed a later one: %s, %v", f.MathML, err)
	}

	if _, err := r.Render(t.Context(), "", `\gdef\mine{2}\mine`, false); err != nil {
		t.Error(err)
	}

	if _, err := r.Render(t.Context(), "", `\mine`, false); err == nil {
		t.Error("the macro of a formula is defined in the next")
	}
}

// doubling returns a formula of n nested macros that double their argument.
func doubling(n int) string {
	return `\def\a#1{#1#1}` + strings.Repeat(`\a{`, n) + "x" + strings.Repeat("}", n)
}

func TestHostileFormulasGiveHarmlessMarkup(t *testing.T) {
	t.Parallel()

	r := tex.New()

	for _, src := range []string{
		`\text{<script>alert(1)</script><img src=x onerror=alert(1)>}`, `\text{</math><svg onload=x>}`,
		`\color{red;background:url(http://a)}{x}`, `\textcolor{#f00}{x}`, `\class{a}{x}`, `\style{color:url(x)}{x}`, `\id{a}{x}`,
		`\url{javascript:x}`, `\label{"><script>}x`, `\rule{1e9em}{1e9em}`, `\hspace{-99999em}x`, `\htmlData{a=b}{x}`,
		`\mathchoice{"}{'}{<}{>}`, `\char"3C`, `<script>`, `\unicode{60}script`, `\ce{<script>}`, `\verb|<b>|`,
	} {
		t.Run(src, func(t *testing.T) {
			f, err := r.Render(t.Context(), "", src, true)
			if err != nil {
				return
			}

			inner := f.MathML[:strings.Index(f.MathML, "alttext=")] + f.MathML[strings.Index(f.MathML, ">"):]

			for _, bad := range []string{"<script", "<img", "<svg", "<a ", "url(", "javascript:", " id=", "onerror", " data-", "1e9", "99999"} {
				t.Run(bad, func(t *testing.T) {
					if bad[0] == '<' && strings.Contains(inner, bad) || strings.Contains(attributesOf(inner), bad) {
						t.Errorf("%s: %s in %s", src, bad, f.MathML)
					}
				})
			}
		})
	}
}

// attributesOf returns the markup without its text.
func attributesOf(markup string) string {
	var b strings.Builder
	in := false

	for _, c := range markup {
		switch {
		case c == '<':
			in = true
		case c == '>':
			in = false
		case in:
			b.WriteRune(c)
		}
	}

	return b.String()
}

func TestRenderReturnsTheCauseOfItsContext(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)

	if _, err := tex.New().Render(ctx, "", "x", false); !errors.Is(err, stop) {
		t.Errorf("got %v, want the cause of the context", err)
	}
}

func FuzzRender(f *testing.F) {
	for _, src := range formulas {
		f.Add(src, true)
	}
	r := tex.New()
	f.Fuzz(func(t *testing.T, src string, display bool) {
		start := time.Now()

		formula, err := r.Render(t.Context(), "", src, display)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("took %s", took)
		}

		if err == nil && (!strings.HasPrefix(formula.MathML, "<math") || strings.Contains(formula.MathML, "<script")) {
			t.Errorf("%q: got %s", src, formula.MathML)
		}
	})
}

func BenchmarkRender(b *testing.B) {
	for name, src := range map[string]string{"simple": `x^2+y^2=z^2`, "align": `\begin{align} a &= b + c \\ d &= e \end{align}`} {
		b.Run(name, func(b *testing.B) {
			r := tex.New()
			for i := 0; b.Loop(); i++ {
				if _, err := r.Render(b.Context(), "", fmt.Sprintf("%s %d", src, i), true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
