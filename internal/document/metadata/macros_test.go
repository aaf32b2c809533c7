package metadata_test

import (
	"testing"

	"presswork/internal/document/metadata"
)

func TestMacrosOfTheFrontMatterAreRead(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ matter, want string }{
		"MyST":              {"math:\n  '\\vv': '\\vec{#1}'", "\\newcommand{\\vv}[1]{\\vec{#1}}\n"},
		"MathJax":           {"macros:\n  bold: ['{\\bf #1}', 1]\n  R: '\\mathbb{R}'", "\\newcommand{\\R}{\\mathbb{R}}\n\\newcommand{\\bold}[1]{{\\bf #1}}\n"},
		"KaTeX":             {"katex:\n  macros:\n    '\\R': '\\mathbb{R}'", "\\newcommand{\\R}{\\mathbb{R}}\n"},
		"Pandoc":            {"header-includes:\n- \\newcommand{\\a}{b}\n- \\usepackage{x}", "\\newcommand{\\a}{b}\n\\usepackage{x}\n"},
		"Quarto":            {"include-in-header:\n- text: \\newcommand{\\a}{b}", "\\newcommand{\\a}{b}\n"},
		"switch of Hugo":    {"math: true", ""},
		"name of an engine": {"math: katex", ""},
		"invalid macros":    {"macros:\n  'a b': c\n  '\\x': {}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := metadata.Read([]byte("---\n" + c.matter + "\n---\n"))
			if err != nil || m.Macros != c.want {
				t.Errorf("got %q, %v; want %q", m.Macros, err, c.want)
			}
		})
	}
}
