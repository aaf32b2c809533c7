package myst

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

var (
	// role matches a role, {ref}`label`. Its groups are the name and the value.
	role = lazyregexp.New("\\{([a-z][a-z:]{0,20})\\}`([^`]{1,1000})`")
	// roleTarget matches a value with a text and a target: text <target>.
	roleTarget = lazyregexp.New(`(?s)^(.*\S)\s*<([^<>]+)>$`)
)

// roleReader rewrites the roles and labels of one document.
type roleReader struct {
	reader   *Reader
	source   *source.Source
	warnings []fault.Warning
	// lines are the lines of the source. hidden are the same lines with spaces in place of code.
	lines, hidden []string
	// keys maps the labels of the document to the keys of their references.
	keys map[string]string
}

// Roles replaces the roles and labels of MyST by the Markdown that the parser reads. Call it after Directives. Lines
// keep their numbers. A reference to an unknown label becomes plain text, with a warning if the document has labels.
// Unknown roles stay as they are.
func (d *Reader) Roles(s *source.Source) []fault.Warning {
	src := s.Text()
	if d.labelled == nil && !MayHoldLabels(src) && !bytes.Contains(src, []byte("}`")) {
		return nil
	}
	found, hidden := findRoles(src)

	r := roleReader{
		reader: d,
		source: s,
		lines:  strings.Split(string(src), "\n"),
		hidden: strings.Split(string(hidden), "\n"),
		keys:   map[string]string{},
	}
	for label, l := range d.labelled {
		if l.kind != "" {
			r.keys[label] = l.key
		}
	}

	for _, m := range ownLabel().FindAllSubmatch(hidden, -1) {
		r.keys[string(m[1])] = string(m[1])
	}
	r.placeLabels(len(found) > 0)
	s.Replace([]byte(strings.Join(r.lines, "\n")))

	if len(found) > 0 {
		s.Replace(r.replaceRoles())
	}

	if d.labelled != nil {
		r.fillLinks()
	}

	d.Aliases = r.keys
	for label, l := range d.labelled {
		if l.key != label {
			d.Aliases[label] = l.key
		}
	}

	return r.warnings
}

// findRoles returns the submatch offsets of the roles outside of code. hidden is the source with spaces in place of
// code. A role may span lines but not paragraphs.
func findRoles(src []byte) (found [][]int, hidden []byte) {
	// Code spans are found line by line, so a value with line ends must look like one line.
	joined := bytes.Clone(src)
	for at := 0; ; {
		m := role().FindSubmatchIndex(src[at:])
		if m == nil {
			break
		}

		for i := range m {
			m[i] += at
		}

		at = m[0] + 1
		// A role is within one paragraph, not escaped, and not part of a longer run of backticks.
		if value := src[m[4]:m[5]]; !bytes.Contains(value, []byte("\n\n")) &&
			(m[0] == 0 || src[m[0]-1] != '`' && src[m[0]-1] != '\\') &&
			(m[1] == len(src) || src[m[1]] != '`') {
			at = m[1]
			found = append(found, m)
			copy(joined[m[4]:m[5]], bytes.ReplaceAll(value, []byte("\n"), []byte(" ")))
		}
	}
	hidden = source.WithoutCode(joined)

	for i, c := range src {
		if c == '\n' {
			hidden[i] = c
		}
	}

	// The brace of a role in code is hidden.
	return slices.DeleteFunc(found, func(m []int) bool { return hidden[m[0]] != src[m[0]] }), hidden
}

// replaceRoles returns the source with Markdown in place of its roles.
func (r *roleReader) replaceRoles() []byte {
	src := r.source.Text()
	var out bytes.Buffer
	out.Grow(len(src))
	at := 0

	found, _ := findRoles(src)
	for _, m := range found {
		name, value := string(src[m[2]:m[3]]), string(src[m[4]:m[5]])

		with, ok := r.markdown(name, strings.Join(strings.Fields(value), " "), m[0])
		if !ok {
			continue
		}
		out.Write(src[at:m[0]])

		before, _ := utf8.DecodeLastRune(out.Bytes())
		if out.Len() > 0 && strings.HasPrefix(with, "@") && !mayPrecedeKey(before) {
			out.WriteByte(' ')
		}
		out.WriteString(with + strings.Repeat("\n", strings.Count(value, "\n")))
		at = m[1]
	}
	out.Write(src[at:])

	return out.Bytes()
}

