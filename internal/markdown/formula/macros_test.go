package formula

import (
	"strings"
	"testing"
)

func TestDefinitionsAreRead(t *testing.T) {
	t.Parallel()

	for src, want := range map[string]definition{
		`\newcommand{\R}{\mathbb{R}} x`:            {`\R`, `\def\R{\mathbb{R}}`, 27},
		`\newcommand\R{r}`:                         {`\R`, `\def\R{r}`, 16},
		`\renewcommand*{\v}[2]{#1 #2}`:             {`\v`, `\def\v#1#2{#1 #2}`, 28},
		`\newcommand{\n}[2][x]{#1#2}`:              {`\n`, `\newcommand{\n}[2][x]{#1#2}`, 27},
		`\providecommand{\p}{\{}`:                  {`\p`, `\def\p{\{}`, 23},
		`\def\f#1{#1^2}x`:                          {`\f`, `\def\f#1{#1^2}`, 14},
		`\DeclareMathOperator{\Var}{Var}`:          {`\Var`, `\def\Var{\operatorname{Var}}`, 31},
		`\DeclareMathOperator*{\argmin}{arg\,min}`: {`\argmin`, `\def\argmin{\operatorname*{arg\,min}}`, 40},
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()

			if got, ok := readDefinition(src); !ok || got != want {
				t.Errorf("got %+v, %v; want %+v", got, ok, want)
			}
		})
	}

	for _, src := range []string{
		`\define`, `\newcommand{\R}`, `\newcommand{x}{y}`, `\def\a{b`, `\def\a`, `\newcommand{\a}[1][x{y}`,
		`\def\a{` + strings.Repeat("x", maxBody) + `}`,
	} {
		t.Run(src[:min(len(src), 40)], func(t *testing.T) {
			t.Parallel()

			if d, ok := readDefinition(src); ok {
				t.Errorf("got %+v, want none", d)
			}
		})
	}
}

func TestTakeRemovesMacrosAndUsedByReturnsThem(t *testing.T) {
	t.Parallel()
	var m macros

	if got := m.take(`\def\a{\b}\newcommand{\b}{c} \a \\def x`); got != ` \a \\def x` {
		t.Errorf("the formula became %q", got)
	}

	if got := m.usedBy(`x_{\a}`); got != `\def\a{\b}\def\b{c}` {
		t.Errorf("used %q", got)
	}

	if got := m.usedBy(`\ab \\a`); got != "" {
		t.Errorf("used %q, want none", got)
	}
}

func TestMacrosOfADocumentAreLimited(t *testing.T) {
	t.Parallel()
	var m macros

	body := strings.Repeat("x", 2000)
	for i := range 2 * maxMacros {
		m.take(`\def\` + strings.Repeat("a", i%200+1) + strings.Repeat("b", i/200) + "{" + body + "}")
	}

	if m.bytes > maxMacroBytes || len(m.of) > maxMacros || len(m.of) < 20 {
		t.Errorf("%d macros of %d bytes", len(m.of), m.bytes)
	}
}
