package codeblock_test

import (
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2/lexers"
	"golang.org/x/net/html"
)

// Code in each language of Chroma is highlighted, or printed plain if its lexer fails. No code is lost.
func TestNoLanguageLosesCode(t *testing.T) {
	t.Parallel()
	const code = "if (x == 1) { return \"a\" } // b\n# c\n"
	highlighted := 0

	names := lexers.Names(true)
	for _, name := range names {
		if strings.ContainsAny(name, " \t,{:") {
			continue // an info string cannot contain this name, but an alias
		}

		page := render(t, "```"+name+"\n"+code+"```\n", nil)

		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder

		for n := range root.Descendants() {
			if n.Type == html.TextNode {
				text.WriteString(n.Data)
			}
		}

		if got := strings.TrimSpace(text.String()); got != strings.TrimSpace(code) {
			t.Errorf("%s: printed as %q", name, got)
		}

		if strings.Contains(page, "<span class=\"") {
			highlighted++
		}
	}

	if highlighted*10 < len(names)*8 {
		t.Errorf("got %d of %d names highlighted, want 80 %%", highlighted, len(names))
	}
}
