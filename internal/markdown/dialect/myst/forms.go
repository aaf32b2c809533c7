package myst

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"presswork/internal/markdown/admonition"
	"presswork/internal/markdown/label"
)

// directiveForms has a form a line, and the names of the directives that have it besides
// those of admonitions and what isNumbered.
const directiveForms = `alert|admonition dropdown sidebar margin aside topic versionadded versionchanged deprecated versionremoved exercise-start solution-start
end|exercise-end solution-end
code|code-block code code-cell sourcecode parsed-literal productionlist mermaid eval-rst
example|myst-example myst
math|math
figure|figure figure-md
image|image
table|table
list-table|list-table
csv-table|csv-table
title|tab-item tab card grid-item-card rubric centered
part|tab-set grid grid-item card-group card-carousel div container compound only line-block button-link button-ref
contents|contents
navigation|toctree tableofcontents postlist
nothing|highlight meta role default-role default-domain currentmodule sectnum tabularcolumns
quote|epigraph pull-quote highlights blockquote
index|index
print-index|show-index genindex
glossary|glossary
bibliography|bibliography
raw|raw
include|include literalinclude
link|iframe youtube video embed`

// forms maps the names of directives to their forms.
var forms = sync.OnceValue(func() map[string]string {
	all := map[string]string{}

	for line := range strings.Lines(directiveForms) {
		form, names, _ := strings.Cut(strings.TrimSpace(line), "|")
		for name := range strings.FieldsSeq(names) {
			all[name] = form
		}
	}

	return all
})

// directive writes what stands for a directive.
func (r *directiveReader) directive(n *directive) {
	switch form := forms()[n.name]; form {
	case "alert":
		r.alert(n)
	case "end":
		r.end(n)
	case "code":
		r.code(n)
	case "example":
		r.example(n)
	case "math":
		r.math(n)
	case "figure":
		r.figure(n)
	case "image":
		r.image(n)
	case "table":
		r.table(n)
	case "list-table":
		r.listTable(n)
	case "csv-table":
		r.csvTable(n)
	case "part":
		r.part(n, false)
	case "title":
		r.part(n, true)
	case "contents":
		r.alone(n, "[[toc]]")
	case "print-index":
		r.alone(n, `\printindex`)
	case "bibliography":
		r.alone(n, "::: {#refs}", ":::")
	case "navigation":
		r.warn(n, "is left out: it leads to other pages")
	case "nothing":
	case "quote":
		r.quote(n)
	case "index":
		r.index(n)
	case "glossary":
		r.glossary(n)
	case "raw":
		r.raw(n)
	case "include":
		r.warn(n, "is left out: its file cannot be had")
		n.argument = "`" + n.argument + "`"
		r.part(n, true)
	case "link":
		r.link(n)
	default:
		if isNumbered(n.name) || admonition.KindOf(n.name) != "" {
			r.alert(n)
			return
		}
		r.warn(n, "is not known: what it encloses is printed")
		r.part(n, true)
	}
}

