package myst

import (
	"strings"

	"presswork/internal/markdown/admonition"
	"presswork/internal/markdown/label"
)

// directiveWriter writes the Markdown for a directive.
type directiveWriter func(*directiveReader, *directive)

// writers returns the writers of directives by their names. It has no admonitions of package admonition, and no names
// for which isNumbered returns true: writeAlert writes both.
func writers() map[string]directiveWriter {
	all := map[string]directiveWriter{}

	for _, w := range []struct {
		write directiveWriter
		names string
	}{
		{(*directiveReader).writeAlert, "admonition dropdown sidebar margin aside topic exercise-start solution-start " +
			"versionadded versionchanged deprecated versionremoved"},
		{(*directiveReader).endExercise, "exercise-end solution-end"},
		{(*directiveReader).writeCode, "code-block code code-cell sourcecode parsed-literal productionlist " +
			"mermaid graphviz d2 eval-rst"},
		{(*directiveReader).writeExample, "myst-example myst"},
		{(*directiveReader).writeFormula, "math"},
		{(*directiveReader).writeFigure, "figure figure-md"},
		{(*directiveReader).writeImage, "image"},
		{(*directiveReader).writeTable, "table"},
		{(*directiveReader).writeListTable, "list-table"},
		{(*directiveReader).writeCSVTable, "csv-table"},
		{(*directiveReader).writeTitledPart, "tab-item tab card grid-item-card rubric centered"},
		{(*directiveReader).writePart, "tab-set grid grid-item card-group card-carousel div container compound only " +
			"line-block button-link button-ref"},
		{lines("[[toc]]"), "contents"},
		{lines(`\printindex`), "show-index genindex"},
		{lines("::: {#refs}", ":::"), "bibliography"},
		{(*directiveReader).dropNavigation, "toctree tableofcontents postlist"},
		{func(*directiveReader, *directive) {}, "highlight meta role default-role default-domain currentmodule " +
			"sectnum tabularcolumns"},
		{(*directiveReader).writeQuote, "epigraph pull-quote highlights blockquote"},
		{(*directiveReader).writeIndexEntries, "index"},
		{(*directiveReader).writeGlossary, "glossary"},
		{(*directiveReader).writeHTML, "raw"},
		{(*directiveReader).writeMissingFile, "include literalinclude"},
		{(*directiveReader).writeAddress, "iframe youtube video embed"},
	} {
		for name := range strings.FieldsSeq(w.names) {
			all[name] = w.write
		}
	}

	return all
}

// lines returns a writer of fixed lines.
func lines(text ...string) directiveWriter {
	return func(r *directiveReader, n *directive) { r.writeAlone(n, text...) }
}

// isKnown reports whether a directive of this name is one of MyST.
func (r *directiveReader) isKnown(name string) bool {
	return r.writers[name] != nil || admonition.KindOf(name) != "" || isNumbered(name)
}

// writeDirective writes the Markdown for a directive. Of an unknown directive it writes the content, with a warning.
func (r *directiveReader) writeDirective(n *directive) {
	switch write := r.writers[n.name]; {
	case write != nil:
		write(r, n)
	case r.isKnown(n.name):
		r.writeAlert(n)
	default:
		r.warn(n, "is not known; its content is printed")
		r.writeTitledPart(n)
	}
}

// writeAlone writes lines with a blank line before and after them. The first line of a list item gets no blank line
// before it.
func (r *directiveReader) writeAlone(n *directive, lines ...string) {
	first := n.before
	if first == blanked(first) {
		r.write(first, "", n.number)
	}

	for _, line := range lines {
		r.write(first, line, n.number)
		first = blanked(first)
	}
	r.write(first, "", n.number)
}

// writeToEnd writes the body of a division and the line that closes it.
func (r *directiveReader) writeToEnd(n *directive) {
	if len(n.body) > 0 {
		r.writeBlock(n.body, len(n.before))
	}
	r.write(blanked(n.before), ":::", n.last())
}

// last returns the number of the last line of the body, or of the first line if the body is empty.
func (n *directive) last() int {
	if len(n.body) == 0 {
		return n.number
	}

	return n.body[len(n.body)-1].number
}

// braces returns the attributes of a directive in braces, "" for none: its label as an id, and more. If kind is not "",
// the id begins with it, which numbers the element.
func (n *directive) braces(kind label.Kind, more ...string) string {
	if label := n.label(); label != "" && kind != "" {
		more = append(more, "#"+roleKey(kind, label))
	} else if label != "" {
		more = append(more, "#"+plainKey(label))
	}

	if len(more) == 0 {
		return ""
	}

	return "{" + strings.Join(more, " ") + "}"
}

// keepLabel records the label of a directive for the roles that refer to it. Without a kind, such a role becomes a link
// with the text name.
func (r *directiveReader) keepLabel(n *directive, kind label.Kind, name string) {
	label := n.label()
	if label == "" {
		return
	}

	key := plainKey(label)
	if kind != "" {
		key = roleKey(kind, label)
	}
	r.reader.labelled[label] = labelled{key, kind, name}
}
