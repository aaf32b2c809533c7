package myst

import (
	"slices"
	"strings"

	"presswork/internal/markdown/label"
	"presswork/internal/markdown/source"
)

// code writes code with its options.
func (r *directiveReader) code(n *directive) {
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
	case "mermaid":
		language = n.name
	case "eval-rst":
		language = "rst"
		r.warn(n, "is printed as it is written, in reStructuredText")
	}
	r.keep(n, label.Listing, "")
	attributes := []string{}
	value := func(key, v string) {
		if v = source.OneLine(v); v != "" {
			attributes = append(attributes, key+`="`+strings.NewReplacer(`"`, "'", "`", "").Replace(v)+`"`)
		}
	}
	value("title", n.option("caption", "filename"))
	value("hl_lines", n.option("emphasize-lines"))
	value("start", n.option("lineno-start"))

	if _, numbered := n.options["linenos"]; numbered {
		attributes = append(attributes, ".numberLines")
	} else if _, numbered := n.options["number-lines"]; numbered {
		attributes = append(attributes, ".numberLines")
	}
	r.fenced(n, language+" "+n.braces(label.Listing, attributes...), n.body)
}

// fenced writes lines of code behind an info string.
func (r *directiveReader) fenced(n *directive, info string, lines []sourceLine) {
	fence := n.fence
	if fence[0] == ':' {
		for fence = source.CodeFence; slices.ContainsFunc(lines, func(l sourceLine) bool { return strings.Contains(l.text, fence) }); {
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
	r.verbatim(lines)
	r.write(blanked(n.before), fence, n.last())
}

// example writes MyST as code, and what it is printed as.
func (r *directiveReader) example(n *directive) {
	r.fenced(n, "markdown", n.body)
	in := blanked(n.before)
	r.write(in, "", n.last())
	r.block(n.body, len(in))
	r.write(in, "", n.last())
}

// math writes a formula.
func (r *directiveReader) math(n *directive) {
	r.keep(n, label.Equation, "")

	lines := n.body
	if n.argument != "" {
		lines = slices.Concat([]sourceLine{{blanked(n.before) + n.argument, n.number}}, lines)
	}
	r.fenced(n, "math "+n.braces(label.Equation), lines)
}

// picture is the Markdown of the image of a directive.
func (n *directive) picture(alt string, attributes ...string) string {
	for _, size := range []string{"width", "height"} {
		if v := n.option(size); v != "" {
			attributes = append(attributes, size+"="+strings.ReplaceAll(v, " ", ""))
		}
	}

	text := "![" + plainWords(
		source.OneLine(alt),
	) + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E").
		Replace(n.argument) +
		">)"
	if len(attributes) > 0 {
		text += "{" + strings.Join(attributes, " ") + "}"
	}

	return text
}

// image writes an image.
func (r *directiveReader) image(n *directive) {
	r.keep(n, "", "")

	var attributes []string
	if label := n.label(); label != "" {
		attributes = append(attributes, "#"+plainKey(label))
	}
	r.alone(n, n.picture(n.option("alt"), attributes...))
}

// figure writes a figure: an image, the first paragraph as its caption, the others behind
// it. Without an image of its own, the last paragraph is the caption of those it encloses.
func (r *directiveReader) figure(n *directive) {
	if n.name == "figure-md" {
		if n.label() == "" {
			n.options["name"] = n.argument
		}
		n.argument = ""
	}
	r.keep(n, label.Figure, "")
	r.write(blanked(n.before), "", n.number)
	r.write(n.before, ":::figure "+n.braces(label.Figure), n.number)

	in, legend := blanked(n.before), n.body[:0:0]
	if n.argument != "" {
		n.before = in

		end := len(n.body)
		for i, began := 0, false; i < len(n.body); i++ {
			blank := strings.Trim(n.body[i].text, " \t>") == ""
			if blank && began {
				end = i
				break
			}
			began = began || !blank
		}
		n.body, legend = n.body[:end], n.body[end:]
		r.alone(n, n.picture(n.option("alt")))
	}
	r.shut(n)
	r.block(legend, len(in))
}
