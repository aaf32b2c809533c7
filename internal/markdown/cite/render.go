package cite

import (
	"cmp"
	"slices"
	"strings"
)

// state says what the variables in an element were: none was asked for, all were
// empty, or one had a value.
type state int

const (
	noVariable state = iota
	empty
	filled
)

func (s state) and(t state) state { return max(s, t) }

// renderer evaluates a style for one work.
type renderer struct {
	*processor
	work *work
	cite *Cite  // nil in the bibliography
	area string // "citation" or "bibliography"

	sorting    bool
	keyOptions *node // of the sort key
	depth      int   // of macros
	// suppressed are the variables that a substitute has written.
	suppressed map[string]bool
	// withoutNames leaves the first names out; firstNames are what they were.
	withoutNames bool
	named        bool
	firstNames   rich
	replaceNames *string
	// options are the elements whose name options are in force, innermost last.
	options []*node
	// dated is set when a year has its suffix.
	dated bool
}

func (p *processor) renderer(w *work, cite *Cite, area string) *renderer {
	p.step()

	r := &renderer{processor: p, work: w, cite: cite, area: area, options: []*node{p.style.root}}
	if area == "citation" {
		r.options = append(r.options, p.style.citation)
	} else if p.style.bibliography != nil {
		r.options = append(r.options, p.style.bibliography)
	}

	return r
}

// layout writes a layout, with its affixes in the bibliography.
func (r *renderer) layout(n *node) (rich, state) {
	kids := n.kids

	var label rich
	if r.cite == nil && r.style.bibliography.attr["second-field-align"] != "" && len(kids) > 1 {
		label, _ = r.element(kids[0], "")
		for i := range label {
			label[i].display = "left-margin"
		}
		kids = kids[1:]
	}

	out, s := r.all(kids, n.attr["delimiter"])
	if len(label) > 0 {
		out = append(label, out...)
	}

	if r.cite == nil && len(out) > 0 {
		out = r.locale.join(r.locale.join(plain(n.attr["prefix"]), formatted(n, out)), plain(n.attr["suffix"]))
	}

	return out, s
}

// all writes elements, with a delimiter between those that write something.
func (r *renderer) all(kids []*node, delimiter string) (out rich, s state) {
	size := 0

	for _, k := range kids {
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

// element writes one element with its formatting. The delimiter is that of the
// elements around it, which also goes between those of a choice.
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
		out, s = r.all(n.kids, n.attr["delimiter"])
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

// finished applies an element's formatting and affixes.
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

// quote puts text in quotation marks; those within become the inner ones.
func (r *renderer) quote(out rich) rich {
	l := r.locale
	open, shut := l.term("open-quote", "", false), l.closeQuote

	inner := strings.NewReplacer(
		open,
		l.term("open-inner-quote", "", false),
		shut,
		l.term("close-inner-quote", "", false),
		"“",
		l.term("open-inner-quote", "", false),
		"”",
		l.term("close-inner-quote", "", false),
	)
	if open != "" && shut != "" {
		out = out.mapped(func(x run) string { return inner.Replace(x.text) })
	}

	return append(append(plain(open), out...), plain(shut)...)
}

// formatted sets the look that an element asks for.
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

func (r *renderer) text(n *node) (rich, state) {
	switch {
	case n.attr["macro"] != "":
		return r.macro(n.attr["macro"])
	case n.attr["term"] != "":
		out := plain(r.locale.term(n.attr["term"], n.attr["form"], n.attr["plural"] == "true"))
		if n.attr["term"] == "no date" { // it stands for a variable
			return out, filled
		}

		return out.with(word), noVariable
	case n.attr["variable"] != "":
		out := r.variable(n.attr["variable"], n.attr["form"])
		if len(out) == 0 {
			return nil, empty
		}

		return out, filled
	}

	return plain(n.attr["value"]), noVariable
}

func (r *renderer) macro(name string) (rich, state) {
	macro := r.style.macros[name]
	if macro == nil || r.depth > maxMacros {
		return nil, noVariable
	}
	r.depth++
	out, s := r.all(macro.kids, "")
	r.depth--

	if s == empty { // a macro without a value is left out as a group is
		return nil, empty
	}

	return out, s
}

// variable is the text of a variable, in its short form if there is one.
func (r *renderer) variable(name, form string) rich {
	if r.suppressed[name] {
		return nil
	}

	switch name {
	case "citation-number":
		return plain(itoa(r.work.number))
	case "citation-label":
		return parseText(r.work.item.label() + letters(r.work.suffix))
	case "year-suffix":
		r.dated = true
		return plain(letters(r.work.suffix))
	case "locator":
		if r.cite != nil {
			return plain(r.pages(r.cite.Locator))
		}

		return nil
	case "first-reference-note-number":
		return nil
	}
	vars := r.work.item.Vars

	text := vars[name]
	if name == "container-title-short" {
		text = cmp.Or(text, vars["journalAbbreviation"])
	}

	if form == "short" {
		for _, short := range []string{name + "-short", map[string]string{"title": "shortTitle", "container-title": "journalAbbreviation"}[name]} {
			if vars[short] != "" {
				text = vars[short]
				break
			}
		}
	}

	if name == "page" {
		text = r.pages(text)
	}

	if name == "page-first" && text == "" {
		text = firstNumber(vars["page"])
	}

	if name == "DOI" {
		for _, prefix := range []string{"https://doi.org/", "http://dx.doi.org/", "http://doi.org/", "https://dx.doi.org/"} {
			text = strings.TrimPrefix(text, prefix)
		}
	}
	r.charge(len(text) / stepUnits)

	return r.locale.typeset(r.parseText(text))
}

func (r *renderer) choose(n *node, delimiter string) (rich, state) {
	for _, branch := range n.kids {
		r.charge(1)

		if branch.name == "else" || r.holds(branch) {
			return r.all(branch.kids, delimiter)
		}
	}

	return nil, noVariable
}

// holds reports whether the conditions of a branch are met.
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
			test(values, r.has)
		case "is-numeric":
			test(values, func(v string) bool { return r.isNumeric(r.variable(v, "").plain()) })
		case "is-uncertain-date":
			test(values, func(v string) bool { return item.Dates[v].Circa })
		case "locator":
			test(
				values,
				func(v string) bool { return r.cite != nil && r.cite.Locator != "" && locatorLabel(r.cite) == v },
			)
		case "position":
			test(values, func(v string) bool { return r.at(v) })
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

// has reports whether a variable has a value.
func (r *renderer) has(name string) bool {
	item := r.work.item

	switch {
	case isDate(name):
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

// at reports whether the citation stands in a position: ibid is also subsequent.
func (r *renderer) at(position string) bool {
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

// label is the word for a variable: "pp." for pages.
func (r *renderer) label(n *node, variable string) rich {
	var value, name string

	switch variable {
	case "locator":
		if r.cite == nil || r.cite.Locator == "" {
			return nil
		}
		value, name = r.cite.Locator, locatorLabel(r.cite)
	default:
		if value, name = r.variable(variable, "").plain(), variable; value == "" {
			return nil
		}
	}
	r.charge(len(value))
	plural := isPlural(variable, value)

	switch n.attr["plural"] {
	case "always":
		plural = true
	case "never":
		plural = false
	}

	return plain(r.locale.term(name, n.attr["form"], plural))
}

func locatorLabel(c *Cite) string {
	if c.Label == "" {
		return "page"
	}

	return c.Label
}
