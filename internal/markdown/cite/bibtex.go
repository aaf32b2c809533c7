package cite

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// entry is an entry of a BibTeX file, its fields as they are written.
type entry struct {
	kind, key string
	fields    map[string]string
}

// bibReader reads BibTeX. Nothing in it is read twice but what follows a bracket or
// quotation mark that is not closed.
type bibReader struct {
	src      string
	at       int
	strings  map[string]string
	entries  []entry
	problems []Problem
	// line is the number of the line that begins before counted.
	line, counted int
	// unclosed is how many brackets and quotation marks were not closed: each was
	// read to the end of the file.
	unclosed int
	// expanded is how many bytes the values of @string have where they are used, and
	// those of fields that entries inherit.
	expanded int
}

// readBibTeX reads a BibTeX or BibLaTeX file. What cannot be read is left out, up
// to the next entry.
func readBibTeX(src, lang string) (Bibliography, error) {
	r := &bibReader{src: src, strings: months(), line: 1}
	for r.next() {
		from := r.at
		if err := r.entry(); err != nil {
			r.problems = append(r.problems, Problem{Line: r.lineAt(from), Text: err.Error()})
			if r.at <= from {
				r.at = from + 1
			}
		}

		if err := r.tooMuch(); err != nil {
			return Bibliography{}, err
		}
	}

	if len(r.entries) == 0 && len(r.problems) == 0 {
		return Bibliography{}, errors.New("it is neither CSL-JSON nor BibTeX: no @ begins an entry")
	}
	b := Bibliography{Items: make(map[string]*Item, len(r.entries)), Problems: r.problems}

	byKey := make(map[string]entry, len(r.entries))
	for _, e := range r.entries {
		byKey[strings.ToLower(e.key)] = e
	}

	for _, e := range r.entries {
		if parent, ok := byKey[strings.ToLower(e.fields["crossref"])]; ok {
			r.expanded += e.inherit(parent)
		}

		if err := r.tooMuch(); err != nil {
			return Bibliography{}, err
		}

		if b.Items[e.key] == nil {
			b.Items[e.key] = e.item(lang)
		}
	}

	return b, nil
}

func months() map[string]string {
	m := map[string]string{}
	for i, name := range strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec") {
		m[name] = itoa(i + 1)
	}

	return m
}

// next goes to the next @ that begins a line or follows a space.
func (r *bibReader) next() bool {
	for {
		i := strings.IndexByte(r.src[r.at:], '@')
		if i < 0 {
			return false
		}

		r.at += i
		if r.at == 0 || strings.IndexByte(" \t\r\n})", r.src[r.at-1]) >= 0 {
			return true
		}
		r.at++
	}
}

func (r *bibReader) space() {
	for r.at < len(r.src) && (r.src[r.at] <= ' ' || r.src[r.at] == '%') {
		if r.src[r.at] == '%' { // a comment
			if i := strings.IndexByte(r.src[r.at:], '\n'); i >= 0 {
				r.at += i
			} else {
				r.at = len(r.src)
				return
			}
		}
		r.at++
	}
}

// word reads up to a sign of the grammar.
func (r *bibReader) word() string {
	from := r.at
	for r.at < len(r.src) && r.src[r.at] > ' ' && strings.IndexByte(`{}(),="#%`, r.src[r.at]) < 0 {
		r.at++
	}

	return r.src[from:r.at]
}

func (r *bibReader) is(c byte) bool {
	if r.at < len(r.src) && r.src[r.at] == c {
		r.at++
		return true
	}

	return false
}

// entry reads what begins with an @.
func (r *bibReader) entry() error {
	r.at++
	kind := strings.ToLower(r.word())
	r.space()

	shut := byte('}')
	if !r.is('{') {
		if shut = ')'; !r.is('(') {
			return nil // text between entries
		}
	}

	switch kind {
	case "comment":
		r.at--
		_, err := r.braced()

		return err
	case "preamble":
		_, err := r.value(false)
		return err
	case "string":
		r.space()
		name := strings.ToLower(r.word())
		r.space()

		if !r.is('=') {
			return fmt.Errorf("@string %q has no value", short(name))
		}
		value, err := r.value(true)
		r.strings[name] = value

		return err
	}
	r.space()
	e := entry{kind: kind, fields: map[string]string{}}

	from := r.at
	for r.at < len(r.src) && r.src[r.at] != ',' && r.src[r.at] != shut && r.src[r.at] != '\n' {
		r.at++
	}

	e.key = strings.TrimSpace(r.src[from:r.at])
	if e.key == "" || len(e.key) > 200 || strings.ContainsAny(e.key, "{}\"=") {
		return fmt.Errorf("an entry of type %q has no key", short(kind))
	}

	for {
		r.space()

		if r.is(',') {
			continue
		}

		if r.is(shut) {
			r.entries = append(r.entries, e)
			return nil
		}
		from := r.at
		name := strings.ToLower(r.word())
		r.space()

		if name == "" || !r.is('=') {
			r.at = from // perhaps the next entry
			return fmt.Errorf("entry %q: a field without a value, or a bracket that is not closed", short(e.key))
		}

		value, err := r.value(true)
		if err != nil {
			return fmt.Errorf("entry %q, field %q: %w", short(e.key), short(name), err)
		}

		if _, again := e.fields[name]; !again && len(value) <= maxField && len(e.fields) < maxFields {
			e.fields[name] = value
		}
	}
}

