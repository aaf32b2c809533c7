package markdown_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/markdown/dialect"
)

// folder returns a function that opens the files of a folder by name.
func folder(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, os.ErrNotExist
		}

		return []byte(text), nil
	}
}

func TestIncludedFilesAreParsedInTheirPlace(t *testing.T) {
	t.Parallel()

	files := folder(map[string]string{
		"x.go":    "1\n2\n",
		"Note.md": "# Note\n\n## One\n\nfirst\n\n### Deep\n\n## Two\n\nsecond\n",
		"two.md":  "second\n",
		"list.md": "one\n\ntwo\n",
	})

	for name, row := range map[string]struct{ source, want string }{
		"quote": {
			"text\n\n> {{#include list.md}}\n",
			"<p>text</p>\n<blockquote>\n<p>one</p>\n<p>two</p>\n</blockquote>\n",
		},
		"list item": {
			"- x\n\n  {{#include list.md}}\n",
			"<ul>\n<li>\n<p>x</p>\n<p>one</p>\n<p>two</p>\n</li>\n</ul>\n",
		},
		"code file": {
			"```{.text include=x.go startLine=2 endLine=2}\n```\n",
			"<pre class=\"chroma keep numbered\" data-start=\"2\"><code class=\"language-text\">" +
				"<span class=\"line\">2\n</span></code></pre>\n",
		},
		"R Markdown option": {
			"```{r, include=FALSE}\n1\n```\n",
			"<pre class=\"chroma keep\"><code class=\"language-r\"><span class=\"m\">1</span>\n</code></pre>\n",
		},
		"section": {
			"![[Note#one]]\n",
			"<h2 id=\"one\">One</h2>\n<p>first</p>\n<h3 id=\"deep\">Deep</h3>\n",
		},
		"note and link": {"![[two]]\n\n[[a|b]]\n", "<p>second</p>\n<p>b</p>\n"},
		"missing note":  {"![[Lost]]\n", "<p>Lost</p>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := render(t, row.source, markdown.Options{Include: files})
			if d.HTML != row.want || len(d.Warnings) > 0 {
				t.Errorf("got %q %v, want %q", d.HTML, d.Warnings, row.want)
			}
		})
	}
}

func TestWarningsAboutIncludedTextNameTheLineOfTheDirective(t *testing.T) {
	t.Parallel()

	files := folder(map[string]string{"list.md": "one\n\ntwo\n", "broken.md": "![no alt](x.png)\n"})
	d := render(
		t,
		"{{#include list.md}}\n\n{{#include broken.md}}\n\n![none](y.png)\n",
		markdown.Options{Include: files, FirstLine: 11},
	)

	var lines []int
	for _, w := range d.Warnings {
		lines = append(lines, w.Line)
	}

	if fmt.Sprint(lines) != "[13 15]" {
		t.Errorf("the warnings %v are not about the lines 13 and 15", d.Warnings)
	}
}

func TestNothingIsIncludedWithoutIncludeOrInGFM(t *testing.T) {
	t.Parallel()

	for name, dialect := range map[string]string{"no Include": "", "GFM": dialect.GFM} {
		t.Run(name, func(t *testing.T) {
			o := markdown.Options{Dialect: dialect}
			if dialect != "" {
				o.Include = func(name string) ([]byte, error) {
					t.Errorf("the file %q was opened", name)
					return nil, os.ErrNotExist
				}
			}

			if d := render(t, "{{#include x.go}}", o); !strings.Contains(d.HTML, "{{#include x.go}}") {
				t.Errorf("got %q", d.HTML)
			}
		})
	}
}

func TestAnOutageOfTheStoreEndsParse(t *testing.T) {
	t.Parallel()

	_, err := markdown.New().Parse(t.Context(), []byte("{{#include x.md}}"), markdown.Options{
		Include: func(string) ([]byte, error) {
			return nil, fault.Errorf(fault.StoreUnavailable, "the store does not answer")
		},
	})
	if fault.CodeOf(err) != fault.StoreUnavailable {
		t.Errorf("got %v, want StoreUnavailable", err)
	}
}
