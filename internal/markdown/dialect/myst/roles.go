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
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/source"
)

var (
	// role is a role of Sphinx: {ref}`label` in MyST, :ref:`label` in d2l.
	role = lazyregexp.New("(?:\\{([a-z][a-z:]{0,20})\\}|:(numref|eqref|ref|citep?|citet|doc|term):)`([^`]{1,1000})`")
	// roleTarget is a text with its target: text <target>.
	roleTarget = lazyregexp.New(`(?s)^(.*\S)\s*<([^<>]+)>$`)
	// labelBelow is a label or size of what is above it, of d2l, labelAbove a label of what
	// is below it and formulaLabel one behind a formula, of MyST.
	labelBelow   = lazyregexp.New("^[ \\t]*:(label|eqlabel|width|height):`([^`]{1,200})`[ \\t]*$")
	labelAbove   = lazyregexp.New(`^\(([A-Za-z][\w.:/-]{0,100})\)=[ \t]*$`)
	formulaLabel = lazyregexp.New(`\$\$[ \t]*\(([A-Za-z][\w.:-]{0,100})\)[ \t]*$`)
	// ownLabel is a label as this program has it.
	ownLabel    = lazyregexp.New(`\{:?[^{}\n]*#((?:fig|tbl|tab|eq|sec|lst)[:-][\w.:-]+)`)
	headingLine = lazyregexp.New(`^#{1,6}[ \t]`)
	pictureLine = lazyregexp.New(`^[ \t]*!\[.*\)(?:\{[^{}]*\})?$`)
	// paragraphLine begins a paragraph.
	paragraphLine = lazyregexp.New(`^[\pL"“][^|]*$`)
	tableCaption  = lazyregexp.New(`^:[ \t]?[^ \t:].*$`)
)

// roleReader makes the roles of Sphinx and the labels of MyST and d2l Markdown.
type roleReader struct {
	d        *Reader
	source   *source.Source
	warnings []fault.Warning
	// lines are those of the source, hidden the same without code.
	lines, hidden []string
	// keys are the references to the labels of the document.
	keys map[string]string
}

