package finish

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"presswork/internal/markdown/block"
	"presswork/internal/markdown/hyphen"
)

// softHyphen allows a line break within a word. It is invisible where the line does not break.
const softHyphen = "\u00ad"

// breaking says which words are divided: those of at least letters letters. At least first letters stay before the
// first hyphen, and at least last after the last.
type breaking struct{ letters, first, last int }

var (
	// A line of prose has about a dozen words: only long ones leave a visible gap at its end.
	inProse = breaking{12, 4, 4}
	// In justified text an undivided word widens every space of its line.
	inJustified = breaking{6, 2, 3}
	// A word that is wider than its column takes width from the other columns.
	inCells = breaking{7, 3, 3}
	// A divided heading looks bad, but a word cut off at the edge looks worse.
	inHeadings = breaking{20, 5, 5}
)

// textWriter writes the texts of a document and inserts soft hyphens and <wbr> into long words.
type textWriter struct {
	out   *strings.Builder
	words *hyphen.Dictionary // nil: words are not divided
	cells int                // open table cells
	// justified reports whether prose is justified.
	justified bool
	// heading reports whether a heading is open.
	heading bool
	// whole is the open element whose words are not divided; nested counts how many elements of
	// that name are open.
	whole  string
	nested int
}

// tag updates the state for an element that begins or ends. raw is its tag as the sanitiser writes it.
func (t *textWriter) tag(kind html.TokenType, raw []byte) {
	t.cells += cellChange(kind, raw)
	if t.words == nil || kind != html.StartTagToken && kind != html.EndTagToken {
		return
	}

	name := bytes.TrimLeft(raw, "</")
	if end := bytes.IndexAny(name, " />"); end >= 0 {
		name = name[:end]
	}

	switch begins := kind == html.StartTagToken; {
	case len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6':
		t.heading = begins
	case t.whole == string(name) && begins:
		t.nested++
	case t.whole == string(name):
		if t.nested--; t.nested == 0 {
			t.whole = ""
		}
	// Within code or a formula, and in another language than the document's, words are not divided.
	case t.whole == "" && begins && !block.IsVoid(string(name)) &&
		(keepsWords(name) || bytes.Contains(raw, []byte(` lang="`))):
		t.whole, t.nested = string(name), 1
	}
}

// keepsWords reports whether the words of an element are not divided: readers read code letter by letter.
func keepsWords(element []byte) bool {
	switch string(element) {
	case "pre", "code", "kbd", "samp", "tt", "var", "math":
		return true
	}

	return false
}

// write writes escaped text. It divides words, and in table cells adds places to break, as far as the open elements
// allow.
func (t *textWriter) write(raw []byte) {
	divides := t.words != nil && t.whole == ""
	if !divides && t.cells == 0 {
		t.out.Write(raw)
		return
	}
	rule := inProse

	switch {
	case t.cells > 0:
		rule = inCells
	case t.heading:
		rule = inHeadings
	case t.justified:
		rule = inJustified
	}

	for len(raw) > 0 {
		end := bytes.IndexAny(raw, " \t\n")
		if end < 0 {
			end = len(raw)
		}

		switch word := raw[:end]; {
		case divides && len(word) >= rule.letters && t.divide(string(word), rule):
		case t.cells > 0:
			writeBreakable(t.out, word)
		default:
			t.out.Write(word)
		}

		if raw = raw[end:]; len(raw) > 0 {
			t.out.WriteByte(raw[0])
			raw = raw[1:]
		}
	}
}

// divide writes a word with soft hyphens if it finds a place for one, and reports whether it did. It does not divide a
// word with other signs than letters, their marks, hyphens and apostrophes: it is a name or an address.
func (t *textWriter) divide(word string, rule breaking) bool {
	notLetter := func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M) }
	core := strings.TrimFunc(word, notLetter) // without quotes and punctuation around it

	joint := func(r rune) bool { return r == '-' || r == '’' || r == '\'' }
	if strings.ContainsFunc(core, func(r rune) bool { return notLetter(r) && !joint(r) }) ||
		strings.ContainsAny(word, "&@/_\\") {
		return false
	}
	before, after, _ := strings.Cut(word, core)
	var out strings.Builder
	out.WriteString(before)
	found := false

	for len(core) > 0 {
		end := strings.IndexFunc(core, joint)
		if end < 0 {
			end = len(core)
		}

		part, at := core[:end], 0
		if utf8.RuneCountInString(part) >= rule.letters {
			for _, next := range t.words.Breaks(part, rule.first, rule.last) {
				out.WriteString(part[at:next] + softHyphen)
				at, found = next, true
			}
		}
		out.WriteString(part[at:])

		if core = core[end:]; core != "" {
			_, size := utf8.DecodeRuneInString(core)
			out.WriteString(core[:size])
			core = core[size:]
		}
	}

	if found {
		t.out.WriteString(out.String() + after)
	}

	return found
}

// cellChange returns +1 where a table cell begins and -1 where it ends.
func cellChange(kind html.TokenType, raw []byte) int {
	switch kind {
	case html.StartTagToken:
		if bytes.HasPrefix(raw, []byte("<td")) ||
			bytes.HasPrefix(raw, []byte("<th")) && !bytes.HasPrefix(raw, []byte("<thead")) {
			return 1
		}
	case html.EndTagToken:
		if bytes.Equal(raw, []byte("</td>")) || bytes.Equal(raw, []byte("</th>")) {
			return -1
		}
	}

	return 0
}

// writeBreakable writes an escaped word and allows line breaks within a long one. A word that
// cannot break makes its table wider than the page, and the browser then shrinks the whole
// document.
func writeBreakable(out *strings.Builder, word []byte) {
	// A word of more than longWord bytes may break after each piece of characters, and earlier after punctuation.
	const longWord, piece = 18, 12
	if len(word) <= longWord {
		out.Write(word)
		return
	}

	run := 0
	for i := 0; i < len(word); run++ {
		size := characterSize(word[i:])
		out.Write(word[i : i+size])

		if strings.IndexByte("/_.,-:;=&?", word[i]) >= 0 && run > 2 || run >= piece {
			out.WriteString("<wbr>")
			run = 0
		}
		i += size
	}
}

// characterSize returns the length of the first character or entity of an escaped text.
func characterSize(text []byte) int {
	if text[0] == '&' {
		if i := bytes.IndexByte(text[:min(len(text), 12)], ';'); i > 0 {
			return i + 1
		}
	}
	_, size := utf8.DecodeRune(text)

	return size
}
