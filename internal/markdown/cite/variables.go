package cite

import (
	"cmp"
	"strings"

	"presswork/internal/markdown/numeral"
)

// text renders a text element: a macro, a term, a variable or a fixed value.
func (r *renderer) text(n *node) (rich, state) {
	switch {
	case n.attr["macro"] != "":
		return r.macro(n.attr["macro"])
	case n.attr["term"] != "":
		out := plain(r.locale.term(n.attr["term"], n.attr["form"], n.attr["plural"] == "true"))
		if n.attr["term"] == "no date" { // it replaces a date, so a group keeps it
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

// macro renders the macro of a name. It renders nothing for an unknown name, or when macros nest deeper than maxMacros,
// as one that calls itself does.
func (r *renderer) macro(name string) (rich, state) {
	macro := r.style.macros[name]
	if macro == nil || r.depth > maxMacros {
		return nil, noVariable
	}
	r.depth++
	out, s := r.elements(macro.children, "")
	r.depth--

	if s == empty { // a macro is left out like a group
		return nil, empty
	}

	return out, s
}

// variable returns the text of a standard or number variable, nil for one without a value. form "short"
// prefers the short form of a title. See "Text" and appendix IV.
func (r *renderer) variable(name, form string) rich {
	if r.suppressed[name] {
		return nil
	}

	switch name {
	case "citation-number":
		return plain(itoa(r.work.number))
	case "citation-label":
		return parseText(labelOf(r.work.item) + numeral.Letters(r.work.suffix))
	case "year-suffix":
		r.dated = true
		return plain(numeral.Letters(r.work.suffix))
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
		old := map[string]string{"title": "shortTitle", "container-title": "journalAbbreviation"}[name] // of CSL-JSON
		for _, short := range []string{name + "-short", old} {
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

// label renders a label element: the term for a variable, such as "pp.". It is plural if the value has
// several numbers, unless the attribute plural says otherwise. See "Label".
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
	plural := isPluralLabel(n, isPlural(variable, value))

	return plain(r.locale.term(name, n.attr["form"], plural))
}

// isPluralLabel reports whether a label element is plural. contextual is the answer unless its attribute
// plural is "always" or "never".
func isPluralLabel(n *node, contextual bool) bool {
	switch n.attr["plural"] {
	case "always":
		return true
	case "never":
		return false
	}

	return contextual
}

// locatorLabel returns the kind of the place of a citation.
func locatorLabel(c *Cite) string {
	if c.Label == "" {
		return "page"
	}

	return c.Label
}
