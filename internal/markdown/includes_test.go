package markdown_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown"
)

// folder opens the files of a folder by name.
func folder(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, os.ErrNotExist
		}

		return []byte(text), nil
	}
}

func TestIncludedFilesStandInTheirPlace(t *testing.T) {
	t.Parallel()

	files := folder(map[string]string{
		"a.md":      "---\ntitle: not shown\n---\nfrom a\n",
		"x.go":      "1\n2\n// ANCHOR: part\n4\n// ANCHOR_END: part\n6\n",
		"sub/b.md":  "from b\n\n{{#include c.md}}",
		"sub/c.md":  "from c",
		"Note.md":   "# Note\n\n## One\n\nfirst\n\n### Deep\n\n## Two\n\nsecond\n",
		"two.md":    "second\n",
		"li.md":     "one\n\ntwo\n",
		"broken.md": "![no alt](x.png)\n",
	})

	for source, want := range map[string]string{
		"{{#include a.md}}":                                    "<p>from a</p>\n",
		"text\n\n> {{#include li.md}}\n":                       "<p>text</p>\n<blockquote>\n<p>one</p>\n<p>two</p>\n</blockquote>\n",
		"- x\n\n  {{#include li.md}}\n":                        "<ul>\n<li>\n<p>x</p>\n<p>one</p>\n<p>two</p>\n</li>\n</ul>\n",
		"{{#include sub/b.md}}\n":                              "<p>from b</p>\n<p>from c</p>\n",
		"```\n{{#include x.go:1:2}}\n```\n":                    "<pre class=\"keep\"><code>1\n2\n</code></pre>\n",
		"```\n{{#include x.go:part}}\n```\n":                   "<pre class=\"keep\"><code>4\n</code></pre>\n",
		"```\n{{#include x.go:6:}}\n```\n":                     "<pre class=\"keep\"><code>6\n</code></pre>\n",
		"```\n{{#include x.go::1}}\n```\n":                     "<pre class=\"keep\"><code>1\n</code></pre>\n",
		"!include a.md\n":                                      "<p>from a</p>\n",
		"!include`startLine=1, endLine=1` \"li.md\"\n":         "<p>one</p>\n",
		"``` {.include}\na.md\n// no\ntwo.md\n```\n":           "<p>from a</p>\n<p>second</p>\n",
		"```!include\na.md\n```\n":                             "<p>from a</p>\n",
		"```{.text include=x.go startLine=2 endLine=2}\n```\n": "<pre class=\"chroma keep numbered\" data-start=\"2\"><code class=\"language-text\"><span class=\"line\">2\n</span></code></pre>\n",
		"![[Note#one]]\n":                                      "<h2 id=\"one\">One</h2>\n<p>first</p>\n<h3 id=\"deep\">Deep</h3>\n",
		"![[two]]\n\n[[a|b]]\n":                                "<p>second</p>\n<p>b</p>\n",
		// What is no include, or names no file, stays as it is.
		"```{r, include=FALSE}\n1\n```\n": "<pre class=\"keep\"><code class=\"language-r\"><span class=\"m\">1</span>\n</code></pre>\n",
		"```\n!include other.yaml\n```\n": "<pre class=\"keep\"><code>!include other.yaml\n</code></pre>\n",
		"a {{#include a.md}} b\n":         "<p>a {{#include a.md}} b</p>\n",
		"```\n#include <a.md>\n```\n":     "<pre class=\"keep\"><code>#include &lt;a.md&gt;\n</code></pre>\n",
		"![[Lost]]\n":                     "<p>Lost</p>\n",
	} {
		t.Run(source, func(t *testing.T) {
			d := render(t, source, markdown.Options{Include: files})
			if got := strings.NewReplacer(` class="chroma keep"`, ` class="keep"`).
				Replace(d.HTML); got != want ||
				len(d.Warnings) > 0 {
				t.Errorf("%q: got %q %v, want %q", source, d.HTML, d.Warnings, want)
			}
		})
	}
	// Lines are those of the document.
	d := render(
		t,
		"{{#include li.md}}\n\n{{#include broken.md}}\n\n![none](y.png)\n",
		markdown.Options{Include: files, FirstLine: 11},
	)

	var lines []int
	for _, w := range d.Warnings {
		lines = append(lines, w.Line)
	}

	if fmt.Sprint(lines) != "[13 15]" {
		t.Errorf("warnings %v are not of the lines 13 and 15", d.Warnings)
	}
}

