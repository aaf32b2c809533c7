package myst

import (
	"bytes"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

// maxDirectiveDepth is the number of levels that directives may nest. Deeper ones stay as they are in the source.
const maxDirectiveDepth = 20

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

// directiveReader rewrites the directives of one document.
type directiveReader struct {
	reader   *Reader
	source   *source.Source
	warnings []fault.Warning
	writers  map[string]directiveWriter
	out      bytes.Buffer
	lines    []int // for each line of out, the line of the source, from 0
	depth    int   // the number of calls of writeBlock within each other
	// counts is the number of theorems, exercises and the like so far, by their names.
	counts map[string]int
	// opened is the number of exercises and solutions that have begun by a directive with "-start" and not ended.
	opened int
	// warned holds the names of directives with a warning.
	warned map[string]bool
	// substituted is the size of the substituted texts, in bytes.
	substituted int
}

// Directives replaces the directives of MyST by the Markdown that the parser reads. It only changes documents with a
// known directive or with Substitutions. In these it also inserts the substitutions, and removes comments and breaks
// between cells. It returns a warning for each name of a directive that is unknown or left out.
func (d *Reader) Directives(s *source.Source) []fault.Warning {
	known := len(d.Substitutions) > 0 // whether the document is MyST
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

// mayHoldDirectives reports whether a source may have directives. It is a quick test: most documents have none.
func mayHoldDirectives(src []byte) bool {
	for _, mark := range []string{"```{", ":::{", "~~~{", "``` {", "::: {"} {
		if bytes.Contains(src, []byte(mark)) {
			return true
		}
	}

	return false
}

// readHead returns the submatches of directiveHead, nil if the line does not begin a directive. The expression is slow,
// so readHead first tests for a fence of at least three characters before the brace.
func readHead(line string) []string {
	const longest = 4000 // bytes
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

// write writes a line. before is its indentation, and number the line of the source that it is made from. It keeps
// spaces at the end, because two of them are a line break.
func (r *directiveReader) write(before, text string, number int) {
	r.out.WriteString(before + text + "\n")
	r.lines = append(r.lines, number)
}

// blockState is the state of writeBlock between two lines.
type blockState struct {
	// fence is the fence of the open code block, "" for none. before is the text before the fence.
	fence, before string
	// label is the label of the next directive, from a line above it.
	label string
	// listed reports whether a list is open, blank whether the previous line is blank. They decide whether an indented
	// line is code, as in source.WithoutCode.
	listed, blank bool
}

// isVerbatim reports whether a line is blank or code, and updates the state. text is the line without its indentation,
// of indent bytes. indented is the indentation of the block.
func (b *blockState) isVerbatim(text string, indent, indented int) bool {
	switch mark := source.Fence(text); {
	case b.fence != "":
		if strings.HasPrefix(mark, b.fence) && strings.TrimSpace(text[len(mark):]) == "" {
			b.fence = ""
		}

		return true
	case text == "":
		b.blank = true
		return true
	case indent >= indented+4 && b.blank && !b.listed:
		return true
	case source.IsItem([]byte(text)):
		b.listed = true
	case indent == 0:
		b.listed = false
	}
	b.blank = false

	return false
}

// writeBlock writes lines, and the Markdown for the directives among them. indented is the indentation of the lines in
// bytes. It calls itself for the content of directives.
func (r *directiveReader) writeBlock(lines []sourceLine, indented int) {
	r.depth++
	defer func() { r.depth-- }()
	b := blockState{blank: true}

	for i := 0; i < len(lines); i++ {
		line := lines[i]
		text := strings.TrimLeft(line.text, " \t>")
		indent := len(line.text) - len(strings.TrimLeft(line.text, " \t"))

		if b.isVerbatim(text, indent, indented) {
			r.write(line.text, "", line.number)
			continue
		}

		var head []string
		if r.depth <= maxDirectiveDepth {
			head = readHead(line.text)
		}

		if head != nil {
			end := directiveEnd(lines, i, head[1], head[2])
			r.writeDirective(newDirective(line, head, lines[i+1:end], b.label))
			b.label, b.blank = "", true

			// Skip the closing fence, but not another line that ended the directive.
			if i = end; end == len(lines) || !closes(lines[end].text, head[2]) {
				i--
			}
			continue
		}

		// A substitution that is alone on its line may be a block, and contain directives.
		with, alone := r.substitute(line.text)
		if alone && r.depth <= maxDirectiveDepth {
			var lines []sourceLine
			for text := range strings.Lines(with) {
				lines = append(lines, sourceLine{line.text[:indent] + strings.TrimSuffix(text, "\n"), line.number})
			}
			r.writeBlock(lines, indented)
			continue
		}

		if !alone {
			line.text = with
		}

		if mark := source.Fence(text); mark != "" {
			b.fence, b.before = mark, line.text[:len(line.text)-len(text)]
		}
		r.writeLine(&b, line, text, lines[i+1:])
	}

	if b.fence != "" && r.depth > 1 { // the open code ends with the directive around it
		r.write(b.before, b.fence, lines[len(lines)-1].number)
	}
}

// writeLine writes a line outside of directives and code. text is the line without its indentation, and below are the
// lines after it. It writes blank lines for comments, the end of a cell or of the head of a card, and labels of
// directives.
func (r *directiveReader) writeLine(b *blockState, line sourceLine, text string, below []sourceLine) {
	indent := len(line.text) - len(strings.TrimLeft(line.text, " \t"))

	switch {
	case text[0] == '%' && indent < 4, strings.HasPrefix(line.text, "+++"), strings.HasPrefix(text, "^^^"):
		r.write("", "", line.number)
	case text[0] == '(' && strings.HasSuffix(text, ")=") && r.isDirectiveNext(below):
		if m := labelAbove().FindStringSubmatch(text); m != nil {
			b.label = m[1]
		}
		r.write("", "", line.number)
	default:
		r.write(line.text, "", line.number)
	}
}

// isDirectiveNext reports whether the first line with text, among the first reach lines, begins a directive.
func (r *directiveReader) isDirectiveNext(lines []sourceLine) bool {
	for i := 0; i < min(len(lines), reach); i++ {
		if text := strings.TrimSpace(lines[i].text); text != "" {
			return readHead(lines[i].text) != nil
		}
	}

	return false
}

// warn adds a warning about a directive, once for each name. what completes the sentence "the directive NAME …".
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
