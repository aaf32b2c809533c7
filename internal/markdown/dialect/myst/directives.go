package myst

import (
	"bytes"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/admonition"
	"presswork/internal/markdown/source"
)

// maxDirectiveDepth bounds directives within directives; what is deeper is code.
const maxDirectiveDepth = 20

// maxOption is about how many bytes of lines an option may have, each of which costs a copy.
const maxOption = 16 << 10

var (
	// directiveHead begins a directive of MyST, perhaps as the first thing of a list item:
	// its indentation, fence, name and argument.
	directiveHead = lazyregexp.New(
		"^([ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*)(`{3,}|:{3,}|~{3,})[ \t]*\\{([A-Za-z][\\w:.-]{0,60})\\}[ \t]*([^`]*|[^`]*`[^`]+`.*)$",
	)
	// directiveOption is :key: value, or a line of YAML.
	directiveOption = lazyregexp.New(`^:([A-Za-z][\w-]{0,60}):(?:[ \t]+(.*))?$`)
	directiveYAML   = lazyregexp.New(`^([A-Za-z][\w-]{0,60}):(?:[ \t]+(.*))?$`)
)

// directive is a block of MyST:
//
//	```{name} argument
//	:option: value
//
//	Content.
//	```
type directive struct {
	sourceLine                    // the first line
	before, fence, name, argument string
	options                       map[string]string
	body                          []sourceLine
}

// sourceLine is a line of the document, without its end, and its number from 0.
type sourceLine struct {
	text   string
	number int
}

// directiveReader makes the directives of MyST what Markdown has here.
type directiveReader struct {
	d        *Reader
	source   *source.Source
	warnings []fault.Warning
	out      bytes.Buffer
	lines    []int // of the source, for each line that is out
	depth    int
	// counts are how many there are of what is numbered by its name, opened how many
	// exercises wait for their end.
	counts map[string]int
	opened int
	told   map[string]bool
	// substituted is how many bytes substitutions stand for.
	substituted int
}

// Directives makes the directives of MyST what Markdown has here. A document with one
// that is known is MyST, which has comments and breaks between cells, too.
func (d *Reader) Directives(s *source.Source) []fault.Warning {
	known := len(d.Substitutions) > 0
	if !known && !mayHoldDirectives(s.Text()) {
		return nil
	}
	r := directiveReader{d: d, source: s, counts: map[string]int{}, told: map[string]bool{}}
	var lines []sourceLine

	for line := range strings.Lines(string(s.Text())) {
		line = strings.TrimSuffix(line, "\n")
		if !known {
			if m := readHead(line); m != nil {
				known = admonition.KindOf(m[3]) != "" || forms()[m[3]] != "" || isNumbered(m[3])
			}
		}
		lines = append(lines, sourceLine{line, len(lines)})
	}

	if !known {
		return nil
	}
	d.labelled = map[string]labelled{}
	r.block(lines, 0)

	for ; r.opened > 0; r.opened-- {
		r.write("", ":::", len(lines)-1)
	}

	s.ReplaceLines(r.out.Bytes(), r.lines)

	return r.warnings
}

// mayHoldDirectives is quick: most documents hold none.
func mayHoldDirectives(src []byte) bool {
	for _, mark := range []string{"```{", ":::{", "~~~{", "``` {", "::: {"} {
		if bytes.Contains(src, []byte(mark)) {
			return true
		}
	}

	return false
}

// readHead matches directiveHead.
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

// write writes a line behind what it is indented by. Spaces at its end may break the line.
func (r *directiveReader) write(before, text string, number int) {
	r.out.WriteString(before + text + "\n")
	r.lines = append(r.lines, number)
}

// block writes lines that are indented so far, with what stands for the directives in them.
func (r *directiveReader) block(lines []sourceLine, indented int) {
	r.depth++
	defer func() { r.depth-- }()
	fence, before, label := "", "", ""
	listed, blank := false, true // as in source.WithoutCode

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
			r.directive(&one)

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
			r.block(lines, indented)
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
			strings.HasPrefix(text, "^^^"): // a comment, ends of cells and of heads of cards
			r.write("", "", line.number)
		case text[0] == '(' && strings.HasSuffix(text, ")=") && r.labels(lines[i+1:]):
			if m := labelAbove().FindStringSubmatch(text); m != nil {
				label = m[1]
			}
			r.write("", "", line.number)
		default:
			r.write(line.text, "", line.number)
		}
	}

	if fence != "" && r.depth > 1 { // what follows the directive is no code
		r.write(before, fence, lines[len(lines)-1].number)
	}
}

// labels reports whether a directive is what comes next.
func (r *directiveReader) labels(lines []sourceLine) bool {
	for i := 0; i < min(len(lines), reach); i++ {
		if text := strings.TrimSpace(lines[i].text); text != "" {
			return readHead(lines[i].text) != nil
		}
	}

	return false
}

// closes reports whether a line ends what a fence begins.
func closes(line, fence string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t>"), fence)
	return ok && strings.Trim(rest, fence[:1]+" \t") == ""
}

// directiveEnd is the index of the line that ends the directive of a line: its closing
// fence, or the first one that is not in its list item or quote.
func directiveEnd(lines []sourceLine, at int, before, fence string) int {
	depth := 0 // of directives of colons, which may have as many

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
		case fence[0] == ':' && strings.HasPrefix(inner, fence) && strings.HasPrefix(strings.TrimLeft(inner, ": \t"), "{"):
			depth++
		}
	}

	return len(lines)
}

// readOptions takes the options off the beginning of the body: lines of :key: value, or
// YAML between two lines of ---.
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
		case yaml || last != "" && strings.HasPrefix(strings.TrimPrefix(n.body[i].text, blanked(n.before)), " ") && text != "":
			if len(n.options[last]) > maxOption {
				continue
			}
			more := strings.TrimSpace(
				n.options[last] + " " + strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "- ")),
			)
			n.options[last] = strings.TrimLeft(more, "|> ")
		default:
			n.body = n.body[i:]
			return
		}
	}
	n.body = n.body[i:]
}

// unquoted is a value without the quotation marks around it.
func unquoted(s string) string {
	if n := len(s); n > 1 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'') && strings.Count(s, s[:1]) == 2 {
		return s[1 : n-1]
	}

	return s
}

// option is the first of the options that is there.
func (n *directive) option(names ...string) string {
	for _, name := range names {
		if value := n.options[name]; value != "" {
			return value
		}
	}

	return ""
}

func (n *directive) label() string { return n.option("name", "label") }

// empty reports whether nothing is in the body.
func (n *directive) empty() bool {
	return !slices.ContainsFunc(n.body, func(l sourceLine) bool { return strings.Trim(l.text, " \t>") != "" })
}

// blanked is an indentation without the markers of list items.
func blanked(before string) string {
	return strings.Map(func(c rune) rune {
		if c == '\t' || c == '>' {
			return c
		}

		return ' '
	}, before)
}

// warn names, once, a directive of which something is left out.
func (r *directiveReader) warn(n *directive, what string) {
	if !r.told[n.name] {
		r.told[n.name] = true
		r.warnings = append(r.warnings, fault.Warning{
			Code:    fault.SyntaxDropped,
			Message: "the directive " + n.name + " " + what,
			Line:    r.source.Lines().Line(n.number),
		})
	}
}
