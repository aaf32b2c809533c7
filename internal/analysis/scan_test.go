package analysis

import (
	"strings"
	"testing"
)

func TestScanTellsStructure(t *testing.T) {
	t.Parallel()
	o := scan("---\ntitle: T\ntags: [a, b]\n---\n# One #\n\nTwo\n---\n\ntext over\ntwo lines\n\n1. a\n2. b\n   - [x] c\n\n> q\n\n| h | i |\n|---|---|\n| 1 | 2 |\n\n```go\ncode\n```\n\n    indented\n\n<!-- a\ncomment -->\n\n[ref]: https://example.org\n")
	var kinds []string
	for _, b := range o.blocks {
		kinds = append(kinds, map[kind]string{paragraph: "p", item: "li", quote: "q", tableRow: "tr", codeBlock: "code"}[b.kind])
	}
	if got, want := strings.Join(kinds, " "), "p li li li q tr tr code"; got != want {
		t.Errorf("blocks %s, want %s", got, want)
	}
	if len(o.headings) != 2 || o.headings[0].text != "One" || o.headings[1].level != 2 {
		t.Errorf("headings %+v", o.headings)
	}
	if o.front.text("title") != "T" || len(o.front.list("tags")) != 2 {
		t.Errorf("front matter %v", o.front)
	}
	if o.codeLines != 4 || o.htmlLines != 2 || !o.blocks[1].ordered || !o.blocks[3].task {
		t.Errorf("%+v", o)
	}
}

func TestPlainLeavesWordsOnly(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"**Bold** and _thin_, snake_case":          "Bold and thin, snake_case",
		"See [the *guide*](https://e.org/(a)) now": "See the guide now",
		"![alt](x.png)`code` and ``a ` b``.":       " and .",
		"a <b>tag</b><br>new line":                 "a tag\nnew line",
		"go to https://example.org/a_b today":      "go to  today",
		"<https://example.org> &amp; more":         " & more",
		"cost $5 and $6, but $x^2$ is maths":       "cost $5 and $6, but  is maths",
		"cited [@one; @two] and [3] and [^n]":      "cited  and  and ",
		`\*kept\* \# C:\ x`:                        `*kept* # C:\ x`,
		"Title {#anchor} {/*mdx*/}":                "Title  ",
		"one  \ntwo\nthree":                        "one  \ntwo three",
		"unclosed [link and `code":                 "unclosed [link and code",
	} {
		var ev evidence
		if got := plain(source, &ev); got != want {
			t.Errorf("plain(%q) = %q, want %q", source, got, want)
		}
	}
}

func TestMinutes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"nothing":      {"", 0},
		"a word":       {"word", 1},
		"220 words":    {strings.Repeat("word ", 220), 1},
		"221 words":    {strings.Repeat("word ", 221), 2},
		"Chinese":      {strings.Repeat("文字", 400), 2},
		"code":         {"```\n" + strings.Repeat("x := 1\n", 98) + "```\n", 4},
		"front matter": {"---\ntitle: " + strings.Repeat("word ", 500) + "\n---\n", 0},
	} {
		if got := read([]byte(c.text)).minutes(); got != c.want {
			t.Errorf("%s: %d minutes, want %d", name, got, c.want)
		}
	}
}
