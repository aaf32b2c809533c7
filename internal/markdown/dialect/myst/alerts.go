package myst

import (
	"strconv"
	"strings"

	"presswork/internal/markdown/admonition"
)

// isNumbered reports whether a directive is titled with a number: theorems and the like, and exercises. Solutions have
// the number of their exercise.
func isNumbered(name string) bool {
	domain, word, _ := strings.Cut(name, ":")
	return word != "" && (domain == "prf" || domain == "proof") || name == "exercise" || name == "solution"
}

// versionTitle returns the beginning of the title of a directive about a version, "" for any other
// directive.
func versionTitle(name string) string {
	switch name {
	case "versionadded":
		return "Added in version "
	case "versionchanged":
		return "Changed in version "
	case "deprecated":
		return "Deprecated since version "
	case "versionremoved":
		return "Removed in version "
	}

	return ""
}

// writeAlert writes an admonition: its fence, its title and its text. A directive whose name ends with "-start" stays
// open until the directive with "-end". A proof becomes a titled division.
func (r *directiveReader) writeAlert(n *directive) {
	if strings.HasSuffix(n.name, ":proof") {
		n.argument = strings.TrimSpace("Proof " + n.argument)
		r.writeTitledPart(n)

		return
	}
	name, started := strings.CutSuffix(n.name, "-start")
	kind, title, text := r.alertHead(n, name)

	var untitled []string
	if title == "" && admonition.KindOf(name) == "" {
		untitled = []string{`title=""`}
	}
	r.write(n.before, ":::"+kind+" "+n.braces("", untitled...), n.number)

	indent := blanked(n.before)
	if title != "" {
		r.write(indent, "::: {."+admonition.TitleClass+"}", n.number)
		r.write(indent, title, n.number)
		r.write(indent, ":::", n.number)
	}

	if !isNumbered(name) {
		r.keepLabel(n, "", title)
	}

	if text != "" {
		r.write(indent, text, n.number)
	}

	if started {
		r.opened++
		r.writeBlock(n.body, len(n.before))

		return
	}
	r.writeToEnd(n)
}

// alertHead returns the kind and the title of an admonition. text is the start of its text if the argument has it.
func (r *directiveReader) alertHead(n *directive, name string) (kind, title, text string) {
	const longest = 70 // bytes of a title; a longer argument is text

	kind, title = name, n.argument
	switch {
	case isNumbered(name):
		kind = "note"
		title = r.numberedTitle(n, name)
	case versionTitle(name) != "":
		version, rest, _ := strings.Cut(n.argument, " ")
		kind, title, text = "note", versionTitle(name)+version, rest
	case admonition.KindOf(name) == "":
		kind = "note"

		for class := range strings.FieldsSeq(n.option("class")) {
			if admonition.KindOf(class) != "" {
				kind = class
			}
		}
	case n.isEmpty() || len(title) > longest:
		title, text = "", title
	}

	if name == "margin" || name == "aside" {
		title, text = "", title
	}

	return kind, title, text
}

// numberedTitle returns the title of a directive with a number, such as "Theorem 2 (Name)". The title of a solution is
// a link to its exercise instead.
func (r *directiveReader) numberedTitle(n *directive, name string) string {
	word := name[strings.IndexByte(name, ':')+1:]

	title := strings.ToUpper(word[:1]) + word[1:]
	if word == "solution" {
		if of := r.reader.labelled[n.argument]; of.name != "" {
			return "Solution to [" + of.name + "](#" + of.key + ")"
		}

		return title
	}

	_, uncounted := n.options["nonumber"]
	if !uncounted && n.option("enumerated") != "false" {
		r.counts[word]++
		title += " " + strconv.Itoa(r.counts[word])
	}
	r.keepLabel(n, "", title)

	if n.argument != "" {
		title += " (" + strings.TrimSuffix(strings.TrimPrefix(n.argument, "("), ")") + ")"
	}

	return title
}

// endExercise ends an exercise or a solution that a directive with "-start" began.
func (r *directiveReader) endExercise(n *directive) {
	if r.opened > 0 {
		r.opened--
		r.write(n.before, ":::", n.number)
	}
}
