package cite

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/markdown/cite/bibfile"
)

// name renders one name. form is "long" or "short". If inverted is set, the family name comes first. index is the
// name's place in the list. See "Name-part Order" and "Name Particles".
func (r *renderer) name(n *node, name bibfile.Name, form string, inverted bool, index int) rich {
	if name.Literal != "" {
		return r.namePart(n, "family", r.locale.typeset(r.parseText(name.Literal)))
	}
	given := name.Given

	more := 0 // the level of the given name: see work.given
	if r.area == "citation" && !r.sorting {
		more = r.work.given[index]
	}

	if more < 2 {
		given = r.initials(n, given)
	}

	if form == "short" && more > 0 { // disambiguation shows the given name
		form = "long"
	}
	demote := r.style.root.attr["demote-non-dropping-particle"]
	family, particle := r.partText(n, "family", name.Family), r.partText(n, "family", name.NonDropping)

	switch {
	case form == "short" && r.sorting && (demote == "sort-only" || demote == "display-and-sort"):
		return family
	case form == "short":
		return r.spaced(particle, family)
	}
	first, dropping := r.partText(n, "given", given), r.partText(n, "given", name.Dropping)

	switch {
	case isIdeographic(name.Family) && isIdeographic(given+"一"): // given may be empty
		return r.locale.join(family, first)
	case !inverted:
		out := r.spaced(first, dropping, particle, family)
		if name.Suffix != "" && name.CommaSuffix {
			out = r.locale.join(out, plain(","))
		}

		return r.spaced(out, plain(name.Suffix))
	}
	suffix := plain(name.Suffix)

	// A demoted particle follows the given name: "Beethoven, Ludwig van".
	if demote == "display-and-sort" || demote == "" || r.sorting && demote == "sort-only" {
		return r.separated(n, family, r.spaced(first, dropping, particle), suffix)
	}

	return r.separated(n, r.spaced(particle, family), r.spaced(first, dropping), suffix)
}

// partText returns the text of a part of a name, "given" or "family", with its formatting.
func (r *renderer) partText(n *node, part, text string) rich {
	return r.namePart(n, part, r.locale.typeset(r.parseText(text)))
}

// spaced joins the parts of a name with spaces. There is no space after an apostrophe: d’Alembert.
func (r *renderer) spaced(parts ...rich) (out rich) {
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}

		if text := out.plain(); len(out) > 0 && !strings.HasSuffix(text, "’") && !strings.HasSuffix(text, "'") {
			out = r.locale.join(out, plain(" "))
		}
		out = r.locale.join(out, part)
	}

	return out
}

// separated joins the parts of an inverted name with the sort-separator.
func (r *renderer) separated(n *node, out rich, parts ...rich) rich {
	separator := r.option(n, "sort-separator", "sort-separator")
	if separator == "" && (n == nil || !n.has("sort-separator")) {
		separator = ", "
	}

	for _, part := range parts {
		if len(part) > 0 {
			out = r.locale.join(r.locale.join(out, plain(separator)), part)
		}
	}

	return out
}

// namePart formats the part "given" or "family" of a name by its name-part element, else by the font of the name
// element. See "Name-part Formatting".
func (r *renderer) namePart(n *node, part string, out rich) rich {
	if n == nil || r.sorting {
		return out
	}
	r.charge(len(n.children))

	for _, k := range n.children {
		if k.name == "name-part" && k.attr["name"] == part {
			return r.finished(k, out)
		}
	}

	return formatted(&node{attr: map[string]string{
		"font-variant": n.attr["font-variant"],
		"font-style":   n.attr["font-style"],
		"font-weight":  n.attr["font-weight"],
	}}, out)
}

// isIdeographic reports whether a text is in a script whose names have the family name first and no spaces.
func isIdeographic(text string) bool {
	for _, r := range text {
		if !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) && !unicode.IsSpace(r) {
			return false
		}
	}

	return text != ""
}

// initials shortens given names to initials such as "J. Q." if the style has the option initialize-with. With
// initialize="false", it only gives that ending to initials that are in the name. See "Hyphenation of Initialized
// Names".
func (r *renderer) initials(n *node, given string) string {
	with, ok := "", false
	if n != nil {
		with, ok = n.attr["initialize-with"]
	}

	for _, o := range slices.Backward(r.options) {
		if ok {
			break
		}
		with, ok = o.attr["initialize-with"]
	}

	if !ok || given == "" || isIdeographic(given) {
		return given
	}
	whole := r.option(n, "initialize", "initialize") == "false" // names stay whole
	hyphens := r.style.root.attr["initialize-with-hyphen"] != "false"
	r.charge(len(given))
	var b []byte
	add := func(text string) { b = append(b, text...) }

	for word := range strings.FieldsSeq(strings.ReplaceAll(given, ".", ". ")) {
		bare := strings.TrimSuffix(word, ".")

		first, _ := utf8.DecodeRuneInString(bare)
		switch {
		case bare == "":
		case unicode.IsLower(first): // a particle
			add(spaceAfter(b) + word + " ")
		case whole && utf8.RuneCountInString(bare) > 1:
			add(spaceAfter(b) + word + " ")
		case word != bare && utf8.RuneCountInString(bare) > 1 && !whole: // an abbreviation
			add(spaceAfter(b) + bare + with)
		default:
			for i, part := range strings.Split(bare, "-") {
				letter, _ := utf8.DecodeRuneInString(part)
				if part == "" {
					continue
				}

				if i > 0 && hyphens {
					b = append(bytes.TrimRight(b, " "), '-')
				}
				add(string(unicode.ToUpper(letter)) + with)
			}
		}
	}
	r.charge(len(b) / stepUnits)

	return strings.TrimSpace(string(b))
}

// spaceAfter returns the space that a text needs before a word, "" if it ends with one.
func spaceAfter[T string | []byte](text T) string {
	if len(text) == 0 || text[len(text)-1] == ' ' {
		return ""
	}

	return " "
}

// labelOf returns the citation-label of a work, such as Knut84. Without a label in the item, it is made of letters of
// the family names and the last two digits of the year.
func labelOf(item *bibfile.Item) string {
	if l := item.Vars["citation-label"]; l != "" {
		return l
	}
	var b strings.Builder
	names := item.Names["author"]
	// The label has four letters: 4 of one name, 2+2 of two, 2+1+1 of three, 1 of each of four.
	lengths := [][]int{{}, {4}, {2, 2}, {2, 1, 1}, {1, 1, 1, 1}}[min(len(names), 4)]
	for i, length := range lengths {
		n := names[i]
		name := []rune(n.Family + n.Literal)
		b.WriteString(string(name[:min(len(name), length)]))
	}

	if year := item.Dates["issued"].From[0]; year != 0 {
		b.WriteString(pad(((year % 100) + 100) % 100))
	}

	return b.String()
}
