package cite

import (
	"slices"
	"strings"
)

// state reports whether the variables that an element rendered have values. A group is left out if its state is empty.
// See "Group".
type state int

const (
	// noVariable is the state of an element that rendered no variable.
	noVariable state = iota
	// empty is the state of an element none of whose variables has a value.
	empty
	// filled is the state of an element with a variable that has a value.
	filled
)

// and returns the state of a group of two elements.
func (s state) and(t state) state { return max(s, t) }

// renderer evaluates a style for one work. Its methods text, number, date, names, label, choose and macro
// render the elements of these names.
type renderer struct {
	*processor
	work *work
	cite *Cite  // nil in the bibliography
	area string // "citation" or "bibliography"

	// sorting reports whether the output is a sort key.
	sorting bool
	// keyOptions is the element of the sort key, which has name options of its own.
	keyOptions *node
	// depth is the nesting of macros.
	depth int
	// suppressed has the variables that a substitute has rendered. They are not rendered again.
	suppressed map[string]bool

	// named reports whether the first names element has been rendered, and firstNames is its output.
	named      bool
	firstNames rich
	// withoutNames leaves out the first names element. replaceNames replaces it unless it is nil.
	withoutNames bool
	replaceNames *string

	// options has the elements whose name options apply, innermost last. See "Inheritable Name
	// Options".
	options []*node
	// dated reports whether a year has been rendered with its suffix.
	dated bool
}

// renderer returns a renderer for a work in an area, "citation" or "bibliography".
func (p *processor) renderer(w *work, cite *Cite, area string) *renderer {
	p.step()

	// Name options on the style element apply everywhere, those on citation or bibliography in the area.
	r := &renderer{processor: p, work: w, cite: cite, area: area, options: []*node{p.style.root}}
	if area == "citation" {
		r.options = append(r.options, p.style.citation)
	} else if p.style.bibliography != nil {
		r.options = append(r.options, p.style.bibliography)
	}

	return r
}

// layout renders a layout element. In the bibliography it has affixes of its own. With second-field-align,
// the first element is displayed in the left margin.
func (r *renderer) layout(n *node) (rich, state) {
	children := n.children

	var label rich
	if r.cite == nil && r.style.bibliography.attr["second-field-align"] != "" && len(children) > 1 {
		label, _ = r.element(children[0], "")
		for i := range label {
			label[i].display = "left-margin"
		}
		children = children[1:]
	}

	out, s := r.elements(children, n.attr["delimiter"])
	if len(label) > 0 {
		out = append(label, out...)
	}

	if r.cite == nil && len(out) > 0 {
		out = r.locale.join(r.locale.join(plain(n.attr["prefix"]), formatted(n, out)), plain(n.attr["suffix"]))
	}

	return out, s
}

// elements renders elements with a delimiter between those with output.
func (r *renderer) elements(children []*node, delimiter string) (out rich, s state) {
	size := 0

	for _, k := range children {
		piece, t := r.element(k, delimiter)
		s = s.and(t)

		size = r.weigh(size, piece)
		if len(piece) == 0 {
			continue
		}

		if len(out) > 0 && delimiter != "" {
			out = r.locale.join(out, plain(delimiter))
		}
		out = r.locale.join(out, piece)
	}

	return out, s
}

// element renders one element with its formatting and affixes. delimiter is that of the enclosing element: a choose
// element uses it between its children.
func (r *renderer) element(n *node, delimiter string) (rich, state) {
	r.step()
	var out rich
	var s state

	switch n.name {
	case "text":
		out, s = r.text(n)
	case "number":
		out, s = r.number(n)
	case "date":
		return r.date(n)
	case "names":
		return r.names(n)
	case "label":
		out = r.label(n, n.attr["variable"])
	case "group":
		out, s = r.elements(n.children, n.attr["delimiter"])
		if s == empty {
			return nil, empty
		}
	case "choose":
		return r.choose(n, delimiter)
	default:
		return nil, noVariable
	}

	return r.finished(n, out), s
}

// finished applies the attributes of an element to its output in this order: strip-periods,
// text-case, quotes, formatting, affixes, display.
func (r *renderer) finished(n *node, out rich) rich {
	if len(out) == 0 {
		return nil
	}

	out = slices.Clone(out)
	if n.attr["strip-periods"] == "true" {
		out = out.mapped(func(x run) string { return strings.ReplaceAll(x.text, ".", "") })
	}

	out = r.cased(out, n.attr["text-case"])
	if n.attr["quotes"] == "true" && len(out) > 0 {
		out = r.quote(out)
	}
	out = formatted(n, out)

	out = r.locale.join(r.locale.join(plain(n.attr["prefix"]), out), plain(n.attr["suffix"]))
	if display := n.attr["display"]; display != "" {
		for i := range out {
			out[i].display = display
		}
	}

	return out
}

// quote puts text in quotation marks. Quotation marks within the text become inner ones. See "Quotes". It may change
// out.
func (r *renderer) quote(out rich) rich {
	l := r.locale
	open, shut := l.term("open-quote", "", false), l.closeQuote

	innerOpen, innerShut := l.term("open-inner-quote", "", false), l.term("close-inner-quote", "", false)

	inner := strings.NewReplacer(open, innerOpen, shut, innerShut, "“", innerOpen, "”", innerShut)
	// For an empty outer mark, the replacer would insert the inner mark between all characters.
	if open != "" && shut != "" {
		out = out.mapped(func(x run) string { return inner.Replace(x.text) })
	}

	return append(append(plain(open), out...), plain(shut)...)
}

// formatted returns out with the look that the attributes of an element set. It changes out. See "Formatting".
func formatted(n *node, out rich) rich {
	var l look

	switch n.attr["font-style"] {
	case "italic", "oblique":
		l |= italic
	}

	if n.attr["font-weight"] == "bold" {
		l |= bold
	}

	if n.attr["font-variant"] == "small-caps" {
		l |= smallCaps
	}

	if n.attr["text-decoration"] == "underline" {
		l |= underline
	}

	switch n.attr["vertical-align"] {
	case "sup":
		l |= raised
	case "sub":
		l |= lowered
	}

	if l == 0 {
		return out
	}

	return out.with(l)
}
