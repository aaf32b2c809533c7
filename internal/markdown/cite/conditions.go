package cite

import (
	"strings"

	"presswork/internal/markdown/cite/bibfile"
)

// choose renders the first branch whose conditions are met. See "Choose".
func (r *renderer) choose(n *node, delimiter string) (rich, state) {
	const branchUnits = 4 // for looking up and iterating its attributes

	for _, branch := range n.children {
		r.charge(branchUnits)

		if branch.name == "else" || r.holds(branch) {
			return r.elements(branch.children, delimiter)
		}
	}

	return nil, noVariable
}

// holds reports whether the conditions of a branch are met: all of them, any or none, as the attribute match says. Each
// value of an attribute is one condition. Without match and without a known condition, it returns false.
func (r *renderer) holds(n *node) bool {
	match := n.attr["match"]
	met, tested := 0, 0
	test := func(values string, ok func(string) bool) {
		for v := range strings.FieldsSeq(values) {
			tested++
			r.charge(1)

			if ok(v) {
				met++
			}
		}
	}
	item := r.work.item

	for name, values := range n.attr {
		switch name {
		case "type":
			test(values, func(v string) bool { return item.Type == v })
		case "variable":
			test(values, r.hasValue)
		case "is-numeric":
			test(values, func(v string) bool { return r.isNumeric(r.variable(v, "").plain()) })
		case "is-uncertain-date":
			test(values, func(v string) bool { return item.Dates[v].Circa })
		case "locator":
			test(values, func(v string) bool {
				return r.cite != nil && r.cite.Locator != "" && locatorLabel(r.cite) == v
			})
		case "position":
			test(values, func(v string) bool { return r.isAt(v) })
		case "disambiguate":
			test(values, func(v string) bool { return r.work.ambiguous == (v == "true") })
		}
	}

	switch match {
	case "any":
		return met > 0
	case "none":
		return met == 0
	}

	return tested > 0 && met == tested
}

// hasValue reports whether a variable has a value for the work or the citation.
func (r *renderer) hasValue(name string) bool {
	item := r.work.item

	switch {
	case bibfile.IsDate(name):
		return item.Dates[name].From[0] != 0 || item.Dates[name].Literal != ""
	case name == "locator":
		return r.cite != nil && r.cite.Locator != ""
	case name == "citation-number":
		return true
	case name == "year-suffix":
		return r.work.suffix > 0
	}

	return item.Vars[name] != "" || len(item.Names[name]) > 0
}

// isAt reports whether the citation has a position. A citation may have several: "ibid" and "ibid-with-locator" are
// also "subsequent", and "ibid-with-locator" is also "ibid".
func (r *renderer) isAt(position string) bool {
	if r.area != "citation" {
		return false
	}

	at := r.position(r.cite)
	switch position {
	case "subsequent":
		return at != "first"
	case "ibid":
		return strings.HasPrefix(at, "ibid")
	}

	return at == position
}
