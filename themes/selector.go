package themes

import (
	"slices"
	"strings"
)

// needs are the Names that a page must have so that a selector can match.
type needs []need

// need is one name, or several alternatives of which one must be met.
type need struct {
	name  string  // "" for alternatives
	anyOf []needs // nil for a name
}

// areMetBy reports whether the page has all names that the selector needs.
func (n needs) areMetBy(page Names) bool {
	for _, one := range n {
		if one.name != "" && !page[one.name] {
			return false
		}

		if one.anyOf != nil && !slices.ContainsFunc(one.anyOf, func(a needs) bool { return a.areMetBy(page) }) {
			return false
		}
	}

	return true
}

// selectorsOf returns the selectors in the list before the declarations of a rule.
func selectorsOf(prelude []cssToken) (list []selector) {
	for _, tokens := range splitList(prelude) {
		list = append(list, selector{strings.TrimSpace(textOf(tokens)), needsOf(tokens)})
	}

	return list
}

// splitList splits tokens at the commas outside of brackets.
func splitList(tokens []cssToken) [][]cssToken { return splitAt(tokens, ",") }

// splitAt splits tokens at each mark outside of brackets.
func splitAt(tokens []cssToken, mark string) (parts [][]cssToken) {
	start, depth := 0, 0
	for i, t := range tokens {
		if t.raw == mark && t.kind == cssOther && depth == 0 {
			parts = append(parts, tokens[start:i])
			start = i + 1
		}
		depth += nesting(t)
	}

	return append(parts, tokens[start:])
}

// needsOf returns the names that a selector needs to match. Parts that it does not know, such as :not() and
// pseudo-elements, need nothing, so that no rule is lost.
func needsOf(tokens []cssToken) (all needs) {
	before := ""

	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.kind == cssIdent && before == ".":
			all = append(all, need{name: className(t.value)})
		case t.kind == cssIdent && before != ":":
			all = append(all, need{name: elementName(t.value)})
		case t.raw == "[" || t.kind == cssFunction:
			end, depth := i+1, 1
			for ; end < len(tokens); end++ {
				if depth += nesting(tokens[end]); depth == 0 {
					break
				}
			}

			inside := tokens[i+1 : end]
			if t.raw == "[" && len(inside) > 0 {
				all = append(all, need{name: attributeName(inside[0].value)})
			} else if one, ok := needOf(t.value, inside); ok {
				all = append(all, one)
			}
			i = end
		}
		before = tokens[min(i, len(tokens)-1)].raw
	}

	return all
}

// needOf returns the names that a functional pseudo-class needs. ok is false for one that it does not know.
func needOf(function string, arguments []cssToken) (n need, ok bool) {
	switch function {
	case "is", "where", "has":
		n.anyOf = []needs{}
		for _, one := range splitList(arguments) {
			n.anyOf = append(n.anyOf, needsOf(one))
		}

		return n, true
	case "lang":
		n.anyOf = []needs{}
		for _, one := range splitList(arguments) {
			n.anyOf = append(n.anyOf, needs{{name: languageName(strings.Trim(strings.TrimSpace(textOf(one)), `"`))}})
		}

		return n, true
	case "dir":
		if textOf(arguments) == "rtl" {
			return need{name: rightToLeft}, true
		}
	}

	return need{}, false
}