func TestIncludesStayWithinTheirBounds(t *testing.T) {
	t.Parallel()

	deep := map[string]string{
		"loop.md":   "{{#include other.md}}\n",
		"other.md":  "{{#include loop.md}}\n",
		"self.md":   "{{#include ./self.md}}\n",
		"binary.md": "a\xff",
		"big.md":    strings.Repeat(strings.Repeat(" ", 1<<10)+"\n", 5<<10),
		"x.go":      "1\n",
		"up/up.md":  "{{#include ../../secret.md}}\n",
		"dots/a.md": "{{#include ../x.go}}\n",
		"wide.md": strings.Repeat(
			" ",
			1<<20,
		) + "{{#include twice.md}}",
		"twice.md": strings.Repeat("{{#include x.go}}\n", 100),
	}
	for i := range 20 {
		deep[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("{{#include %d.md}}\n", i+1)
	}
	opened := 0
	files := folder(deep)

	count := func(name string) ([]byte, error) {
		opened++

		if strings.HasPrefix(name, "..") || strings.HasPrefix(name, "/") || strings.Contains(name, "//") {
			t.Errorf("%q was asked for", name)
		}

		return files(name)
	}

	for source, want := range map[string]string{
		"{{#include loop.md}}":                       "loop.md includes other.md includes loop.md",
		"{{#include self.md}}":                       "it includes itself",
		"{{#include 0.md}}":                          "deeper than 10 levels",
		"{{#include ../secret.md}}":                  "from the document's folder only",
		"{{#include a/../../secret.md}}":             "from the document's folder only",
		"{{#include up/up.md}}":                      "from the document's folder only",
		"{{#include /etc/passwd}}":                   "from the document's folder only",
		"!include https://a.example/x.md":            "from the document's folder only",
		`{{#include ..\secret.md}}`:                  "from the document's folder only",
		"{{#include none.md}}":                       "the file was not found",
		"{{#include binary.md}}":                     "it is not UTF-8 text",
		"{{#include x.go:9:10}}":                     "it has 1 lines, none in 9:10",
		"{{#include x.go:nowhere}}":                  `it has no anchor "nowhere"`,
		"{{#include x.go:a:b}}":                      "is not a range of lines",
		strings.Repeat("{{#include big.md}}\n\n", 2): "have more than 8 MB",
		"{{#include wide.md}}":                       "have more than 8 MB",
		strings.Repeat("{{#include x.go}}\n", 1001):  "more than 1000 files",
	} {
		t.Run(source, func(t *testing.T) {
			d := render(t, source, markdown.Options{Include: count})
			if len(d.Warnings) == 0 || d.Warnings[0].Code != fault.IncludeFailed ||
				!strings.Contains(d.Warnings[0].Message, want) ||
				d.Warnings[0].Line < 1 {
				t.Errorf("%.60q: got %v, want %q", source, d.Warnings, want)
			}
		})
	}

	if d := render(
		t,
		"{{#include dots/a.md}}",
		markdown.Options{Include: count},
	); !strings.Contains(d.HTML, "1") ||
		len(d.Warnings) > 0 {
		t.Errorf("a file of the folder above, within the document's: %q %v", d.HTML, d.Warnings)
	}

	for _, o := range []markdown.Options{{}, {Include: count, Dialect: markdown.GFM}} {
		opened = 0
		if d := render(t, "{{#include x.go}}", o); opened > 0 || !strings.Contains(d.HTML, "{{#include x.go}}") {
			t.Errorf("%+v: included", o)
		}
	}

	_, err := markdown.New().
		Parse(t.Context(), []byte("{{#include x.md}}"), markdown.Options{Include: func(string) ([]byte, error) {
			return nil, fault.Errorf(fault.StoreUnavailable, "away")
		}})
	if fault.CodeOf(err) != fault.StoreUnavailable {
		t.Errorf("the store is away: %v", err)
	}
}
