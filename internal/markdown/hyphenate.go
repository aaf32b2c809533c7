package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"presswork/internal/markdown/hyphen"
)

// softHyphen is where a word may be divided. It does not show elsewhere.
const softHyphen = "\u00ad"

// breaking is which words are divided: of at least so many letters, and how
// many stay on either side.
type breaking struct{ letters, first, last int }

var (
	// A line of prose holds a dozen words, so that only long ones leave a gap.
	inProse = breaking{12, 4, 4}
	// In justified text a word that is not divided leaves its gap in every space.
	inJustified = breaking{6, 2, 3}
	// A word that is wider than its column widens it at the cost of the others.
	inCells = breaking{7, 3, 3}
	// A heading looks torn, but less than when a word is cut off at its edge.
	inHeadings = breaking{20, 5, 5}
)

// textWriter writes the texts of a document, with places where long words may be
// broken.
type textWriter struct {
	out   *strings.Builder
	words *hyphen.Dictionary // nil: words are not divided
	cells int                // the table cells that are open
	// justified reports whether prose is.
	justified bool
	// heading reports whether one is open.
	heading bool
	// whole is the open element whose words are not divided, nested of which
	// are open.
	whole  string
	nested int
}

// tag notes where an element begins or ends. raw is its tag as the sanitiser
// writes it.
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
	case t.whole == "" && begins && !isVoid(name) && (undivided(name) || bytes.Contains(raw, []byte(` lang="`))):
		t.whole, t.nested = string(name), 1
	}
}

// undivided are the elements whose words are not divided: code is read letter
// by letter.
func undivided(element []byte) bool {
	switch string(element) {
	case "pre", "code", "kbd", "samp", "tt", "var", "math":
		return true
	}

	return false
}

// isVoid reports whether an element has no end tag (HTML, "void elements").
func isVoid(element []byte) bool {
	switch string(element) {
	case "br", "col", "hr", "img", "input", "wbr":
		return true
	}

	return false
}

// write writes escaped text.
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

// divide writes a word with soft hyphens, if it has a place for one. What holds
// anything but letters, hyphens and apostrophes is a name or an address.
func (t *textWriter) divide(word string, rule breaking) bool {
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	core := strings.TrimFunc(word, notLetter)

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
