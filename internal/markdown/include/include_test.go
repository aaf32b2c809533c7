package include_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown/include"
	"presswork/internal/markdown/source"
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

func TestExpandReplacesDirectives(t *testing.T) {
	t.Parallel()

	open := folder(map[string]string{
		"a.md":     "---\ntitle: not shown\n---\nfrom a\n",
		"x.go":     "1\n2\n// ANCHOR: part\n4\n// ANCHOR_END: part\n6\n",
		"sub/b.md": "from b\n\n{{#include c.md}}",
		"sub/c.md": "from c",
		"up/b.md":  "{{#include ../two.md}}\n",
		"Note.md":  "# Note\n\n## One\n\nfirst\n\n### Deep\n\n## Two\n\nsecond\n",
		"two.md":   "second\r\n",
		"bom.md":   "\ufefftext\n",
		"list.md":  "one\n\ntwo\n",
	})

	for name, row := range map[string]struct{ source, want string }{
		"mdBook":              {"{{#include a.md}}", "from a\n"},
		"quote":               {"text\n\n> {{#include list.md}}\n", "text\n\n> one\n> \n> two\n"},
		"list item":           {"- x\n\n  {{#include list.md}}\n", "- x\n\n  one\n  \n  two\n"},
		"nested":              {"{{#include sub/b.md}}\nend\n", "from b\n\nfrom c\nend\n"},
		"folder above":        {"{{#include up/b.md}}\n", "second\n"},
		"byte order mark":     {"{{#include bom.md}}\n", "text\n"},
		"lines in code":       {"```\n{{#include x.go:1:2}}\n```\n", "```\n1\n2\n```\n"},
		"anchor":              {"```\n{{#include x.go:part}}\n```\n", "```\n4\n```\n"},
		"lines to the end":    {"```\n{{#include x.go:6:}}\n```\n", "```\n6\n```\n"},
		"lines from start":    {"```\n{{#include x.go::1}}\n```\n", "```\n1\n```\n"},
		"pandoc-include":      {"!include a.md\n", "from a\n"},
		"pandoc-include part": {"!include`startLine=1, endLine=1` \"list.md\"\n", "one\n"},
		"Quarto":              {"{{< include a.md >}}\n", "from a\n"},
		"fence of files":      {"``` {.include}\na.md\n// no\ntwo.md\n```\n", "from a\n\nsecond\n\n"},
		"fence, short form":   {"```!include\na.md\n```\n", "from a\n\n"},
		"code file": {
			"```{.text include=x.go startLine=2 endLine=2}\n```\n",
			"```{.text include=x.go startLine=2 endLine=2}\n2\n```\n",
		},
		"MyST":                {"```{include} a.md\n```\n", "from a\n"},
		"MyST, literal":       {"```{literalinclude} x.go\n:lines: 1-2\n```\n", "~~~~~~{code-block} go\n---\nlines: 1-2\n---\n1\n2\n~~~~~~\n"},
		"section of Obsidian": {"![[Note#one]]\n", "## One\n\nfirst\n\n### Deep\n\n"},
		"note of Obsidian":    {"![[two]]\n", "second\n"},
		"R Markdown option":   {"```{r, include=FALSE}\n1\n```\n", "```{r, include=FALSE}\n1\n```\n"},
		"YAML in code":        {"```\n!include other.yaml\n```\n", "```\n!include other.yaml\n```\n"},
		"amid a line":         {"a {{#include a.md}} b\n", "a {{#include a.md}} b\n"},
		"C in code":           {"```\n#include <a.md>\n```\n", "```\n#include <a.md>\n```\n"},
		"missing note":        {"![[Lost]]\n", "![[Lost]]\n"},
		"image of Obsidian":   {"![[two.png]]\n", "![[two.png]]\n"},
		"open fence":          {"``` {.include}\na.md\n", "``` {.include}\na.md\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := source.New([]byte(row.source), 1)

			warnings, err := include.Expand(s, include.Options{Open: open, Obsidian: true})
			if got := string(s.Text()); got != row.want || len(warnings) > 0 || err != nil {
				t.Errorf("got %q, %v, %v; want %q", got, warnings, err, row.want)
			}
		})
	}
}

