package myst

import (
	"bytes"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

// maxDirectiveDepth is the deepest nesting of directives. Deeper ones are printed as code.
const maxDirectiveDepth = 20

// maxOption is the size of an option after which further lines are dropped, in bytes. Each line
// copies the option, so a long one would take quadratic time.
const maxOption = 16 << 10

var (
	// directiveHead matches the first line of a directive, which may begin a list item. Its groups
	// are the indentation, the fence, the name and the argument.
	directiveHead = lazyregexp.New(
		"^([ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*)(`{3,}|:{3,}|~{3,})" +
			"[ \t]*\\{([A-Za-z][\\w:.-]{0,60})\\}[ \t]*([^`]*|[^`]*`[^`]+`.*)$",
	)
	// directiveOption matches :key: value, and directiveYAML a line of YAML.
	directiveOption = lazyregexp.New(`^:([A-Za-z][\w-]{0,60}):(?:[ \t]+(.*))?$`)
	directiveYAML   = lazyregexp.New(`^([A-Za-z][\w-]{0,60}):(?:[ \t]+(.*))?$`)
)

// directive is a block of MyST (https://mystmd.org/spec/directives):
//
//	```{name} argument
//	:option: value
//
//	Content.
//	```
type directive struct {
	sourceLine // the first line
	// before is the indentation of the fence, with the markers of list items.
	before, fence, name, argument string
	options                       map[string]string
	body                          []sourceLine
}

// sourceLine is a line of the document without its line end, and its number from 0.
type sourceLine struct {
	text   string
	number int
}

// directiveReader rewrites the directives of one document.
type directiveReader struct {
	reader   *Reader
	source   *source.Source
	warnings []fault.Warning
	writers  map[string]directiveWriter
	out      bytes.Buffer
	lines    []int // for each line of out, the line of the source
	depth    int   // of nested blocks
	// counts is the number of theorems, exercises and the like so far, by their names.
	counts map[string]int
	// opened is the number of exercises without their end so far.
	opened int
	// warned holds the names of directives with a warning.
	warned map[string]bool
	// substituted is the size of the substituted texts, in bytes.
	substituted int
}

// Directives replaces the directives of MyST by the Markdown that the parser reads. In a document with
// a known directive or with substitutions, it also removes comments and breaks between cells. It
// leaves any other document as it is.
func (d *Reader) Directives(s *source.Source) []fault.Warning {
	known := len(d.Substitutions) > 0
	if !known && !mayHoldDirectives(s.Text()) {
		return nil
	}
	r := directiveReader{
		reader:  d,
		source:  s,
		writers: writers(),
		counts:  map[string]int{},
		warned:  map[string]bool{},
	}
	var lines []sourceLine

	for line := range strings.Lines(string(s.Text())) {
		line = strings.TrimSuffix(line, "\n")
		if !known {
			m := readHead(line)
			known = m != nil && r.isKnown(m[3])
		}
		lines = append(lines, sourceLine{line, len(lines)})
	}

	if !known {
		return nil
	}
	d.labelled = map[string]labelled{}
	r.writeBlock(lines, 0)

	for ; r.opened > 0; r.opened-- {
		r.write("", ":::", len(lines)-1)
	}

	s.ReplaceLines(r.out.Bytes(), r.lines)

	return r.warnings
}

// mayHoldDirectives is a quick test: most documents have no directive.
func mayHoldDirectives(src []byte) bool {
	for _, mark := range []string{"```{", ":::{", "~~~{", "``` {", "::: {"} {
		if bytes.Contains(src, []byte(mark)) {
			return true
		}
	}

	return false
}

// readHead returns the submatches of directiveHead, nil if the line does not begin a directive. The
// expression is slow, so readHead tests the characters before the brace first.
func readHead(line string) []string {
	const longest = 4000
	before, _, ok := strings.Cut(line, "{")

	before = strings.TrimRight(before, " \t")
	if !ok || len(line) > longest ||
		!strings.HasSuffix(before, "```") && !strings.HasSuffix(before, ":::") && !strings.HasSuffix(before, "~~~") {
		return nil
	}

	m := directiveHead().FindStringSubmatch(line)
	if m == nil || slices.Contains(engines(), m[3]) {
		return nil
	}

	return m
}

// write writes a line after its indentation, made from line number of the source. It keeps spaces at
// the end: two of them break the line.
func (r *directiveReader) write(before, text string, number int) {
	r.out.WriteString(before + text + "\n")
	r.lines = append(r.lines, number)
}

// writeBlock writes lines with this indentation, and the Markdown for the directives among them.
func (r *directiveReader) writeBlock(lines []sourceLine, indented int) {
	r.depth++
	defer func() { r.depth-- }()
	fence, before, label := "", "", ""
	listed, blank := false, true // in a list; after a blank line. See source.WithoutCode

	for i := 0; i < len(lines); i++ {
		line := lines[i]
		text := strings.TrimLeft(line.text, " \t>")

		indent := len(line.text) - len(strings.TrimLeft(line.text, " \t"))
		switch mark := source.Fence(text); {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.TrimSpace(text[len(mark):]) == "" {
				fence = ""
			}
			r.write(line.text, "", line.number)
			continue
		case text == "":
			r.write(line.text, "", line.number)
			blank = true
			continue
		case indent >= indented+4 && blank && !listed: // code
			r.write(line.text, "", line.number)
			continue
		case indent == 0 && !source.IsItem([]byte(text)):
			listed = false
		case source.IsItem([]byte(text)):
			listed = true
		}
		blank = false

		var m []string
		if r.depth <= maxDirectiveDepth {
			m = readHead(line.text)
		}

		if m != nil {
			end := directiveEnd(lines, i, m[1], m[2])
			one := directive{
				sourceLine: line,
				before:     m[1],
				fence:      m[2],
				name:       m[3],
				argument:   strings.TrimSpace(m[4]),
				body:       lines[i+1 : end],
			}
			one.readOptions()

			if one.label() == "" {
				one.options["name"] = label
			}
			label = ""
			r.writeDirective(&one)

			if i = end; end == len(lines) || !closes(lines[end].text, m[2]) {
				i--
			}
			blank = true
			continue
		}

		if with, alone := r.substitute(line.text); alone && r.depth <= maxDirectiveDepth {
			var lines []sourceLine
			for text := range strings.Lines(with) {
				lines = append(lines, sourceLine{line.text[:indent] + strings.TrimSuffix(text, "\n"), line.number})
			}
			r.writeBlock(lines, indented)
			continue
		} else if !alone {
			line.text = with
		}

		if mark := source.Fence(text); mark != "" {
			fence, before = mark, line.text[:len(line.text)-len(text)]
		}

		switch {
		case text[0] == '%' && indent < 4,
			strings.HasPrefix(line.text, "+++"),
			strings.HasPrefix(text, "^^^"): // a comment, the end of a cell or of the head of a card
			r.write("", "", line.number)
		case text[0] == '(' && strings.HasSuffix(text, ")=") && r.isDirectiveNext(lines[i+1:]):
			if m := labelAbove().FindStringSubmatch(text); m != nil {
				label = m[1]
			}
			r.write("", "", line.number)
		default:
			r.write(line.text, "", line.number)
		}
	}

	if fence != "" && r.depth > 1 { // the open code ends with the directive around it
		r.write(before, fence, lines[len(lines)-1].number)
	}
}

// isDirectiveNext reports whether the next line with text begins a directive.
func (r *directiveReader) isDirectiveNext(lines []sourceLine) bool {
	for i := 0; i < min(len(lines), reach); i++ {
		if text := strings.TrimSpace(lines[i].text); text != "" {
			return readHead(lines[i].text) != nil
		}
	}

	return false
}

// closes reports whether a line closes a fence.
func closes(line, fence string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t>"), fence)
	return ok && strings.Trim(rest, fence[:1]+" \t") == ""
}

// directiveEnd returns the index of the line that ends the directive of line at. That is its closing
// fence, or the first line outside its list item or quote.
func directiveEnd(lines []sourceLine, at int, before, fence string) int {
	depth := 0 // of colon fences with the same number of colons

	for i := at + 1; i < len(lines); i++ {
		text := lines[i].text

		inner := strings.TrimLeft(text, " \t>")
		switch {
		case inner == "":
		case len(text)-len(inner) < len(before) && strings.TrimSpace(before) != "":
			return i
		case inner[0] != fence[0]:
		case closes(text, fence):
			if depth == 0 {
				return i
			}
			depth--
		case fence[0] == ':' && strings.HasPrefix(inner, fence) &&
			strings.HasPrefix(strings.TrimLeft(inner, ": \t"), "{"):
			depth++
		}
	}

	return len(lines)
}

// readOptions moves the options from the start of the body to the map: lines of :key: value, or YAML
// between two lines of ---.
func (n *directive) readOptions() {
	n.options = map[string]string{}
	yaml := len(n.body) > 0 && strings.TrimSpace(n.body[0].text) == "---"

	form, i, last := directiveOption(), 0, ""
	if yaml {
		form, i = directiveYAML(), 1
	}

	for ; i < len(n.body); i++ {
		text := strings.TrimLeft(n.body[i].text, " \t>")
		if yaml && strings.TrimSpace(text) == "---" {
			i++
			break
		}

		m := form.FindStringSubmatch(text)
		switch {
		case m != nil:
			last = m[1]
			n.options[last] = unquoted(strings.TrimSpace(m[2]))
		case yaml || last != "" && text != "" &&
			strings.HasPrefix(strings.TrimPrefix(n.body[i].text, blanked(n.before)), " "):
			if len(n.options[last]) > maxOption {
				continue
			}
			item := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "- "))
			n.options[last] = strings.TrimLeft(strings.TrimSpace(n.options[last]+" "+item), "|> ")
		default:
			n.body = n.body[i:]
			return
		}
	}
	n.body = n.body[i:]
}

