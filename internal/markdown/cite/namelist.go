package cite

import (
	"slices"
	"strings"
	"unicode"

	"presswork/internal/markdown/cite/bibfile"
)

// nameList is a list of names with the options of its name element. See "Name".
type nameList struct {
	r *renderer
	// element is the name element, nil for the default one.
	element *node
	names   []bibfile.Name
	// form is "long" or "short".
	form string
	// delimiter separates the names.
	delimiter string
	// and is the word or the symbol before the last name, "" for none.
	and string
	// sortOrder is the option name-as-sort-order: "first", "all" or "".
	sortOrder string
}

// joinedNames renders a list of names with delimiters, "and" and "et al.". n and etAl are the elements name and et-al,
// nil for the default ones.
func (r *renderer) joinedNames(n, etAl *node, names []bibfile.Name) rich {
	list := nameList{
		r:         r,
		element:   n,
		names:     names,
		form:      r.option(n, "form", "name-form"),
		delimiter: r.nameDelimiter(n),
		and:       r.and(n),
		sortOrder: r.option(n, "name-as-sort-order", "name-as-sort-order"),
	}
	shown, cut := r.shown(n, names)
	var out rich
	size := 0

	for i := range shown {
		r.step()

		switch {
		case i == 0:
		case !cut && i == shown-1 && list.and != "":
			out = list.appendAnd(out, i)
		default:
			out = r.locale.join(out, plain(list.delimiter))
		}
		one := list.name(i)
		size = r.weigh(size, one)
		out = r.locale.join(out, one)
	}

	if cut {
		return list.appendOthers(out, etAl, shown)
	}

	return out
}

// nameDelimiter returns the text between names. The method option cannot be used: it does not distinguish an empty
// delimiter from a missing one.
func (r *renderer) nameDelimiter(n *node) string {
	if n != nil && n.has("delimiter") {
		return n.attr["delimiter"]
	}

	for _, o := range slices.Backward(r.options) {
		if v, ok := o.attr["name-delimiter"]; ok {
			return v
		}
	}

	return ", "
}

// and returns the word or the symbol before the last name, "" for none.
func (r *renderer) and(n *node) string {
	word := r.locale.term("and", "", false)

	switch r.option(n, "and", "and") {
	case "text":
		return word
	case "symbol":
		if symbol := r.locale.term("and", "symbol", false); symbol != "" && symbol != word {
			return symbol
		}

		return "&"
	}

	return ""
}

// name renders name i.
func (l nameList) name(i int) rich {
	return l.r.name(l.element, l.names[i], l.form, l.isInverted(i), i)
}

// isInverted reports whether name i is written with the family name first.
func (l nameList) isInverted(i int) bool {
	return l.sortOrder == "all" || l.sortOrder == "first" && i == 0
}

// precedes reports whether the delimiter precedes the "and" or the "et al." after count names. option is
// delimiter-precedes-last or delimiter-precedes-et-al.
func (l nameList) precedes(option string, count int) bool {
	switch l.r.option(l.element, option, option) {
	case "always":
		return true
	case "never":
		return false
	case "after-inverted-name":
		return l.isInverted(count-1) && l.names[count-1].Literal == ""
	}

	return count > 1 // "contextual", the default
}

// appendAnd appends the "and" after count names.
func (l nameList) appendAnd(out rich, count int) rich {
	join := l.r.locale.join
	if l.precedes("delimiter-precedes-last", count) {
		out = join(out, plain(l.delimiter))
	}

	isWord := unicode.IsLetter([]rune(l.and)[0]) || l.and == "&"
	if isWord && !strings.HasSuffix(out.plain(), " ") {
		out = join(out, plain(" "))
	}

	return join(out, plain(l.and+" "))
}

// appendOthers appends "et al." after the shown names, or "… " and the last name with et-al-use-last.
func (l nameList) appendOthers(out rich, etAl *node, shown int) rich {
	join := l.r.locale.join

	if l.r.option(l.element, "et-al-use-last", "et-al-use-last") == "true" && shown+1 < len(l.names) {
		return join(join(out, plain(l.delimiter+"… ")), l.name(len(l.names)-1))
	}

	term := "et-al"
	if etAl != nil && etAl.attr["term"] != "" {
		term = etAl.attr["term"]
	}

	others := plain(l.r.locale.term(term, "", false))
	if len(others) == 0 {
		return out
	}

	if etAl != nil {
		others = formatted(etAl, others)
	}

	if l.precedes("delimiter-precedes-et-al", shown) {
		out = join(out, plain(l.delimiter))
	}

	if !strings.HasSuffix(out.plain(), " ") {
		out = join(out, plain(" "))
	}

	return join(out, others)
}
