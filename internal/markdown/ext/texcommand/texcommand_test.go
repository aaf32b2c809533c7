package texcommand_test

import (
	"testing"

	"github.com/yuin/goldmark/parser"

	"presswork/internal/markdown/ext/texcommand"
	"presswork/internal/test/rendered"
)

func TestCommands(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"shapes": {
			`\textbf{a} \emph{b} \textit{c} \texttt{d}`,
			"<p><strong>a</strong> <em>b</em> <em>c</em> <code>d</code></p>",
		},
		"Markdown within":   {`\textbf{a *b* [c](d)}`, `<p><strong>a <em>b</em> <a href="d">c</a></strong></p>`},
		"commands within":   {`\textbf{a \emph{b {c}} d}`, "<p><strong>a <em>b {c}</em> d</strong></p>"},
		"over two lines":    {"\\emph{a\nb}", "<p><em>a\nb</em></p>"},
		"lines":             {`a\newline b \newline{} c`, "<p>a<br>\nb <br>\nc</p>"},
		"names":             {`\LaTeX{} and \TeX, not \LaTeXe`, "<p>LaTeX and TeX, not \\LaTeXe</p>"},
		"without an indent": {`\noindent Text`, "<p>Text</p>"},
		"never closed":      {`\emph{a *b* \textbf{c}`, "<p>\\emph{a <em>b</em> <strong>c</strong></p>"},
		"never opened":      {`a} {b} \emph{c}}`, "<p>a} {b} <em>c</em>}</p>"},
		"crossed":           {`*a \emph{b* c}`, "<p><em>a \\emph{b</em> c}</p>"},
		"escaped":           {`\\emph{a} \emph{b\}c}`, `<p>\emph{a} <em>b}c</em></p>`},
		"code":              {"`\\emph{a}` \\emph a \\newlines", "<p><code>\\emph{a}</code> \\emph a \\newlines</p>"},
	}, nil, texcommand.Extension{Enabled: func(parser.Context) bool { return true }})
}
