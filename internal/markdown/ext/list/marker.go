package list

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/numeral"
	"presswork/internal/markdown/tree"
)

// listStyle is the style of the markers of an ordered list: a. A) (i) (1) #. or the numbered examples of
// Pandoc, (@) and (@label), whose numbers run through the document.
type listStyle struct {
	// kind is the first numeral of the style, a A i I or 1, or # or @.
	kind byte
	// open and shut are the characters around the numeral. open may be 0.
	open, shut byte
}

// listMarker is a marker at the start of a line.
type listMarker struct {
	listStyle
	value int    // the number that the numeral stands for, 0 for # and @
	label string // the label of an example, "" for none
	// indent is the number of spaces before the marker. end is the offset after it on the line.
	indent, end int
}

// readMarker reads the marker at the start of a line, which a space and text must follow. within is the style of the
// list so far. It decides whether a letter is a Roman numeral. For the zero style, only i is.
func readMarker(line []byte, within listStyle) (m listMarker, ok bool) {
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}

	if m.indent = i; i > 3 || i+2 >= len(line) {
		return m, false
	}

	if line[i] == '(' {
		m.open = '('
		i++
	}
	const longest = 40 // bytes

	size := bytes.IndexAny(line[i:min(len(line), i+longest)], ".) \t\n")
	if size < 1 || line[i+size] != '.' && line[i+size] != ')' {
		return m, false
	}
	word := line[i : i+size]

	m.shut, m.end = line[i+size], i+size+1
	// "(a" needs a closing bracket, and the marker needs a space and text after it.
	if m.open != 0 && m.shut != ')' || m.end >= len(line) || line[m.end] != ' ' && line[m.end] != '\t' ||
		util.IsBlank(line[m.end:]) {
		return m, false
	}

	return m, m.readNumeral(word, within.kind)
}

// readNumeral sets the kind and the value of a marker from its numeral, "#" or "@label". kind is that of the list, 0 if
// there is none yet. It returns false for other words.
func (m *listMarker) readNumeral(word []byte, kind byte) bool {
	switch c := word[0]; {
	case c == '@':
		m.kind, m.label = '@', string(word[1:])
		return m.open != 0 && (m.label == "" || tree.IsName(m.label, true, "-"))
	case c == '#':
		m.kind = '#'
		return len(word) == 1 && m.open == 0
	case c >= '0' && c <= '9':
		m.kind = '1'
		n, err := strconv.Atoi(string(word))
		m.value = n

		return m.open != 0 && err == nil && len(word) <= 9
	// "i" alone, and several letters, are a Roman numeral unless the list has letters.
	case kind != 'a' && kind != 'A' && (len(word) > 1 || c == 'i' || c == 'I' || kind == 'i' || kind == 'I'):
		m.kind, m.value = 'i', roman(word)
		if c < 'a' {
			m.kind, m.value = 'I', roman(bytes.ToLower(word))
		}

		return m.value > 0 && m.value < 4000 && numeral.Roman(m.value) == strings.ToLower(string(word)) &&
			sameCase(word)
	case len(word) == 1 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'):
		m.kind = 'a'
		if c < 'a' {
			m.kind = 'A'
		}
		m.value = int(c|0x20-'a') + 1

		return true
	}

	return false
}

// sameCase reports whether a word has only small or only capital letters.
func sameCase(word []byte) bool {
	return bytes.Equal(word, bytes.ToLower(word)) || bytes.Equal(word, bytes.ToUpper(word))
}

// roman returns the value of a Roman numeral of small letters, 0 for any other word. It also accepts wrong numerals
// such as iix.
func roman(word []byte) (n int) {
	values := map[byte]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100, 'd': 500, 'm': 1000}
	for i, c := range word {
		v := values[c]
		if v == 0 || len(word) > 15 {
			return 0
		}

		if i+1 < len(word) && v < values[word[i+1]] {
			v = -v
		}
		n += v
	}

	return n
}

// isContinued reports whether the next item follows in rest, after the content of this item.
func (m listMarker) isContinued(rest []byte) bool {
	const most = 4000 // bytes of rest that are searched
	blank := false    // whether the previous line is blank

	for line := range bytes.Lines(rest[:min(len(rest), most)]) {
		inner := bytes.TrimLeft(line, " \t>")
		if util.IsBlank(inner) {
			blank = true
			continue
		}

		if next, ok := readMarker(inner, m.listStyle); ok && next.listStyle == m.listStyle {
			return next.value == m.value+1
		}

		if blank && len(line)-len(inner) <= m.indent+1 { // text outside of the item
			return false
		}
		blank = false
	}

	return false
}

// beginsList reports whether the marker of a line begins a list rather than a sentence. As in Pandoc, a
// capital letter and a full stop may be the initial of a name unless two spaces follow.
func (m listMarker) beginsList(line, rest []byte, loose bool) bool {
	switch {
	case m.kind == '#', m.kind == '@' && (m.label == "" || loose):
		return true
	case m.kind == '@':
		return false
	}
	initial := m.kind == 'A' && m.shut == '.' && line[m.end] == ' ' && line[m.end+1] != ' '

	return loose && !initial || m.value == 1 && m.isContinued(rest)
}
