package myst

import (
	"slices"
	"strings"

	"presswork/internal/markdown/label"
	"presswork/internal/markdown/source"
)

// writeCode writes a code block with its options as attributes. It leaves out cells whose tags hide them or their
// input.
func (r *directiveReader) writeCode(n *directive) {
	tags := n.option("tags", "tag")
	for _, hidden := range []string{"remove-cell", "remove-input", "remove_cell", "remove_input"} {
		if strings.Contains(tags, hidden) {
			return
		}
	}

	language := ""
	if fields := strings.Fields(n.argument); len(fields) > 0 {
		language = fields[0]
	}

	switch n.name {
	case "mermaid", "graphviz", "d2":
		language = n.name
	case "eval-rst":
		language = "rst"
		r.warn(n, "is printed as its reStructuredText source")
	}
	r.keepLabel(n, label.Listing, "")
	attributes := []string{}
	addAttribute := func(key, v string) {
		if v = source.OneLine(v); v != "" {
			attributes = append(attributes, key+`="`+strings.NewReplacer(`"`, "'", "`", "").Replace(v)+`"`)
		}
	}
	addAttribute("title", n.option("caption", "filename"))
	addAttribute("hl_lines", n.option("emphasize-lines"))
	addAttribute("start", n.option("lineno-start"))

	if _, numbered := n.options["linenos"]; numbered {
		attributes = append(attributes, ".numberLines")
	} else if _, numbered := n.options["number-lines"]; numbered {
		attributes = append(attributes, ".numberLines")
	}
	r.writeFenced(n, language+" "+n.braces(label.Listing, attributes...), n.body)
}

// writeFenced writes a code block with an info string. It uses the fence of the directive, but not one of colons. It
// drops blank lines at the start and at the end.
func (r *directiveReader) writeFenced(n *directive, info string, lines []sourceLine) {
	fence := n.fence
	if fence[0] == ':' {
		fence = source.CodeFence
		for slices.ContainsFunc(lines, func(l sourceLine) bool { return strings.Contains(l.text, fence) }) {
			fence += fence
		}
	}
	r.write(n.before, fence+strings.TrimSpace(info), n.number)

	for len(lines) > 0 && strings.Trim(lines[0].text, " \t>") == "" {
		lines = lines[1:]
	}

	for len(lines) > 0 && strings.Trim(lines[len(lines)-1].text, " \t>") == "" {
		lines = lines[:len(lines)-1]
	}
	r.writeVerbatim(lines)
	r.write(blanked(n.before), fence, n.last())
}

// writeExample writes an example of MyST twice: as code, and as the Markdown that it stands for.
func (r *directiveReader) writeExample(n *directive) {
	r.writeFenced(n, "markdown", n.body)
	indent := blanked(n.before)
	r.write(indent, "", n.last())
	r.writeBlock(n.body, len(indent))
	r.write(indent, "", n.last())
}

// writeFormula writes a formula as a code block of the language math.
func (r *directiveReader) writeFormula(n *directive) {
	r.keepLabel(n, label.Equation, "")

	lines := n.body
	if n.argument != "" {
		lines = slices.Concat([]sourceLine{{blanked(n.before) + n.argument, n.number}}, lines)
	}
	r.writeFenced(n, "math "+n.braces(label.Equation), lines)
}

// image returns the Markdown of an image. The argument of the directive is its address.
func (n *directive) image(alt string, attributes ...string) string {
	for _, size := range []string{"width", "height"} {
		if v := n.option(size); v != "" {
			attributes = append(attributes, size+"="+strings.ReplaceAll(v, " ", ""))
		}
	}

	address := strings.NewReplacer("<", "%3C", ">", "%3E").Replace(n.argument)

	text := "![" + plainWords(source.OneLine(alt)) + "](<" + address + ">)"
	if len(attributes) > 0 {
		text += "{" + strings.Join(attributes, " ") + "}"
	}

	return text
}

// writeImage writes an image, with its label as an id.
func (r *directiveReader) writeImage(n *directive) {
	r.keepLabel(n, "", "")

	var attributes []string
	if label := n.label(); label != "" {
		attributes = append(attributes, "#"+plainKey(label))
	}
	r.writeAlone(n, n.image(n.option("alt"), attributes...))
}

// writeFigure writes a figure. If the argument is the address of an image, the first paragraph is the caption, and the
// others follow the figure. Otherwise the last paragraph is the caption of the content. The argument of figure-md is
// the label.
func (r *directiveReader) writeFigure(n *directive) {
	if n.name == "figure-md" {
		if n.label() == "" {
			n.options["name"] = n.argument
		}
		n.argument = ""
	}
	r.keepLabel(n, label.Figure, "")
	r.write(blanked(n.before), "", n.number)
	r.write(n.before, ":::figure "+n.braces(label.Figure), n.number)

	indent, legend := blanked(n.before), n.body[:0:0]
	if n.argument != "" {
		n.before = indent

		end := len(n.body) // of the first paragraph
		for i, began := 0, false; i < len(n.body); i++ {
			blank := strings.Trim(n.body[i].text, " \t>") == ""
			if blank && began {
				end = i
				break
			}
			began = began || !blank
		}
		n.body, legend = n.body[:end], n.body[end:]
		r.writeAlone(n, n.image(n.option("alt")))
	}
	r.writeToEnd(n)
	r.writeBlock(legend, len(indent))
}
