package bibfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// entry is an entry of a BibTeX file.
type entry struct {
	kind   string            // the type in lower case, such as "article"
	key    string            // the key in citations
	fields map[string]string // TeX, by the name in lower case
}

// bibReader reads a BibTeX file. It reads a part of the file twice only after an unclosed brace or quotation mark.
type bibReader struct {
	src      string
	at       int               // the current offset
	strings  map[string]string // the abbreviations of @string and the months, by name in lower case
	entries  []entry
	problems []Problem
	// line is the line, from 1, of the offset counted: see lineAt.
	line, counted int
	// unclosed is the number of unclosed braces and quotation marks. For each, the reader reads the file to its end.
	unclosed int
	// expanded is the size in bytes of inherited fields and of the values of @string, each as often as it is used.
	expanded int
}

// readBibTeX reads a BibTeX or BibLaTeX file. It skips entries that it cannot read and lists them in Problems. lang
// is the language (BCP 47) of works that do not name their own. Errors: the file has no entry, or exceeds the limits
// of bibbudget.go.
func readBibTeX(src, lang string) (Bibliography, error) {
	r := &bibReader{src: src, strings: months(), line: 1}
	for r.next() {
		from := r.at
		if err := r.entry(); err != nil {
			r.problems = append(r.problems, Problem{Line: r.lineAt(from), Text: err.Error()})
			r.at = max(r.at, from+1) // next must not find the same @
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

// months returns the abbreviations that BibTeX predefines.
func months() map[string]string {
	m := map[string]string{}
	for i, name := range strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec") {
		m[name] = strconv.Itoa(i + 1)
	}

	return m
}

// next moves to the next @ that begins a line or follows a space or an entry. It returns false without one.
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

// space skips white space, and comments from % to the end of the line.
func (r *bibReader) space() {
	for r.at < len(r.src) && (r.src[r.at] <= ' ' || r.src[r.at] == '%') {
		if r.src[r.at] == '%' {
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

// word reads a name or a number.
func (r *bibReader) word() string {
	from := r.at
	for r.at < len(r.src) && r.src[r.at] > ' ' && strings.IndexByte(`{}(),="#%`, r.src[r.at]) < 0 {
		r.at++
	}

	return r.src[from:r.at]
}

// is reports whether the next byte is c. If it is, is skips the byte.
func (r *bibReader) is(c byte) bool {
	if r.at < len(r.src) && r.src[r.at] == c {
		r.at++
		return true
	}

	return false
}

// entry reads the entry or command at an @.
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
		if shut == ')' {
			return nil // BibTeX takes the rest for text between entries
		}
		r.at-- // to the opening brace, where braced begins
		_, err := r.braced()

		return err
	case "preamble":
		_, err := r.value(false)
		return err
	case "string":
		return r.abbreviation()
	}
	r.space()
	e := entry{kind: kind, fields: map[string]string{}}

	from := r.at
	for r.at < len(r.src) && r.src[r.at] != ',' && r.src[r.at] != shut && r.src[r.at] != '\n' {
		r.at++
	}

	const longest = 200 // bytes

	e.key = strings.TrimSpace(r.src[from:r.at])
	if e.key == "" || len(e.key) > longest || strings.ContainsAny(e.key, "{}\"=") {
		return fmt.Errorf("an entry of type %q has no key", short(kind))
	}

	if err := r.fields(&e, shut); err != nil {
		return err
	}
	r.entries = append(r.entries, e)

	return nil
}

// abbreviation reads the definition in an @string.
func (r *bibReader) abbreviation() error {
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

// fields reads the fields of an entry up to shut, its closing brace or parenthesis. It keeps the first of two fields of
// one name, and drops fields beyond maxField and maxFields.
func (r *bibReader) fields(e *entry, shut byte) error {
	for {
		r.space()

		if r.is(',') {
			continue
		}

		if r.is(shut) {
			return nil
		}
		from := r.at
		name := strings.ToLower(r.word())
		r.space()

		if name == "" || !r.is('=') {
			r.at = from // it may be the @ of the next entry
			return fmt.Errorf("entry %q: a field without a value, or a bracket that is not closed", short(e.key))
		}

		value, err := r.value(true)
		if err != nil {
			return fmt.Errorf("entry %q, field %q: %w", short(e.key), short(name), err)
		}

		if _, has := e.fields[name]; !has && len(value) <= maxField && len(e.fields) < maxFields {
			e.fields[name] = value
		}
	}
}

// value reads the value of a field: pieces joined by #. Unless keep is set, it only skips the value and returns "".
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
		// An abbreviation may consist of two others, so sizes could double with each @string.
		if keep && r.expanded <= maxExpanded && b.Len()+len(piece) <= 2*maxField {
			b.WriteString(piece)
		}
		r.space()

		if !r.is('#') {
			return b.String(), nil
		}
	}
}

// braced reads a text in braces, which may nest.
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
	r.at = from // the entries after the brace may be valid

	return "", errors.New("a bracket { is not closed")
}

// quoted reads a text in quotation marks. Marks within braces do not end it.
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

// short shortens a text for a message.
func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}

	return s
}
