package themes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxNesting is the number of levels that values of custom properties may refer to others. It ends circles of
// references.
const maxNesting = 8

// Properties maps custom properties such as "--link" to values that are the same for all elements of a page, because a
// :root rule sets them.
type Properties map[string]string

// Rule returns the properties as a :root rule. The values must be safe CSS.
func (p Properties) Rule() string {
	var b strings.Builder
	b.WriteString(":root{")

	for _, name := range slices.Sorted(maps.Keys(p)) {
		b.WriteString(name + ":" + p[name] + ";")
	}
	b.WriteString("}\n")

	return b.String()
}

// Fit returns those rules of a shared stylesheet and of the theme that could match something in a page. Browsers would
// compare each element with every rule. Fit replaces var() by the values of custom properties: those of the theme and
// of more, which takes precedence. A property that a stylesheet also sets outside of :root stays a property. Style
// queries are evaluated.
func (t Theme) Fit(page Names, shared *Stylesheet, more Properties) string {
	f := fitting{page: page, known: t.properties(), local: []map[string]bool{shared.local, t.sheet().local}}
	maps.Copy(f.known, more)

	if !t.ink {
		f.writeRoot(t.Scheme)
	}
	f.writeItems(shared.items)
	f.writeItems(t.sheet().items)

	if t.ink { // the ink-saving tokens must come after the theme's own stylesheet, which sets those of the full theme
		f.writeRoot(t.Scheme)

		if page[className("cover")] {
			f.out = append(f.out, noCoverArt...)
		}
	}

	return string(f.out)
}

// Fit returns those rules of the stylesheet that could match something in a page. It leaves var() as it is.
func (s *Stylesheet) Fit(page Names) string {
	f := fitting{page: page}
	f.writeItems(s.items)

	return string(f.out)
}

// properties returns the custom properties that the theme sets at the root, by its Tokens and its CSS. Later rules take
// precedence, so the order depends on whether the theme is ink-saving.
func (t Theme) properties() Properties {
	p := Properties{}
	if t.ink {
		maps.Copy(p, Properties(t.full))
		maps.Copy(p, Properties(t.all))

		return p
	}
	maps.Copy(p, Properties(t.all))
	maps.Copy(p, Properties(t.own))

	return p
}

// fitting is a stylesheet being written for a page.
type fitting struct {
	out  []byte
	page Names
	// known has the properties whose var() is replaced by their value. Nil means that no var() is replaced.
	known Properties
	// local has, for each stylesheet, the properties that it sets outside of :root: their value depends on the element.
	local []map[string]bool
}

// isConstant reports whether a property has the same value for all elements, or no value.
func (f *fitting) isConstant(name string) bool {
	return f.known != nil && !slices.ContainsFunc(f.local, func(set map[string]bool) bool { return set[name] })
}

// writeRoot writes a :root rule with the colour scheme and the properties that are not replaced by their values.
func (f *fitting) writeRoot(scheme string) {
	f.out = fmt.Appendf(f.out, ":root{color-scheme:%s;", scheme)
	for _, name := range slices.Sorted(maps.Keys(f.known)) {
		if !f.isConstant(name) {
			f.out = fmt.Appendf(f.out, "%s:%s;", name, f.known[name])
		}
	}
	f.out = append(f.out, "}\n"...)
}

// writeItems writes the items that the page needs.
func (f *fitting) writeItems(items []item) {
	for _, i := range items {
		switch {
		case i.prelude != "":
			f.writeGroup(i)
		case i.selectors != nil:
			f.writeRule(i)
		default:
			f.writePieces(i.body, 0)
		}
	}
}

// writeGroup writes a group of rules, unless none of its rules is left. It evaluates a style query for a constant
// property.
func (f *fitting) writeGroup(i item) {
	if i.style != nil && f.isConstant(i.style.name) {
		if value, set := f.known[i.style.name]; set && (i.style.value == "" || i.style.value == value) {
			f.writeItems(i.group)
		}

		return
	}
	before := len(f.out)
	f.out = append(append(f.out, i.prelude...), '{')

	begun := len(f.out)
	if f.writeItems(i.group); len(f.out) == begun {
		f.out = f.out[:before]
		return
	}
	f.out = append(f.out, '}')
}

// writeRule writes a rule with those of its selectors that can match on the page. It skips a rule whose properties are
// all replaced by their values.
func (f *fitting) writeRule(i item) {
	if i.sets != nil && !slices.ContainsFunc(i.sets, func(name string) bool { return !f.isConstant(name) }) {
		return
	}

	before := len(f.out)
	for _, s := range i.selectors {
		if s.needs.areMetBy(f.page) {
			f.out = append(append(f.out, s.text...), ',')
		}
	}

	if len(f.out) == before {
		return
	}
	f.out[len(f.out)-1] = '{'
	f.writePieces(i.body, 0)
	f.out = append(f.out, '}')
}

// writePieces writes declarations or a value. depth is the number of properties whose values contain the pieces.
func (f *fitting) writePieces(pieces []piece, depth int) {
	for _, p := range pieces {
		value, set := f.known[p.name]
		switch {
		case p.name == "":
			f.out = append(f.out, p.text...)
		case f.isConstant(p.name) && set && depth < maxNesting:
			f.writeValue(value, depth+1)
		case f.isConstant(p.name) && !set && p.hasFallback:
			f.writePieces(p.fallback, depth)
		default:
			f.out = append(append(f.out, "var("...), p.name...)
			if p.hasFallback {
				f.out = append(f.out, ',')
				f.writePieces(p.fallback, depth)
			}
			f.out = append(f.out, ')')
		}
	}
}

// writeValue writes the value of a property, which may refer to others.
func (f *fitting) writeValue(value string, depth int) {
	if !strings.Contains(value, "var(") {
		f.out = append(f.out, value...)
		return
	}
	f.writePieces(piecesOf(tokensOf(value)), depth)
}

// Names returns the names that the selectors of the shared stylesheet and of the theme refer to.
func (t Theme) Names(shared *Stylesheet) Names {
	names := Names{}
	names.ofItems(shared.items)
	names.ofItems(t.sheet().items)

	return names
}

// ofItems adds the names in the selectors of all items.
func (n Names) ofItems(items []item) {
	for _, i := range items {
		for _, s := range i.selectors {
			n.ofNeeds(s.needs)
		}
		n.ofItems(i.group)
	}
}

// ofNeeds adds the names of needs.
func (n Names) ofNeeds(all needs) {
	for _, one := range all {
		n.add(one.name)

		for _, alternative := range one.anyOf {
			n.ofNeeds(alternative)
		}
	}
}

// Rules returns those rules of a stylesheet that could match something in a page, with the theme's values in place of
// var().
func (t Theme) Rules(page Names, sheet *Stylesheet) string {
	f := fitting{page: page, known: t.properties()}
	f.writeItems(sheet.items)

	return string(f.out)
}
