package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown"
)

func outline(t *testing.T, src string) markdown.Outline {
	t.Helper()

	o, err := markdown.ReadOutline([]byte(src))
	if err != nil {
		t.Fatal(err)
	}

	return o
}

func TestOutlineHasTheStructure(t *testing.T) {
	t.Parallel()
	o := outline(
		t,
		"---\ntitle: T\n---\n# One #\n\nTwo\n---\n\ntext over\ntwo lines\n\n1. a\n2. b\n   - [x] c\n\n   more of b\n\n> q\n> - r\n\n"+
			"| h | i |\n|---|---|\n| 1 | 2 |\n\n```go\ncode\n```\n\n    indented\n\n---\n\n<!-- a\ncomment -->\n\n$$\nx\n$$\n\n[ref]: https://example.org\n",
	)
	names := map[markdown.BlockKind]string{
		markdown.ParagraphBlock: "p",
		markdown.HeadingBlock:   "h",
		markdown.ItemBlock:      "li",
		markdown.QuoteBlock:     "q",
		markdown.RowBlock:       "tr",
		markdown.CodeBlock:      "pre",
	}
	var got []string

	for _, b := range o.Blocks {
		name := names[b.Kind] + b.Fence
		if b.Level > 0 {
			name = fmt.Sprint(name, b.Level)
		}

		if b.Ordered {
			name += "#"
		}

		if b.Task {
			name += "x"
		}
		got = append(got, fmt.Sprintf("%s %q %d", name, b.Text, b.Formulas))
	}

	want := []string{
		`h1 "One" 0`,
		`h2 "Two" 0`,
		`p "text over\ntwo lines" 0`,
		`li# "a" 0`,
		`li# "b" 0`,
		`lix "c" 0`,
		`p "more of b" 0`,
		`q "q" 0`,
		`q "r" 0`,
		`tr "h | i" 0`,
		`tr "1 | 2" 0`,
		`prego "code\n" 0`,
		`p "" 1`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("blocks\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	o.Blocks = nil
	const counts = "{FrontMatter:title: T\n Blocks:[] Lines:25 CodeLines:4 TableLines:3 QuoteLines:2 HTMLLines:2 " +
		"Items:4 Rules:1 Fences:1}"

	if got := fmt.Sprintf("%+v", o); got != counts {
		t.Errorf("got %s, want %s", got, counts)
	}
}

func TestOutlineTextHasNoMarkup(t *testing.T) {
	t.Parallel()

	for source, want := range map[string]string{
		"**Bold** and _thin_, snake_case":          "Bold and thin, snake_case bold[Bold] lead",
		"See [the *guide*](https://e.org/(a)) now": "See the guide now linked[the guide] links 1",
		"[here](#there)":                           "here linked[here]",
		"![alt](x.png)`code` and ``a ` b``.":       "and . images[x.png alt] code 2",
		"## Use `x.y()`":                           "Use x.y() code 1",
		"a <b>tag</b><br>new line":                 "a tag|new line",
		"go to https://example.org/a_b today":      "go to  today links 1",
		"write to me@example.org":                  "write to me@example.org links 1",
		"<https://example.org> &amp; more":         "& more links 1",
		"cost $5 and $6, but $x^2$ is maths":       "cost $5 and $6, but  is maths formulas 1",
		`\*kept\* \# C:\ x`:                        `*kept* # C:\ x`,
		"Text {.class}":                            "Text",
		"one  \ntwo\nthree\n**four** :smile:":      "one|two\nthree|four 😄 bold[four]",
		"a note[^1]\n\n[^1]: on it":                "a note / on it",
		"<div align=center><h1>Name</h1>\n<p>What <b>it</b> is\n<img src=a.svg alt=build>\n<pre>code</pre></div>": "Name / What it is images[a.svg build]",
		"<script>no()</script>": "",
	} {
		t.Run(source, func(t *testing.T) {
			var got []string

			for _, b := range outline(t, source).Blocks {
				s := strings.ReplaceAll(b.Text, markdown.LineSeparator, "|")
				for name, list := range map[string][]string{"bold": b.Bold, "linked": b.Linked, "images": b.Images} {
					if len(list) > 0 {
						s += fmt.Sprintf(" %s%v", name, list)
					}
				}

				if b.Lead {
					s += " lead"
				}

				for _, c := range []struct {
					name string
					n    int
				}{{"links", len(b.Addresses)}, {"code", b.CodeSpans}, {"formulas", b.Formulas}} {
					if c.n > 0 {
						s += fmt.Sprintf(" %s %d", c.name, c.n)
					}
				}
				got = append(got, strings.TrimSpace(s))
			}

			if got := strings.Join(got, " / "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestOutlineOfARejectedDocumentHasNoBlocks(t *testing.T) {
	t.Parallel()

	o, err := markdown.ReadOutline([]byte("---\na: b\n---\n" + strings.Repeat("> ", 200) + "deep"))
	if fault.CodeOf(err) != fault.ContentTooComplex || len(o.Blocks) > 0 || o.FrontMatter != "a: b\n" {
		t.Errorf("got %+v, %v; want the front matter only and ContentTooComplex", o, err)
	}
}
