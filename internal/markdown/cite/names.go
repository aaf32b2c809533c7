package cite

import (
	"slices"
	"strconv"
	"strings"

	"presswork/internal/markdown/cite/bibfile"
)

// option returns the value of a name option, "" if it is not set. It is the attribute name of the element own, else the
// attribute inherited of the innermost element around it. A sort key overrides the et-al options. See "Inheritable Name
// Options" and "Sorting".
func (r *renderer) option(own *node, name, inherited string) string {
	if r.keyOptions != nil {
		switch name {
		case "et-al-min", "et-al-use-first", "et-al-use-last":
			if v := r.keyOptions.attr["names-"+strings.TrimPrefix(name, "et-al-")]; v != "" {
				return v
			}
		}
	}

	if own != nil {
		if v, ok := own.attr[name]; ok {
			return v
		}
	}

	for _, n := range slices.Backward(r.options) {
		if n == nil {
			continue
		}

		if v, ok := n.attr[inherited]; ok {
			return v
		}
	}

	return ""
}

// names renders a names element: the names of its variables, or the first substitute with output. See
// "Names" and "Substitute".
func (r *renderer) names(n *node) (rich, state) {
	out, s := r.namesOf(n, n)
	if len(out) == 0 {
		if sub := n.child("substitute"); sub != nil {
			for _, k := range sub.children {
				r.step()
				var piece rich

				var t state
				if k.name == "names" {
					piece, t = r.namesOf(k, r.withParts(k, n))
				} else {
					piece, t = r.element(k, "")
				}

				if len(piece) == 0 {
					continue
				}
				r.suppress(k)
				out, s = piece, t
				break
			}
		}
	}

	if len(out) == 0 {
		return nil, empty
	}

	if !r.sorting && !r.named {
		r.named, r.firstNames = true, slices.Clone(out)

		switch {
		case r.replaceNames != nil:
			return plain(*r.replaceNames), filled
		case r.withoutNames:
			return nil, empty
		}
	}

	return r.finished(n, out), max(s, filled)
}

// withParts returns k, a names element of a substitute, with the name, et-al and label elements that it lacks from the
// names element around it.
func (r *renderer) withParts(k, around *node) *node {
	r.charge(len(k.children) + len(around.children))

	merged := &node{name: "names", attr: k.attr, children: slices.Clone(k.children)}
	for _, part := range []string{"name", "et-al", "label"} {
		if k.child(part) == nil && around.child(part) != nil {
			at := len(merged.children)
			if part == "label" && around.index("label") < around.index("name") {
				at = 0
			}
			merged.children = slices.Insert(merged.children, at, around.child(part))
		}
	}

	return merged
}

// suppress marks the variables of an element, and of the elements and macros in it, as rendered. They are not rendered
// again.
func (r *renderer) suppress(n *node) {
	if r.suppressed == nil {
		r.suppressed = map[string]bool{}
	}

	for name := range strings.FieldsSeq(n.attr["variable"]) {
		r.suppressed[name] = true
	}

	if macro := r.style.macros[n.attr["macro"]]; macro != nil && r.depth < maxMacros {
		r.depth++
		r.suppress(macro)
		r.depth--
	}

	for _, k := range n.children {
		r.step()
		r.suppress(k)
	}
}

// namesOf renders the names of the variables of the element n with the name, et-al and label elements of
// parts. Equal editors and translators share the term "editortranslator".
func (r *renderer) namesOf(n, parts *node) (out rich, s state) {
	delimiter := r.option(n, "delimiter", "names-delimiter")
	variables := strings.Fields(n.attr["variable"])
	s = empty
	item := r.work.item
	counted := r.option(parts.child("name"), "form", "name-form") == "count"

	total, both := 0, false
	if slices.Contains(variables, "editor") && slices.Contains(variables, "translator") &&
		r.locale.term("editortranslator", "", false) != "" {
		both = len(item.Names["editor"]) > 0 && slices.Equal(item.Names["editor"], item.Names["translator"])
	}
	size := 0

	name := parts.child("name")
	for _, variable := range variables {
		r.charge(1 + len(parts.children))

		list := item.Names[variable]
		if len(list) == 0 || r.suppressed[variable] || both && variable == "translator" {
			continue
		}

		role := variable
		if both && variable == "editor" {
			role = "editortranslator"
		}
		s = filled

		if counted {
			shown, _ := r.shown(name, list)
			total += shown
			continue
		}
		piece := r.roleNames(parts, role, list)

		size = r.weigh(size, piece)
		if len(out) > 0 {
			out = r.locale.join(out, plain(delimiter))
		}
		out = r.locale.join(out, piece)
	}

	if total > 0 {
		out = plain(itoa(total))
	}

	return out, s
}

// roleNames renders the names of one role by the name and label elements of parts, in their order. Without a
// name element it uses the default one.
func (r *renderer) roleNames(parts *node, role string, list []bibfile.Name) (out rich) {
	name, etAl := parts.child("name"), parts.child("et-al")
	rendered := false

	for _, k := range parts.children {
		r.charge(1)

		switch {
		case k.name == "name":
			names := r.locale.join(plain(k.attr["prefix"]), r.joinedNames(k, etAl, list))
			out, rendered = r.locale.join(out, r.locale.join(names, plain(k.attr["suffix"]))), true
		case k.name == "label" && !r.sorting:
			if !rendered && name == nil {
				out, rendered = r.joinedNames(nil, etAl, list), true
			}
			label := plain(r.locale.term(role, k.attr["form"], isPluralLabel(k, len(list) > 1)))
			out = r.locale.join(out, r.finished(k, label))
		}
	}

	if !rendered {
		out = r.locale.join(out, r.joinedNames(nil, etAl, list))
	}

	return out
}

// shown returns the number of names of a list that are rendered, and whether "et al." replaces the others.
// See "Et-al" and the et-al-subsequent options.
func (r *renderer) shown(n *node, list []bibfile.Name) (shown int, cut bool) {
	number := func(name string) int {
		v, err := strconv.Atoi(r.option(n, name, name))
		if err != nil {
			return 0
		}

		return v
	}
	least := number("et-al-min") // the smallest number of names that is cut

	shown = number("et-al-use-first")
	if r.area == "citation" && r.cite != nil && r.position(r.cite) != "first" {
		if v := number("et-al-subsequent-min"); v > 0 {
			least = v
		}

		if v := number("et-al-subsequent-use-first"); v > 0 {
			shown = v
		}
	}

	cut = least > 0 && len(list) >= least && shown < len(list)
	if cut && !r.sorting && r.area == "citation" {
		if shown += r.work.names; shown >= len(list) {
			cut = false
		}
	}

	if !cut {
		shown = len(list)
	}

	return shown, cut
}
