package quarto_test

import (
	"bytes"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/dialect/quarto"
	"presswork/internal/markdown/tree"
)

func TestOptionsOfCellsAreNotPrinted(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ source, want string }{
		"options":           {"```{r}\n#| label: a\n#| eval: true\n\nx\n```", "x\n"},
		"of other comments": {"```{r}\n//| label: a\nx\n```", "x\n"},
		"after code":        {"```{r}\nx\n#| label: a\n```", "x\n#| label: a\n"},
		"echo":              {"```{r}\n#| echo: false\nx\n```\n\ny", "<p>y</p>\n"},
		"include":           {"> ```{r}\n> #| include: false\n> x\n> ```\n\ny", "<blockquote>\n</blockquote>\n<p>y</p>\n"},
		"echo is true":      {"```{r}\n#| echo: true\nx\n```", "x\n"},
		"no cell":           {"```r\n#| echo: false\nx\n```", "#| echo: false\nx\n"},
		"options only":      {"```{r}\n#| label: a\n```", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, src := goldmark.New(), []byte(row.source)
			root := m.Parser().Parse(text.NewReader(src))
			quarto.DropOptions(root, src, func(info []byte) bool { return bytes.HasPrefix(info, []byte("{r")) })

			var out bytes.Buffer
			if err := m.Renderer().Render(&out, src, root); err != nil {
				t.Fatal(err)
			}

			_, got, isCode := bytes.Cut(out.Bytes(), []byte("\">"))
			if got = bytes.TrimSuffix(got, []byte("</code></pre>\n")); !isCode {
				got = out.Bytes()
			}

			if string(got) != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestContentForOtherFormatsIsHidden(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct {
		class, attribute, format string
		hidden                   bool
	}{
		"visible in HTML":        {"content-visible", tree.WhenFormat, "html", true},
		"visible in PDF":         {"content-visible", tree.WhenFormat, "PDF", false},
		"visible in a list":      {"content-visible", tree.WhenFormat, `["html", "pdf"]`, false},
		"visible unless in PDF":  {"content-visible", tree.UnlessFormat, "pdf", true},
		"visible unless in HTML": {"content-visible", tree.UnlessFormat, "html", false},
		"hidden in HTML":         {"content-hidden", tree.WhenFormat, "html", false},
		"hidden in PDF":          {"content-hidden", tree.WhenFormat, "pdf", true},
		"hidden unless in PDF":   {"content-hidden", tree.UnlessFormat, "pdf", false},
		"hidden unless in HTML":  {"content-hidden", tree.UnlessFormat, "html", true},
		"without a condition":    {"content-hidden", "title", "pdf", false},
		"other class":            {"content", tree.WhenFormat, "html", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			root, n := ast.NewDocument(), ast.NewParagraph()
			n.SetAttributeString("class", []byte(row.class))
			n.SetAttributeString(row.attribute, []byte(row.format))
			root.AppendChild(root, n)
			quarto.DropHidden(root, []string{"pdf", "latex"})

			if hidden := !root.HasChildren(); hidden != row.hidden {
				t.Errorf("hidden is %v, want %v", hidden, row.hidden)
			}
		})
	}
}
