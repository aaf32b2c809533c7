package myst

import (
	"bytes"
	"strings"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/label"
)

var (
	// labelAbove matches a label on the line before its element: (label)=.
	labelAbove = lazyregexp.New(`^\(([A-Za-z][\w.:/-]{0,100})\)=[ \t]*$`)
	// formulaLabel matches a label after a formula: $$ … $$ (label).
	formulaLabel = lazyregexp.New(`\$\$[ \t]*\(([A-Za-z][\w.:-]{0,100})\)[ \t]*$`)
	// ownLabel matches a numbered label in braces: {#fig:x}.
	ownLabel = lazyregexp.New(`\{:?[^{}\n]*#((?:fig|tbl|tab|eq|sec|lst)[:-][\w.:-]+)`)

	// headingLine matches the start of a heading, pictureLine an image alone on its line.
	headingLine = lazyregexp.New(`^#{1,6}[ \t]`)
	pictureLine = lazyregexp.New(`^[ \t]*!\[.*\)(?:\{[^{}]*\})?$`)
	// paragraphLine matches the first line of a paragraph.
	paragraphLine = lazyregexp.New(`^[\pL"“][^|]*$`)
)

// reach is the largest distance in lines between a label and its element. It bounds the search: otherwise a document of
// labels only would take quadratic time.
const reach = 20

// labelled is an element with a label from a directive or above a paragraph.
type labelled struct {
	// key is the key of references to it.
	key string
	// kind is its kind if it is numbered as such, else "".
	kind label.Kind
	// name is the text of a link to it if it has no kind.
	name string
}

// MayHoldLabels reports whether a source may hold labels of MyST. It is a quick test: most
// documents have none.
func MayHoldLabels(src []byte) bool { return bytes.Contains(src, []byte(")=\n")) }

// placeLabels moves the labels of MyST into braces after their elements. roles reports whether the document has roles.
// A label that could be text, because no element follows or a formula precedes it, counts only in documents with roles
// or directives.
func (r *roleReader) placeLabels(roles bool) {
	for i, line := range r.hidden {
		switch {
		case strings.HasSuffix(strings.TrimSpace(line), ")="):
			if m := labelAbove().FindStringSubmatch(line); m != nil &&
				(r.labelNext(i, m[1]) || roles || r.reader.labelled != nil) {
				r.lines[i] = ""
			}
		case roles && strings.HasSuffix(line, ")"):
			if m := formulaLabel().FindStringSubmatchIndex(line); m != nil {
				name := line[m[2]:m[3]]
				r.lines[i] = r.lines[i][:m[2]-1]
				r.appendAttribute(i, "#"+r.addKey(label.Equation, name))
			}
		}
	}
}

// lineBelow returns the index of the next line that is not blank, -1 for none within reach.
func (r *roleReader) lineBelow(i int) int {
	for range reach {
		if i++; i == len(r.lines) {
			return -1
		}

		if strings.TrimSpace(r.lines[i]) != "" {
			return i
		}
	}

	return -1
}

// labelNext gives the label name to the heading, picture or paragraph below line i, after other labels. It returns
// false if there is none. It labels paragraphs only in documents with directives.
func (r *roleReader) labelNext(i int, name string) bool {
	next := r.lineBelow(i)
	for n := 0; n < reach && next >= 0 && labelAbove().MatchString(r.lines[next]); n++ {
		next = r.lineBelow(next)
	}
	kind := label.Section

	switch {
	case next >= 0 && headingLine().MatchString(r.hidden[next]):
	case next >= 0 && pictureLine().MatchString(strings.TrimSpace(r.hidden[next])):
		kind = label.Figure
	case next >= 0 && r.reader.labelled != nil && paragraphLine().MatchString(r.hidden[next]):
		r.lines[next] = "[]{#" + plainKey(name) + "}" + r.lines[next]
		r.reader.labelled[name] = labelled{key: plainKey(name)}

		return true
	default:
		return false
	}

	if own := ownLabel().FindStringSubmatch(r.lines[next]); own != nil { // the element already has a label
		r.keys[name] = own[1]
	} else if !strings.HasSuffix(strings.TrimSpace(r.lines[next]), "}") {
		r.appendAttribute(next, "#"+r.addKey(kind, name))
	}

	return true
}

// appendAttribute adds an attribute to the braces at the end of line i.
func (r *roleReader) appendAttribute(i int, attribute string) {
	line := strings.TrimRight(r.lines[i], " \t")
	if own, ok := strings.CutSuffix(line, "}"); ok && pictureLine().MatchString(line) {
		r.lines[i] = own + " " + attribute + "}"
	} else if strings.HasSuffix(line, ")") && pictureLine().MatchString(line) {
		r.lines[i] = line + "{" + attribute + "}"
	} else {
		r.lines[i] = line + " {" + attribute + "}"
	}
}

// addKey records a label of a kind and returns its key.
func (r *roleReader) addKey(kind label.Kind, name string) string {
	r.keys[name] = roleKey(kind, name)
	return r.keys[name]
}

// findKey returns the key of a label of this document or of the documents printed with it, "" for
// an unknown label.
func (r *roleReader) findKey(name string) string {
	if key := r.keys[name]; key != "" {
		return key
	}

	for _, kind := range []label.Kind{label.Section, label.Figure, label.Table, label.Equation, label.Listing} {
		if key := roleKey(kind, name); r.reader.elsewhere(key) != "" {
			return key
		}
	}

	return ""
}

// roleKey returns the key of a label of a kind: fig:x for the figure x.
func roleKey(kind label.Kind, name string) string {
	if label.KindOf(name) != kind {
		name = string(kind) + ":" + name
	}

	return plainKey(name)
}

// plainKey returns a label in the form of an id: spaces and slashes become hyphens.
func plainKey(label string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(label), "-"), "/", "-")
}
