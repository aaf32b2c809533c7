// Package numbering numbers the headings of documents: 1.2.3, and A.1 in appendices. Numbering.Next returns the number
// of each heading, in the order of the document. The resulting Sections let another document continue the numbers.
package numbering

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/dialect/quarto"
	"presswork/internal/markdown/numeral"
	"presswork/internal/markdown/tree"
)

// Sections are the numbers of the last headings of a document, for a document that continues them.
type Sections struct {
	counts [7]int // the number of the last heading of each level, 1 to 6
	// lettered is the level with letters in an appendix, 0 outside of one.
	lettered int
	// until is the level at which a heading ends the appendix, as one of a higher level does. 0 means never.
	until int
	// before is the number of the last heading of the level lettered before the appendix. The numbers continue there.
	before int
}

// InAppendix returns the numbers at the start of the appendix: headings of level 1 have letters from here on.
func (s Sections) InAppendix() Sections {
	if s.lettered == 1 && s.until == 0 {
		return s
	}

	return Sections{lettered: 1}
}

// Numbering numbers the headings of one document. A single heading of level 1 is the title and has no number.
type Numbering struct {
	// Top is the highest level with numbers.
	Top int
	Sections
	starts map[*ast.Heading]start
}

// start describes a heading that begins an appendix. lettered and until are as in Sections. own is the number of the
// letter that the heading itself has, 1 for A, or 0 if only headings after it get letters.
type start struct{ lettered, until, own int }

// New returns the numbering for the headings of a document. before are the numbers that it continues, nil for a
// document of its own.
func New(nodes []*ast.Heading, src []byte, before *Sections) *Numbering {
	n := &Numbering{Top: Top(nodes, before), starts: startsOf(nodes, src)}
	if before != nil {
		n.Sections = *before
	}

	return n
}

// Top returns the highest level with numbers. That is 1 for a document that continues another, and 2 if a single
// heading of level 1 is the title. Otherwise it is the level of the highest heading.
func Top(nodes []*ast.Heading, before *Sections) int {
	if before != nil {
		return 1
	}
	titles, top := 0, 6

	for _, h := range nodes {
		if h.Level == 1 {
			titles++
		}
		top = min(top, h.Level)
	}

	if titles == 1 {
		top = 2
	}

	return top
}

// Next returns the number of the next heading, "" for the title and for a heading without a number.
func (n *Numbering) Next(h *ast.Heading) string {
	level := h.Level
	if n.lettered > 0 && (level <= n.until || level < n.lettered) {
		n.endAppendix()
	}

	if tree.HasClass(h, quarto.AppendixClass) {
		n.Sections = n.InAppendix()
	} else if s, ok := n.starts[h]; ok && level >= n.Top {
		n.beginAppendix(s)
		return ""
	}

	if level < n.Top || tree.HasClass(h, tree.Unnumbered) {
		return ""
	}
	n.counts[level]++
	clear(n.counts[level+1:])

	first := max(n.Top, n.lettered)
	parts := make([]string, 0, 6)

	for l := first; l <= level; l++ {
		if l == n.lettered {
			parts = append(parts, letters(n.counts[l]))
		} else {
			parts = append(parts, strconv.Itoa(n.counts[l]))
		}
	}

	return strings.Join(parts, ".")
}

// Chapter returns the number of the chapter that a heading begins, "" if it begins none. number is the result of Next
// for the heading.
func (n *Numbering) Chapter(h *ast.Heading, number string) string {
	if h.Level != max(n.Top, n.lettered) {
		return ""
	}

	if own := n.starts[h].own; own > 0 {
		return letters(own)
	}

	return number
}

// beginAppendix changes the numbers for a heading that begins an appendix. A further "Appendix B" continues the current
// one.
func (n *Numbering) beginAppendix(s start) {
	if n.lettered != s.lettered {
		n.before = n.counts[s.lettered]
		n.counts[s.lettered] = 0
		n.lettered, n.until = s.lettered, s.until
	}

	if s.own > 0 {
		n.counts[s.lettered] = s.own
	}
	clear(n.counts[s.lettered+1:])
}

// endAppendix restores the numbers from before the appendix.
func (n *Numbering) endAppendix() {
	n.counts[n.lettered] = n.before
	n.lettered, n.until, n.before = 0, 0, 0
}

var (
	// appendixTitle matches the title of an appendix. Its groups are the word and the letter.
	appendixTitle = lazyregexp.New(`^(\pL+)(?:[ \x{a0}]([A-Z])(?:\b.*)?)?$`)
	// appendixWords are the words of appendices in lower case.
	appendixWords = []string{
		"appendix", "appendixes", "appendices", "anhang", "anhänge", "annex", "annexes", "annexe", "apéndice",
		"apéndices", "anexo", "anexos", "appendice", "appendici", "bijlage", "bijlagen", "dodatek", "dodatki",
		"приложение", "приложения", "付録", "附录",
	}
)

// startsOf returns the headings that begin an appendix: "Appendices", above headings that get letters, and "Appendix
// A: Data", which keeps its letter.
func startsOf(nodes []*ast.Heading, src []byte) map[*ast.Heading]start {
	starts := map[*ast.Heading]start{}

	for i, h := range nodes {
		m := appendixTitle().FindStringSubmatch(strings.TrimSpace(tree.PlainText(h, src)))
		if m == nil || !slices.Contains(appendixWords, strings.ToLower(m[1])) {
			continue
		}

		switch within := i+1 < len(nodes) && nodes[i+1].Level > h.Level; {
		case m[2] != "":
			starts[h] = start{lettered: h.Level, until: h.Level, own: int(m[2][0]-'A') + 1}
		case within:
			starts[h] = start{lettered: nodes[i+1].Level, until: h.Level}
		default:
			starts[h] = start{lettered: h.Level}
		}
	}

	return starts
}

// letters returns the letters of a number: A to Z, then AA and so on; "0" for 0.
func letters(n int) string {
	return cmp.Or(strings.ToUpper(numeral.Letters(n)), "0")
}