// Roles makes the roles of Sphinx, as MyST and d2l write them, and their labels what
// Markdown has here, and leaves every line where it is. A reference to a label that nothing
// has is its text.
func (d *Reader) Roles(s *source.Source) []fault.Warning {
	src := s.Text()
	if d.labelled == nil && !MayHoldLabels(src) && !bytes.Contains(src, []byte("}`")) &&
		!bytes.Contains(src, []byte(":`")) {
		return nil
	}
	found, hidden := findRoles(src)

	r := roleReader{
		d:      d,
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

// MayHoldLabels reports whether a source may hold labels of MyST or d2l.
func MayHoldLabels(src []byte) bool {
	return bytes.Contains(src, []byte("label:`")) || bytes.Contains(src, []byte(")=\n"))
}

// findRoles finds the roles outside of code, by the offsets of role, and returns the source
// without code: a role may be of several lines.
func findRoles(src []byte) (found [][]int, hidden []byte) {
	joined := bytes.Clone(src)
	for at := 0; ; {
		m := role().FindSubmatchIndex(src[at:])
		if m == nil {
			break
		}

		for i := range m {
			if m[i] >= 0 {
				m[i] += at
			}
		}

		at = m[0] + 1
		if !bytes.Contains(src[m[6]:m[7]], []byte("\n\n")) &&
			(m[0] == 0 || src[m[0]-1] != '`' && src[m[0]-1] != '\\') &&
			(m[1] == len(src) || src[m[1]] != '`') {
			at = m[1]
			found = append(found, m)
			copy(joined[m[6]:m[7]], bytes.ReplaceAll(src[m[6]:m[7]], []byte("\n"), []byte(" ")))
		}
	}
	hidden = source.WithoutCode(joined)

	for i, c := range src {
		if c == '\n' {
			hidden[i] = c
		}
	}

	return slices.DeleteFunc(found, func(m []int) bool { return hidden[m[0]] != src[m[0]] }), hidden
}

// placeLabels gives what is labelled its label, as this program has it. Without roles, a
// document has only the labels that nothing else can be.
func (r *roleReader) placeLabels(roles bool) {
	for i, line := range r.hidden {
		switch {
		case strings.HasSuffix(strings.TrimSpace(line), ")="):
			if m := labelAbove().FindStringSubmatch(line); m != nil &&
				(r.labelNext(i, m[1]) || roles || r.d.labelled != nil) {
				r.lines[i] = ""
			}
		case strings.HasPrefix(strings.TrimSpace(line), ":"):
			if m := labelBelow().FindStringSubmatch(r.lines[i]); m != nil {
				r.lines[i] = r.labelPrevious(i, m[1], m[2])
			} else if roles && tableCaption().MatchString(line) && r.above(i) < i-1 && strings.HasPrefix(r.near(r.below(i)), "|") &&
				(!strings.HasPrefix(line, ": ") || !strings.HasPrefix(r.near(r.above(i)), "|")) {
				r.lines[i] = "Table: " + strings.TrimSpace(r.lines[i][1:])
			}
		case roles && strings.HasSuffix(line, ")"):
			if m := formulaLabel().FindStringSubmatchIndex(line); m != nil {
				name := line[m[2]:m[3]]
				r.lines[i] = r.lines[i][:m[2]-1]
				r.append(i, "#"+r.key(label.Equation, name))
			}
		}
	}
}

// reach is how many lines a label may be away from what it names: all that a document has
// may be labels.
const reach = 20

// above and below are the next lines that are not blank, -1 for none within reach.
func (r *roleReader) above(i int) int { return r.next(i, -1) }
func (r *roleReader) below(i int) int { return r.next(i, 1) }

func (r *roleReader) next(i, step int) int {
	for range reach {
		if i += step; i < 0 || i == len(r.lines) {
			return -1
		}

		if strings.TrimSpace(r.lines[i]) != "" {
			return i
		}
	}

	return -1
}

func (r *roleReader) near(i int) string {
	if i < 0 {
		return ""
	}

	return strings.TrimSpace(r.lines[i])
}

// labelNext labels the heading or picture below, and reports whether there is one.
func (r *roleReader) labelNext(i int, name string) bool {
	next := r.below(i)
	for n := 0; n < reach && next >= 0 && labelAbove().MatchString(r.lines[next]); n++ {
		next = r.below(next)
	}
	kind := label.Section

	switch {
	case next >= 0 && headingLine().MatchString(r.hidden[next]):
	case next >= 0 && pictureLine().MatchString(strings.TrimSpace(r.hidden[next])):
		kind = label.Figure
	case next >= 0 && r.d.labelled != nil && paragraphLine().MatchString(r.hidden[next]):
		r.lines[next] = "[]{#" + plainKey(name) + "}" + r.lines[next]
		r.d.labelled[name] = labelled{key: plainKey(name)}

		return true
	default:
		return false
	}

	if own := ownLabel().FindStringSubmatch(r.lines[next]); own != nil { // it has two
		r.keys[name] = own[1]
	} else if !strings.HasSuffix(r.near(next), "}") {
		r.append(next, "#"+r.key(kind, name))
	}

	return true
}

// labelPrevious gives what is above a label or a size, and returns the line that stays.
func (r *roleReader) labelPrevious(i int, name, value string) string {
	at := r.above(i)
	line := r.near(at)

	picture := at >= 0 && pictureLine().MatchString(line)
	switch {
	case name == "width" || name == "height":
		if picture {
			r.append(at, name+"="+value)
		}
	case picture:
		r.append(at, "#"+r.key(label.Figure, value))
	case at >= 0 && headingLine().MatchString(line):
		r.append(at, "#"+r.key(label.Section, value))
	case strings.HasSuffix(line, "$$"):
		r.append(at, "#"+r.key(label.Equation, value))
	case strings.HasPrefix(line, "Table: ") && strings.HasPrefix(r.near(r.below(i)), "|"):
		r.append(at, "#"+r.key(label.Table, value))
	case at >= 0 && tableCaption().MatchString(line) && strings.HasPrefix(r.near(r.below(i)), "|"):
		r.lines[at] = "Table: " + strings.TrimSpace(line[1:])
		r.append(at, "#"+r.key(label.Table, value))
	case at == i-1 && strings.HasPrefix(line, "|"):
		return "{: #" + r.key(label.Table, value) + "}"
	}

	return ""
}

// append adds an attribute to the braces at the end of a line.
func (r *roleReader) append(i int, attribute string) {
	line := strings.TrimRight(r.lines[i], " \t")
	if own, ok := strings.CutSuffix(line, "}"); ok && pictureLine().MatchString(line) {
		r.lines[i] = own + " " + attribute + "}"
	} else if strings.HasSuffix(line, ")") && pictureLine().MatchString(line) {
		r.lines[i] = line + "{" + attribute + "}"
	} else {
		r.lines[i] = line + " {" + attribute + "}"
	}
}

// key is that of a label of the document, of a kind.
func (r *roleReader) key(kind label.Kind, name string) string {
	r.keys[name] = roleKey(kind, name)
	return r.keys[name]
}

func roleKey(kind label.Kind, name string) string {
	if label.KindOf(name) != kind {
		name = string(kind) + ":" + name
	}

	return plainKey(name)
}

// plainKey is a label as an id may be.
func plainKey(label string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(label), "-"), "/", "-")
}

