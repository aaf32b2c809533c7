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
// of checkLimits.
func readBibTeX(src, lang string) (Bibliography, error) {
	r := &bibReader{src: src, strings: months(), line: 1}
	for r.next() {
		from := r.at
		if err := r.readEntry(); err != nil {
			r.problems = append(r.problems, Problem{Line: r.lineAt(from), Text: err.Error()})
			r.at = max(r.at, from+1) // next must not find the same @
		}

		if err := r.checkLimits(); err != nil {
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

		if err := r.checkLimits(); err != nil {
			return Bibliography{}, err
		}

		if b.Items[e.key] == nil {
			b.Items[e.key] = e.item(lang)
		}
	}

	return b, nil
}

// months returns the abbreviations that BibTeX predefines, each with the number of its month.
func months() map[string]string {
	m := map[string]string{}
	for i, name := range strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec") {
		m[name] = strconv.Itoa(i + 1)
	}

	return m
}

// next moves to the next @ that begins a line or follows a space or an entry, and reports whether there is one. An @ in
// an address, such as me@example.org, begins no entry.
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

// skipSpace skips white space, and comments from % to the end of the line.
func (r *bibReader) skipSpace() {
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

// readWord reads a name or a number.
func (r *bibReader) readWord() string {
	from := r.at
	for r.at < len(r.src) && r.src[r.at] > ' ' && strings.IndexByte(`{}(),="#%`, r.src[r.at]) < 0 {
		r.at++
	}

	return r.src[from:r.at]
}

// accept skips the next byte if it is c, and reports whether it was.
func (r *bibReader) accept(c byte) bool {
	if r.at < len(r.src) && r.src[r.at] == c {
		r.at++
		return true
	}

	return false
}

// readEntry reads the entry or command at an @.
func (r *bibReader) readEntry() error {
	r.at++
	kind := strings.ToLower(r.readWord())
	r.skipSpace()

	shut := byte('}')
	if !r.accept('{') {
		if shut = ')'; !r.accept('(') {
			return nil // text between entries
		}
	}

	switch kind {
	case "comment":
		if shut == ')' {
			return nil // BibTeX takes the rest for text between entries
		}
		r.at-- // to the opening brace, where readBraced begins
		_, err := r.readBraced()

		return err
	case "preamble":
		_, err := r.readValue(false)
		return err
	case "string":
		return r.readAbbreviation()
	}
	r.skipSpace()
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

	if err := r.readFields(&e, shut); err != nil {
		return err
	}
	r.entries = append(r.entries, e)

	return nil
}

// readAbbreviation reads the definition in an @string.
func (r *bibReader) readAbbreviation() error {
	r.skipSpace()
	name := strings.ToLower(r.readWord())
	r.skipSpace()

	if !r.accept('=') {
		return fmt.Errorf("@string %q has no value", short(name))
	}
	value, err := r.readValue(true)
	r.strings[name] = value

	return err
}

// readFields reads the fields of an entry up to shut, its closing brace or parenthesis. It keeps the first of two
// fields of one name, and drops fields beyond maxField and maxFields.
func (r *bibReader) readFields(e *entry, shut byte) error {
	for {
		r.skipSpace()

		if r.accept(',') {
			continue
		}

		if r.accept(shut) {
			return nil
		}
		from := r.at
		name := strings.ToLower(r.readWord())
		r.skipSpace()

		if name == "" || !r.accept('=') {
			r.at = from // it may be the @ of the next entry
			return fmt.Errorf("entry %q: a field without a value, or a bracket that is not closed", short(e.key))
		}

		value, err := r.readValue(true)
		if err != nil {
			return fmt.Errorf("entry %q, field %q: %w", short(e.key), short(name), err)
		}

		if _, has := e.fields[name]; !has && len(value) <= maxField && len(e.fields) < maxFields {
			e.fields[name] = value
		}
	}
}

// readValue reads the value of a field: pieces joined by #. Unless keep is set, it only skips the value and returns "".
func (r *bibReader) readValue(keep bool) (string, error) {
	var b strings.Builder

	for {
		r.skipSpace()

		if r.at >= len(r.src) {
			return "", errors.New("the file ends within it")
		}
		piece := ""
		var err error

		switch r.src[r.at] {
		case '{':
			piece, err = r.readBraced()
		case '"':
			piece, err = r.readQuoted()
		default:
			if piece = r.readWord(); piece == "" {
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
		r.skipSpace()

		if !r.accept('#') {
			return b.String(), nil
		}
	}
}

// readBraced reads a text in braces, which may nest. It returns an error if the file ends within it, and then goes on
// after the opening brace.
func (r *bibReader) readBraced() (string, error) {
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

// readQuoted reads a text in quotation marks. Marks within braces do not end it. Errors: as for readBraced.
func (r *bibReader) readQuoted() (string, error) {
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

// short shortens a text to 40 characters for a message.
func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}

	return s
}