// markdown returns the Markdown for a role at an offset of the source. It returns false for an
// unknown role, which stays as it is.
func (r *roleReader) markdown(name, value string, offset int) (string, bool) {
	text, target := "", value
	if m := roleTarget().FindStringSubmatch(value); m != nil {
		text, target = m[1], strings.TrimSpace(m[2])
	}

	switch name {
	case "ref", "numref", "eq", "eqref", "prf:ref", "math:numref":
		return r.reference(name, text, target, offset), true
	case "cite", "cite:p", "citep", "cite:ps", "cite:t", "citet", "cite:ts":
		inText := strings.Contains(name[len("cit"):], "t")
		return r.citation(value, inText), true
	case "doc", "term", "abbr", "download", "index", "any":
		return cmp.Or(text, plainWords(target)), true
	case "guilabel", "menuselection":
		return "**" + plainWords(value) + "**", true
	case "sub", "subscript":
		return "~" + value + "~", !strings.Contains(value, " ")
	case "sup", "superscript":
		return "^" + value + "^", !strings.Contains(value, " ")
	case "math":
		return "$" + value + "$", true
	case "u", "underline":
		return "[" + value + "]{.underline}", true
	case "sc", "smallcaps":
		return "[" + value + "]{.smallcaps}", true
	case "del", "strike":
		return "~~" + value + "~~", true
	}

	if isCodeRole(name) {
		return "`" + cmp.Or(text, shortName(target)) + "`", true
	}

	return "", false
}

// isCodeRole reports whether the value of a role is code: a key, a file, a command, or a name as in
// {py:class}.
func isCodeRole(name string) bool {
	if name == "kbd" || name == "file" || name == "command" {
		return true
	}
	domain, kind, _ := strings.Cut(name, ":")

	return kind != "" && slices.Contains([]string{"py", "c", "cpp", "js", "rst"}, domain)
}

// shortName returns the last part of a dotted name after a tilde, as Sphinx does: ~a.b.Class is
// Class. It returns any other name unchanged.
func shortName(name string) string {
	if full, short := strings.CutPrefix(name, "~"); short {
		return full[strings.LastIndexByte(full, '.')+1:]
	}

	return name
}

// reference returns the Markdown for a reference to a label. text is the source's text for the link, "" for the usual
// one; %s in it stands for the number. offset is the place for a warning.
func (r *roleReader) reference(name, text, label string, offset int) string {
	key := r.findKey(label)
	if l := r.reader.labelled[label]; key == "" && l.key != "" {
		if text = cmp.Or(text, l.name, plainWords(label)); strings.Contains(text, "%s") {
			text = strings.ReplaceAll(text, "%s", l.name[strings.LastIndexByte(l.name, ' ')+1:])
		}

		return "[" + text + "](#" + l.key + ")"
	}

	switch {
	case key == "":
		r.reader.Unresolved = true
		if len(r.keys) > 0 {
			r.warnings = append(r.warnings, r.source.Warning(fault.LinkBroken, offset,
				fmt.Sprintf("reference to %q, but nothing in the document has that label", input.Short(label))))
		}

		if text != "" {
			return strings.ReplaceAll(text, " %s", "")
		}

		return plainWords(label)
	case strings.Contains(text, "%s"):
		return strings.ReplaceAll(text, "%s", "-@{"+key+"}")
	case text != "" && r.keys[label] == "":
		return "[" + text + "](#" + r.reader.elsewhere(key) + ")"
	case text != "":
		return "[" + text + "](#" + key + ")"
	case name == "eq" || name == "eqref":
		return "-@{" + key + "}"
	}

	return "@{" + key + "}"
}

// citation returns the Markdown for a citation of works by their keys. Without a bibliography it is the keys.
func (r *roleReader) citation(value string, inText bool) string {
	var keys, cited []string
	for key := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == ',' || c == ';' || c == ' ' }) {
		keys, cited = append(keys, key), append(cited, "@{"+key+"}")
	}

	switch {
	case !r.reader.Bibliography && inText:
		return plainWords(strings.Join(keys, ", "))
	case !r.reader.Bibliography:
		return `\[` + plainWords(strings.Join(keys, ", ")) + `\]`
	case inText:
		return strings.Join(cited, ", ")
	}

	return "[" + strings.Join(cited, "; ") + "]"
}

// plainWords escapes a text so that the parser finds no Markdown in it.
func plainWords(text string) string {
	return strings.NewReplacer(
		`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "$", `\$`, "@", `\@`, "{", `\{`,
	).Replace(text)
}