func TestExpandWarnsOfWhatItDoesNotInclude(t *testing.T) {
	t.Parallel()

	files := map[string]string{
		"loop.md":   "{{#include other.md}}\n",
		"other.md":  "{{#include loop.md}}\n",
		"self.md":   "{{#include ./self.md}}\n",
		"binary.md": "a\xff",
		"big.md":    strings.Repeat(strings.Repeat(" ", 1<<10)+"\n", 5<<10),
		"x.go":      "1\n",
		"up/up.md":  "{{#include ../../secret.md}}\n",
		"wide.md":   strings.Repeat(" ", 1<<20) + "{{#include twice.md}}",
		"twice.md":  strings.Repeat("{{#include x.go}}\n", 100),
		"Note.md":   "# One\n",
	}
	for i := range 20 {
		files[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("{{#include %d.md}}\n", i+1)
	}
	open := folder(files)

	for name, row := range map[string]struct{ source, want string }{
		"loop":             {"{{#include loop.md}}", "loop.md includes other.md includes loop.md"},
		"itself":           {"{{#include self.md}}", "it includes itself"},
		"depth":            {"{{#include 0.md}}", "deeper than 10 levels"},
		"folder above":     {"{{#include ../secret.md}}", "from the document's folder only"},
		"detour":           {"{{#include a/../../secret.md}}", "from the document's folder only"},
		"from a file":      {"{{#include up/up.md}}", "from the document's folder only"},
		"absolute path":    {"{{#include /etc/passwd}}", "from the document's folder only"},
		"address":          {"!include https://a.example/x.md", "from the document's folder only"},
		"backslash":        {`{{#include ..\secret.md}}`, "from the document's folder only"},
		"missing file":     {"{{#include none.md}}", "the file was not found"},
		"not UTF-8":        {"{{#include binary.md}}", "it is not UTF-8 text"},
		"missing lines":    {"{{#include x.go:9:10}}", "it has 1 lines, none in 9:10"},
		"missing anchor":   {"{{#include x.go:nowhere}}", `it has no anchor "nowhere"`},
		"wrong range":      {"{{#include x.go:a:b}}", "is not a range of lines"},
		"bytes of files":   {strings.Repeat("{{#include big.md}}\n\n", 2), "have more than 8 MB"},
		"bytes of margins": {"{{#include wide.md}}", "have more than 8 MB"},
		"number of files":  {strings.Repeat("{{#include x.go}}\n", 1001), "more than 1000 files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			warnings, err := include.Expand(source.New([]byte("\n"+row.source), 11), include.Options{
				Open: func(name string) ([]byte, error) {
					if strings.HasPrefix(name, "..") || strings.HasPrefix(name, "/") || strings.Contains(name, "//") {
						t.Errorf("the file %q was opened", name)
					}

					return open(name)
				},
			})
			if err != nil || len(warnings) == 0 {
				t.Fatalf("got the warnings %v and the error %v", warnings, err)
			}

			w := warnings[0]
			if w.Code != fault.IncludeFailed || w.Line < 12 || !strings.Contains(w.Message, row.want) {
				t.Errorf("got %v, want %q on line 12 or later", w, row.want)
			}
		})
	}
}

func TestExpandReturnsAnOutageOfTheStore(t *testing.T) {
	t.Parallel()

	_, err := include.Expand(source.New([]byte("{{#include x.md}}"), 1), include.Options{
		Open: func(string) ([]byte, error) {
			return nil, fault.Errorf(fault.StoreUnavailable, "the store does not answer")
		},
	})
	if fault.CodeOf(err) != fault.StoreUnavailable {
		t.Errorf("got %v, want StoreUnavailable", err)
	}
}

// In a book, a chapter may include the files of the whole book, but no others.
func TestExpandIncludesFromTheWholeBook(t *testing.T) {
	t.Parallel()

	open := folder(map[string]string{"code/x.rs": "fn\n", "src/one/part.qmd": "---\ntitle: no\n---\npart\n"})

	for source, want := range map[string]string{
		"{{#include ../../code/x.rs}}\n":     "fn\n",
		"{{< include /code/x.rs >}}\n":       "fn\n",
		"{{< include part.qmd >}}\n":         "part\n",
		"{{#include ../../../etc/passwd}}\n": "{{#include ../../../etc/passwd}}\n",
		"{{< include /../etc/passwd >}}\n":   "{{< include /../etc/passwd >}}\n",
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			s := sourceOf(source)

			warnings, err := include.Expand(s, include.Options{Open: open, Folder: "src/one"})
			if got := string(s.Text()); got != want || err != nil || (len(warnings) > 0) != (source == want) {
				t.Errorf("got %q, %v, %v; want %q", got, warnings, err, want)
			}
		})
	}
}

func sourceOf(text string) *source.Source { return source.New([]byte(text), 1) }
