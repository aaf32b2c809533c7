package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"presswork/internal/markdown/frontmatter"
)

// words counts the words of a text in a normal form, so that a source, a page and a print can be compared. The form has
// no case, ligatures, accents and vowel signs, whose order differs in print.
type words struct {
	count map[string]int
	// run has all words without separators, because a print divides words at the ends of lines and of cells.
	run string
}

// wordsOf returns the words of a text.
func wordsOf(text string) words {
	folded := cases.Fold().String(norm.NFKD.String(text))
	w := words{count: map[string]int{}}
	var run, word strings.Builder
	end := func() {
		if word.Len() > 0 {
			w.count[word.String()]++
			word.Reset()
		}
	}

	for _, r := range folded {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			word.WriteRune(r)
			run.WriteRune(r)
		case unicode.Is(unicode.M, r), unicode.Is(unicode.Cf, r):
			// Accents, soft hyphens, marks of direction: within a word.
		default:
			end()
		}
	}
	end()
	w.run = run.String()

	return w
}

// letters returns w with the words of right-to-left scripts split into letters, because pdftotext changes their order.
func (w words) letters() words {
	out := words{count: map[string]int{}, run: w.run}
	for word, n := range w.count {
		if !strings.ContainsFunc(word, rightToLeft) {
			out.count[word] += n
			continue
		}

		for _, letter := range word {
			out.count[string(letter)] += n
		}
	}

	return out
}

// rightToLeft reports whether a letter belongs to a script that is written from right to left.
func rightToLeft(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// total returns the number of words.
func (w words) total() (n int) {
	for c := range maps.Values(w.count) {
		n += c
	}

	return n
}

// lost returns the words that in has less often than w, in alphabetical order, and each as often as it is missing.
func (w words) lost(in words) []string {
	var out []string

	for _, word := range slices.Sorted(maps.Keys(w.count)) {
		want := w.count[word]
		if in.count[word] >= want {
			continue
		}
		out = append(out, slices.Repeat([]string{word}, max(0, want-strings.Count(in.run, word)))...)
	}

	return out
}

var (
	// drawn matches blocks whose source is not printed as text.
	drawn = regexp.MustCompile("(?ms)^[ \t]*(```|~~~)[ \t{.]*(mermaid|math|dot|plantuml)\\b.*?^[ \t]*(```|~~~)[ \t]*$")
	// formula matches TeX, which is typeset as MathML.
	formula = regexp.MustCompile(`(?s)\$\$.*?\$\$|\$[^\s$](?:[^$\n]*[^\s$])?\$`)
	// marks matches types of notes, attributes, index entries and comments.
	marks = regexp.MustCompile(`(?s)\[!\w+\]|\{\s*[#.:][^{}\n]*\}|\\index\{[^{}\n]*\}|\{/\*.*?\*/\}`)
)

// withoutSyntax removes syntax that other renderers show as text.
func withoutSyntax(body []byte) []byte {
	for _, r := range []*regexp.Regexp{drawn, formula, marks} {
		body = r.ReplaceAll(body, nil)
	}

	return body
}

// referenceWords returns the words that cmark-gfm, GitHub's renderer, finds in a document without the syntax that only
// Presswork reads.
func referenceWords(ctx context.Context, document []byte) (words, error) {
	matter, err := frontmatter.Read(document)
	if err != nil {
		return words{}, err
	}
	cmd := exec.CommandContext(ctx, "cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e",
		"autolink", "-e", "tasklist", "-e", "footnotes")
	cmd.Stdin = bytes.NewReader(withoutSyntax(matter.Body))

	out, err := cmd.Output()
	if err != nil {
		return words{}, fmt.Errorf("cmark-gfm: %w", err)
	}
	text, err := visibleText(out)

	return wordsOf(text), err
}

// visibleText returns the text of an HTML page that a reader can see.
func visibleText(page []byte) (string, error) {
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}

		if n.Type == html.ElementNode {
			switch n.Data {
			case "head", "script", "style", "template", "noscript", "iframe", "annotation", "select", "textarea":
				return
			case "b", "strong", "em", "i", "span", "a", "code", "mark", "u", "s", "del", "wbr", "sub", "sup", "small",
				"font", "tt", "kbd", "var":
				// These elements may be within a word.
			default:
				b.WriteByte('\n')
			}
		}

		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(root)

	return b.String(), nil
}

// poppler returns the output of one of poppler's programs.
func poppler(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}

	return string(out), nil
}
