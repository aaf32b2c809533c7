package mdx_test

import (
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown/dialect/mdx"
	"presswork/internal/markdown/source"
)

func TestRewriteTakesJavaScriptFromTags(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ text, want string }{
		"attribute":     {"<Card a={f(1)} b={\"x\"}>y</Card>", "<Card  b=\"x\">y</Card>"},
		"lines":         {"<Card\n  a={1}\n>\ny", "<Card    >\n\n\ny"},
		"content":       {"<Card>\n    y\n</Card>\n", "<Card>\ny\n</Card>\n"},
		"fenced code":   {"```\n<Card a={1}>\n```\n", "```\n<Card a={1}>\n```\n"},
		"code span":     {"`<Card a={1}>`", "`<Card a={1}>`"},
		"open backtick": {"a ` <Card a={1}>", "a ` <Card >"},
		"blank line":    {"<Card\n\na={1}>", "<Card\n\na={1}>"},
		"braces":        {"<A b={{c: \"}\"}} d>e", "<A  d>e"},
		"markup":        {"<A b={'\"<i>'}>", "<A b=\"&#34;&lt;i&gt;\">"},
		"HTML element":  {"<img a=\"1\" style={{b: '0 > c'}} />", "<img a=\"1\"  />"},
		"HTML as it is": {"<b\n>a</b>", "<b\n>a</b>"},
		"frame":         {"<Frame>x</Frame>", "<Figure>x</Figure>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := source.New([]byte(row.text), 1)

			if err := mdx.Rewrite(s); err != nil {
				t.Fatal(err)
			}

			if got := string(s.Text()); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestRewriteRefusesManyUnclosedTags(t *testing.T) {
	t.Parallel()
	s := source.New([]byte(strings.Repeat("<A ", 10_000)), 1)

	if err := mdx.Rewrite(s); fault.CodeOf(err) != fault.ContentTooComplex {
		t.Errorf("got %v, want %s", err, fault.ContentTooComplex)
	}
}

func TestHoldsMarkdown(t *testing.T) {
	t.Parallel()

	for tag, want := range map[string]bool{"<Card>": true, "<div a>": true, "<p>": false, "<divider>": false, "a": false} {
		t.Run(tag, func(t *testing.T) {
			t.Parallel()

			if got := mdx.HoldsMarkdown([]byte(tag)); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