// find is the key of a label of this document or of those printed with it, "" for none.
func (r *roleReader) find(name string) string {
	if key := r.keys[name]; key != "" {
		return key
	}

	for _, kind := range []label.Kind{label.Section, label.Figure, label.Table, label.Equation, label.Listing} {
		if key := roleKey(kind, name); r.d.elsewhere(key) != "" {
			return key
		}
	}

	return ""
}

// replaceRoles is the source with Markdown in place of its roles.
func (r *roleReader) replaceRoles() []byte {
	src := r.source.Text()
	var out bytes.Buffer
	out.Grow(len(src))
	at := 0

	found, _ := findRoles(src)
	for _, m := range found {
		name := ""

		for _, g := range [][]int{m[2:4], m[4:6]} {
			if g[0] >= 0 {
				name = string(src[g[0]:g[1]])
			}
		}
		value := string(src[m[6]:m[7]])

		with, ok := r.markdown(name, strings.Join(strings.Fields(value), " "), m[0])
		if !ok {
			continue
		}
		out.Write(src[at:m[0]])

		if before, _ := utf8.DecodeLastRune(
			out.Bytes(),
		); out.Len() > 0 && strings.HasPrefix(with, "@") &&
			!mayPrecedeKey(before) {
			out.WriteByte(' ')
		}
		out.WriteString(with + strings.Repeat("\n", strings.Count(value, "\n")))
		at = m[1]
	}
	out.Write(src[at:])

	return out.Bytes()
}

// markdown is what stands for a role; false: it is none that is known.
func (r *roleReader) markdown(name, value string, offset int) (string, bool) {
	text, target := "", value
	if m := roleTarget().FindStringSubmatch(value); m != nil {
		text, target = m[1], strings.TrimSpace(m[2])
	}

	shown := text
	if shown == "" {
		shown = plainWords(target)
	}

	switch name {
	case "ref", "numref", "eq", "eqref", "prf:ref", "math:numref":
		return r.reference(name, text, target, offset), true
	case "cite", "cite:p", "citep", "cite:ps", "cite:t", "citet", "cite:ts":
		return r.citation(value, strings.Contains(name[len("cit"):], "t")), true
	case "doc", "term", "abbr", "download", "index", "any":
		return shown, true
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

	if domain, kind, ok := strings.Cut(
		name,
		":",
	); name == "kbd" || name == "file" || name == "command" ||
		ok && kind != "" && slices.Contains([]string{"py", "c", "cpp", "js", "rst"}, domain) {
		if text == "" {
			text = target
			if last, short := strings.CutPrefix(target, "~"); short {
				text = last[strings.LastIndexByte(last, '.')+1:]
			}
		}

		return "`" + text + "`", true
	}

	return "", false
}

// reference leads to a label.
func (r *roleReader) reference(name, text, label string, offset int) string {
	key := r.find(label)
	if l := r.d.labelled[label]; key == "" && l.key != "" {
		if text = cmp.Or(text, l.name, plainWords(label)); strings.Contains(text, "%s") {
			text = strings.ReplaceAll(text, "%s", l.name[strings.LastIndexByte(l.name, ' ')+1:])
		}

		return "[" + text + "](#" + l.key + ")"
	}

	switch {
	case key == "":
		r.d.Unresolved = true
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
		return "[" + text + "](#" + r.d.elsewhere(key) + ")"
	case text != "":
		return "[" + text + "](#" + key + ")"
	case name == "eq" || name == "eqref":
		return "-@{" + key + "}"
	}

	return "@{" + key + "}"
}

// citation cites works by their keys; without a bibliography, it names them.
func (r *roleReader) citation(value string, inText bool) string {
	var keys, cited []string
	for key := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == ',' || c == ';' || c == ' ' }) {
		keys, cited = append(keys, key), append(cited, "@{"+key+"}")
	}

	switch {
	case !r.d.Bibliography && inText:
		return plainWords(strings.Join(keys, ", "))
	case !r.d.Bibliography:
		return `\[` + plainWords(strings.Join(keys, ", ")) + `\]`
	case inText:
		return strings.Join(cited, ", ")
	}

	return "[" + strings.Join(cited, "; ") + "]"
}

// plainWords is a text without Markdown.
func plainWords(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "$", `\$`, "@", `\@`, "{", `\{`).
		Replace(text)
}