// unquoted returns a value without the quotation marks around it.
func unquoted(s string) string {
	if n := len(s); n > 1 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'') && strings.Count(s, s[:1]) == 2 {
		return s[1 : n-1]
	}

	return s
}

// option returns the first of the options that has a value, "" for none.
func (n *directive) option(names ...string) string {
	for _, name := range names {
		if value := n.options[name]; value != "" {
			return value
		}
	}

	return ""
}

// label returns the label of a directive, "" for none.
func (n *directive) label() string { return n.option("name", "label") }

// isEmpty reports whether the body has no text.
func (n *directive) isEmpty() bool {
	return !slices.ContainsFunc(n.body, func(l sourceLine) bool { return strings.Trim(l.text, " \t>") != "" })
}

// blanked returns an indentation with spaces in place of the markers of list items.
func blanked(before string) string {
	return strings.Map(func(c rune) rune {
		if c == '\t' || c == '>' {
			return c
		}

		return ' '
	}, before)
}

// warn adds a warning about a directive, once for each name.
func (r *directiveReader) warn(n *directive, what string) {
	if !r.warned[n.name] {
		r.warned[n.name] = true
		r.warnings = append(r.warnings, fault.Warning{
			Code:    fault.SyntaxDropped,
			Message: "the directive " + n.name + " " + what,
			Line:    r.source.Lines().Line(n.number),
		})
	}
}