// value reads pieces joined by #.
func (r *bibReader) value(keep bool) (string, error) {
	var b strings.Builder

	for {
		r.space()

		if r.at >= len(r.src) {
			return "", errors.New("the file ends within it")
		}
		piece := ""
		var err error

		switch r.src[r.at] {
		case '{':
			piece, err = r.braced()
		case '"':
			piece, err = r.quoted()
		default:
			if piece = r.word(); piece == "" {
				return "", errors.New("it has no value")
			}

			if defined, ok := r.strings[strings.ToLower(piece)]; ok {
				piece = defined
				r.expanded += len(defined)
			}
		}

		if err != nil {
			return "", err
		}
		// Strings may be made of strings: they do not grow without end.
		if keep && r.expanded <= maxExpanded && b.Len()+len(piece) <= 2*maxField {
			b.WriteString(piece)
		}
		r.space()

		if !r.is('#') {
			return b.String(), nil
		}
	}
}

func (r *bibReader) braced() (string, error) {
	from, depth := r.at+1, 0
	for ; r.at < len(r.src); r.at++ {
		switch r.src[r.at] {
		case '\\':
			r.at++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				r.at++
				return r.src[from : r.at-1], nil
			}
		}
	}
	r.unclosed++
	r.at = from // what follows may be sound

	return "", errors.New("a bracket { is not closed")
}

func (r *bibReader) quoted() (string, error) {
	from, depth := r.at+1, 0
	for r.at++; r.at < len(r.src); r.at++ {
		switch r.src[r.at] {
		case '\\':
			r.at++
		case '{':
			depth++
		case '}':
			depth--
		case '"':
			if depth <= 0 {
				r.at++
				return r.src[from : r.at-1], nil
			}
		}
	}
	r.unclosed++
	r.at = from

	return "", errors.New("a quotation mark is not closed")
}

func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}

	return s
}

// names reads a list of names.
func names(list string) (out []Name) {
	for _, text := range splitWords(list, "and") {
		if text = strings.TrimSpace(text); text == "" || strings.EqualFold(text, "others") {
			continue
		}
		out = append(out, oneName(text))
	}

	return out
}

// oneName reads "von Family, Jr, Given", "Given von Family" or "{Institution}".
func oneName(text string) Name {
	if strings.HasPrefix(text, "{") && closes(text) == len(text)-1 {
		return Name{Literal: plainTeX(text)}
	}
	parts := splitTop(text, ',')
	var n Name
	var family []string

	switch len(parts) {
	case 1:
		words := splitTop(strings.Join(strings.Fields(text), " "), ' ')

		from := len(words) - 1
		for i, w := range words {
			if i > 0 && i < len(words)-1 && startsLower(w) {
				from = i
				break
			}
		}
		n.Given = plainTeX(strings.Join(words[:from], " "))
		family = words[from:]
	default:
		family = splitTop(strings.Join(strings.Fields(parts[0]), " "), ' ')

		n.Given = plainTeX(strings.TrimSpace(parts[len(parts)-1]))
		if len(parts) > 2 {
			n.Suffix = plainTeX(strings.TrimSpace(parts[1]))
		}
	}

	particles := 0
	for particles < len(family)-1 && startsLower(family[particles]) {
		particles++
	}
	n.NonDropping = plainTeX(strings.Join(family[:particles], " "))

	n.Family = plainTeX(strings.Join(family[particles:], " "))
	if n.Family == "" {
		return Name{Literal: plainTeX(text)}
	}

	return n
}

func startsLower(word string) bool {
	for _, r := range word {
		if unicode.IsLetter(r) {
			return unicode.IsLower(r)
		}

		if r == '{' || r == '\\' {
			return false
		}
	}

	return false
}

// closes is where the bracket that text begins with closes, -1 if it does not.
func closes(text string) int {
	depth := 0

	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}

	return -1
}

// splitTop cuts at a sign that stands outside of brackets.
func splitTop(text string, sign byte) (parts []string) {
	depth, from := 0, 0

	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == sign && depth == 0:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}

	return append(parts, text[from:])
}

// splitWords cuts at a word that stands outside of brackets.
func splitWords(text, word string) (parts []string) {
	var now []string

	for _, w := range splitTop(strings.Join(strings.Fields(text), " "), ' ') {
		if strings.EqualFold(w, word) {
			parts = append(parts, strings.Join(now, " "))
			now = nil
			continue
		}
		now = append(now, w)
	}

	return append(parts, strings.Join(now, " "))
}
