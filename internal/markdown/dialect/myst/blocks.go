package myst

import (
	"fmt"
	"slices"
	"strings"

	"presswork/internal/input"
)

// writePart writes a division. Its argument is not printed.
func (r *directiveReader) writePart(n *directive) { r.writeDivision(n, false) }

// writeTitledPart writes a division with its argument as a title in bold.
func (r *directiveReader) writeTitledPart(n *directive) { r.writeDivision(n, true) }

// dropNavigation leaves out a directive of links to other pages, with a warning.
func (r *directiveReader) dropNavigation(n *directive) {
	r.warn(n, "is left out: it links to other pages")
}

// writeMissingFile writes the name of a file that package include did not find, with a warning. Found files have
// already replaced their directives.
func (r *directiveReader) writeMissingFile(n *directive) {
	r.warn(n, fmt.Sprintf("is left out: %q was not found", input.Short(n.argument)))
	n.argument = "`" + n.argument + "`"
	r.writeTitledPart(n)
}

// writeDivision writes a division with its header, its body, its link and its footer.
func (r *directiveReader) writeDivision(n *directive, titled bool) {
	r.keepLabel(n, "", n.argument)
	r.write(n.before, "::: "+n.braces("", ".part"), n.number)

	indent := blanked(n.before)
	if titled && n.argument != "" {
		r.write(indent, "**"+n.argument+"**", n.number)
		r.write(indent, "", n.number)
	}

	if link := n.option("link"); strings.Contains(link, "://") {
		n.options["link"] = "<" + link + ">"
	} else {
		n.options["link"] = ""
	}

	if text := n.option("header"); text != "" {
		r.write(indent, text, n.number)
		r.write(indent, "", n.number)
	}

	for _, name := range []string{"link", "footer"} {
		if text := n.option(name); text != "" {
			n.body = slices.Concat(n.body, []sourceLine{{indent, n.last()}, {indent + text, n.last()}})
		}
	}
	r.writeToEnd(n)
}

// writeAddress writes the address of a video or another element that cannot be printed, as a link.
func (r *directiveReader) writeAddress(n *directive) {
	if strings.Contains(n.argument, "://") {
		r.writeAlone(n, "<"+n.argument+">")
		return
	}
	r.warn(n, "is left out: it has no address")
}

// writeQuote writes a quotation.
func (r *directiveReader) writeQuote(n *directive) {
	indent := blanked(n.before)
	r.write(indent, "", n.number)

	lines := make([]sourceLine, 0, len(n.body)+1)
	if n.argument != "" {
		lines = append(lines, sourceLine{n.argument, n.number})
	}

	for _, l := range n.body {
		lines = append(lines, sourceLine{indent + "> " + strings.TrimPrefix(l.text, indent), l.number})
	}
	r.writeBlock(lines, len(indent))
	r.write(indent, "", n.last())
}

// writeIndexEntries writes \index{…} for the entries of an index in the syntax of Sphinx: "pair: a; b",
// "see: a; b" or "a, b".
func (r *directiveReader) writeIndexEntries(n *directive) {
	var marks []string
	// entry removes the characters that mean something in \index{…}.
	entry := strings.NewReplacer(`\`, "", "{", "", "}", "", "!", "", "|", "", "@", "")

	mark := func(terms ...string) {
		for i := range terms {
			terms[i] = strings.TrimSpace(entry.Replace(terms[i]))
		}

		if terms = slices.DeleteFunc(terms, func(t string) bool { return t == "" }); len(terms) > 0 {
			marks = append(marks, `\index{`+strings.Join(terms, "!")+"}")
		}
	}
	for _, line := range append([]sourceLine{{n.argument, n.number}}, n.body...) {
		kind, terms, typed := strings.Cut(strings.TrimLeft(line.text, " \t>"), ":")
		if !typed {
			for term := range strings.SplitSeq(kind, ",") {
				mark(term)
			}
			continue
		}

		list := strings.Split(terms, ";")
		switch kind = strings.TrimSpace(kind); {
		case kind == "pair" && len(list) == 2:
			mark(list[0], list[1])
			mark(list[1], list[0])
		case (kind == "see" || kind == "seealso") && len(list) == 2:
			term, other := strings.TrimSpace(entry.Replace(list[0])), strings.TrimSpace(entry.Replace(list[1]))
			marks = append(marks, `\index{`+term+"|"+kind+"{"+other+"}}")
		default:
			mark(list...)
		}
	}

	if len(marks) > 0 {
		r.writeAlone(n, marks...)
	}
}

// writeGlossary writes a definition list. Definitions begin with a colon in Markdown. In the source, an indentation may
// stand for the colon.
func (r *directiveReader) writeGlossary(n *directive) {
	indent := blanked(n.before)
	r.write(indent, "", n.number)
	isTerm := false // whether the previous line is a term

	for i, l := range n.body {
		text := strings.TrimPrefix(l.text, indent)
		if isTerm && (strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t")) {
			n.body[i].text = indent + ": " + strings.TrimSpace(text)
		}
		isTerm = text != "" && text[0] != ' ' && text[0] != '\t' && text[0] != ':'
	}
	r.writeBlock(n.body, len(indent))
	r.write(indent, "", n.last())
}

// writeHTML writes raw HTML as it is, between blank lines. It leaves out raw text for other formats, with a warning.
func (r *directiveReader) writeHTML(n *directive) {
	if !strings.Contains(n.argument, "html") {
		r.warn(n, "is left out: only raw HTML is printed")
		return
	}
	r.writeAlone(n)
	r.writeVerbatim(n.body)
	r.writeAlone(n)
}

// writeVerbatim writes lines as they are.
func (r *directiveReader) writeVerbatim(lines []sourceLine) {
	for _, l := range lines {
		r.write(l.text, "", l.number)
	}
}