// alone writes lines apart from others.
func (r *directiveReader) alone(n *directive, lines ...string) {
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

// shut writes the body of a division and its end.
func (r *directiveReader) shut(n *directive) {
	if len(n.body) > 0 {
		r.block(n.body, len(n.before))
	}
	r.write(blanked(n.before), ":::", n.last())
}

// last is the number of the last line.
func (n *directive) last() int {
	if len(n.body) == 0 {
		return n.number
	}

	return n.body[len(n.body)-1].number
}

// braces are the attributes of a directive: its label, as one of a kind or as it is.
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

// keep remembers the label of a directive, and what refers to it leads to.
func (r *directiveReader) keep(n *directive, kind label.Kind, name string) {
	label := n.label()
	if label == "" {
		return
	}

	key := plainKey(label)
	if kind != "" {
		key = roleKey(kind, label)
	}
	r.d.labelled[label] = labelled{key, kind, name}
}

// isNumbered reports whether what a directive holds is counted: theorems and the like, and
// exercises.
func isNumbered(name string) bool {
	domain, word, _ := strings.Cut(name, ":")
	return word != "" && (domain == "prf" || domain == "proof") || name == "exercise" || name == "solution"
}

// alert writes an admonition.
func (r *directiveReader) alert(n *directive) {
	if strings.HasSuffix(n.name, ":proof") {
		n.argument = strings.TrimSpace("Proof " + n.argument)
		r.part(n, true)

		return
	}
	const longest = 70 // of a title; what is longer is the beginning of the text
	name, started := strings.CutSuffix(n.name, "-start")

	kind, title, text := name, n.argument, ""
	switch {
	case isNumbered(name):
		kind = "note"
		title = r.count(n, name)
	case slices.Contains([]string{"versionadded", "versionchanged", "deprecated", "versionremoved"}, name):
		version, rest, _ := strings.Cut(n.argument, " ")
		kind, text = "note", rest
		title = map[string]string{"versionadded": "Added in version ", "versionchanged": "Changed in version ", "deprecated": "Deprecated since version ", "versionremoved": "Removed in version "}[name] + version
	case admonition.KindOf(name) == "":
		kind = "note"

		for class := range strings.FieldsSeq(n.option("class")) {
			if admonition.KindOf(class) != "" {
				kind = class
			}
		}
	case n.empty() || len(title) > longest:
		title, text = "", title
	}

	if name == "margin" || name == "aside" {
		title, text = "", title
	}

	var untitled []string
	if title == "" && admonition.KindOf(name) == "" {
		untitled = []string{`title=""`}
	}
	r.write(n.before, ":::"+kind+" "+n.braces("", untitled...), n.number)

	in := blanked(n.before)
	if title != "" {
		r.write(in, "::: {."+admonition.TitleClass+"}", n.number)
		r.write(in, title, n.number)
		r.write(in, ":::", n.number)
	}

	if !isNumbered(name) {
		r.keep(n, "", title)
	}

	if text != "" {
		r.write(in, text, n.number)
	}

	if started {
		r.opened++
		r.block(n.body, len(n.before))

		return
	}
	r.shut(n)
}

// count is the title of what is numbered.
func (r *directiveReader) count(n *directive, name string) string {
	word := name[strings.IndexByte(name, ':')+1:]

	title := strings.ToUpper(word[:1]) + word[1:]
	if word == "solution" {
		if of := r.d.labelled[n.argument]; of.name != "" {
			return "Solution to [" + of.name + "](#" + of.key + ")"
		}

		return title
	}

	_, uncounted := n.options["nonumber"]
	if !uncounted && n.option("enumerated") != "false" {
		r.counts[word]++
		title += " " + strconv.Itoa(r.counts[word])
	}
	r.keep(n, "", title)

	if n.argument != "" {
		title += " (" + strings.TrimSuffix(strings.TrimPrefix(n.argument, "("), ")") + ")"
	}

	return title
}

// end ends an exercise or solution that began with a directive of its own.
func (r *directiveReader) end(n *directive) {
	if r.opened > 0 {
		r.opened--
		r.write(n.before, ":::", n.number)
	}
}

// part writes a division, with its argument in bold if that is a title.
func (r *directiveReader) part(n *directive, titled bool) {
	r.keep(n, "", n.argument)
	r.write(n.before, "::: "+n.braces("", ".part"), n.number)

	in := blanked(n.before)
	if titled && n.argument != "" {
		r.write(in, "**"+n.argument+"**", n.number)
		r.write(in, "", n.number)
	}

	if link := n.option("link"); strings.Contains(link, "://") {
		n.options["link"] = "<" + link + ">"
	} else {
		n.options["link"] = ""
	}

	if text := n.option("header"); text != "" {
		r.write(in, text, n.number)
		r.write(in, "", n.number)
	}

	for _, name := range []string{"link", "footer"} {
		if text := n.option(name); text != "" {
			n.body = slices.Concat(n.body, []sourceLine{{in, n.last()}, {in + text, n.last()}})
		}
	}
	r.shut(n)
}

// link writes the address of what cannot be printed.
func (r *directiveReader) link(n *directive) {
	if strings.Contains(n.argument, "://") {
		r.alone(n, "<"+n.argument+">")
		return
	}
	r.warn(n, "is left out")
}

// quote writes a quotation.
func (r *directiveReader) quote(n *directive) {
	r.write(blanked(n.before), "", n.number)
	in := blanked(n.before)

	lines := make([]sourceLine, 0, len(n.body)+1)
	if n.argument != "" {
		lines = append(lines, sourceLine{n.argument, n.number})
	}

	for _, l := range n.body {
		lines = append(lines, sourceLine{in + "> " + strings.TrimPrefix(l.text, in), l.number})
	}
	r.block(lines, len(in))
	r.write(in, "", n.last())
}

// index writes the entries of an index, as Sphinx has them.
func (r *directiveReader) index(n *directive) {
	var marks []string
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
			marks = append(
				marks,
				`\index{`+strings.TrimSpace(
					entry.Replace(list[0]),
				)+"|"+kind+"{"+strings.TrimSpace(
					entry.Replace(list[1]),
				)+"}}",
			)
		default:
			mark(list...)
		}
	}

	if len(marks) > 0 {
		r.alone(n, marks...)
	}
}

// glossary writes a list of terms: of definitions that are indented, or have a colon.
func (r *directiveReader) glossary(n *directive) {
	in := blanked(n.before)
	r.write(in, "", n.number)
	term := false // the line before is one

	for i, l := range n.body {
		text := strings.TrimPrefix(l.text, in)
		if term && (strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t")) {
			n.body[i].text = in + ": " + strings.TrimSpace(text)
		}
		term = text != "" && text[0] != ' ' && text[0] != '\t' && text[0] != ':'
	}
	r.block(n.body, len(in))
	r.write(in, "", n.last())
}

// raw writes HTML; what is meant for other outputs is left out.
func (r *directiveReader) raw(n *directive) {
	if !strings.Contains(n.argument, "html") {
		r.warn(n, "is left out where it is not of HTML")
		return
	}
	r.alone(n)
	r.verbatim(n.body)
	r.alone(n)
}

func (r *directiveReader) verbatim(lines []sourceLine) {
	for _, l := range lines {
		r.write(l.text, "", l.number)
	}
}

// labelled is what a label names: its key as this program has it, its kind if it is numbered
// as such, else its name.
type labelled struct {
	key  string
	kind label.Kind
	name string
}
