package codeblock_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
)

// TestLookChangesNoLetter compares code with few elements to code with an element for each token: every letter
// must have the same classes with a look.
func TestLookChangesNoLetter(t *testing.T) {
	t.Parallel()
	const src = "```go\n// one\n// two\n\n/* three\n   four */\n" +
		"func f(x, y int) bool { return x <= 2*y && x != 3 }\n\nvar s = \"a\\tb\" + `c\nd`\n```\n\n" +
		"```python linenos\n@cached\ndef f(self, *rest: int) -> str:\n    \"\"\"One\n    two.\"\"\"\n" +
		"    return not self.a or f\"{rest!r:>30}, a text that is too long for one line of the page {self.a - 1}\"\n" +
		"```\n\n```go diff\n-a := 1 // old\n+a := 2\n```\n\n```json {1}\n{\"a\": [1, -2.5e3, null]}\n```\n"
	seen := func(class string) bool {
		return slices.Contains(strings.Fields("k kd kc kn kt s s1 s2 se sd mi mf nf nd nt c c1 cm"), class)
	}
	letters := func(look func(class string) bool) (all []string, pieces int) {
		z := html.NewTokenizer(strings.NewReader(render(t, src, look)))
		var open []string

		for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
			switch token := z.Token(); {
			case kind == html.StartTagToken && token.Data == "span":
				class := token.Attr[0].Val
				if !strings.HasPrefix(class, "line") && !seen(class) {
					class = ""
				}
				open = append(open, class)
			case kind == html.EndTagToken && token.Data == "span":
				open = open[:len(open)-1]
			case kind == html.TextToken:
				pieces++

				for _, r := range token.Data {
					if !unicode.IsSpace(r) {
						all = append(all, string(r)+" "+strings.TrimSpace(strings.Join(open, " ")))
					}
				}
			}
		}

		return all, pieces
	}
	want, before := letters(nil)

	got, after := letters(seen)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	if after*5 > before*3 {
		t.Errorf("got %d pieces of text, want at most 3/5 of the %d with an element for each token", after, before)
	}
}
