package themes

import (
	"slices"
	"strings"
)

// Stylesheet is a stylesheet, parsed into its rules. Fit writes those that could match something in a page. It is
// read-only and safe for concurrent use.
type Stylesheet struct {
	items []item
	// local has the custom properties that rules other than :root set. Their value depends on the element.
	local map[string]bool
}

// item is a rule or a group of rules. Its selectors or its group decide whether it is written. An item with neither,
// such as @page, is always written.
type item struct {
	selectors []selector
	// group has the rules within an @media, @supports or @container, and prelude is the text before them. style is the
	// condition of a style query for one custom property, nil for other conditions.
	group   []item
	prelude string
	style   *styleQuery
	// body has the declarations of a rule, or the whole text of an item that is always written.
	body []piece
	// sets has the names of the custom properties in a :root rule. rootItems gives them a rule of their own.
	sets []string
}

// selector is one selector of a rule's list.
type selector struct {
	text  string
	needs needs
}

// styleQuery is the condition of @container style(--name) or style(--name: value).
type styleQuery struct{ name, value string }

// piece is a part of declarations: text, or a var() with its fallback.
type piece struct {
	text     string
	name     string // the name of the custom property, "" for text
	fallback []piece
	// hasFallback reports whether the var() has a fallback, which may be empty.
	hasFallback bool
}

// ParseStylesheet parses a stylesheet that is built-in or the result of FilterCSS. It ignores a rule without selectors
// and a } that closes nothing, as those of custom themes may be malformed.
func ParseStylesheet(css string) *Stylesheet {
	p := sheetParser{tokens: tokensOf(CompactCSS(css)), local: map[string]bool{}}
	return &Stylesheet{items: p.readItems(true), local: p.local}
}

// tokensOf returns all tokens of a stylesheet.
func tokensOf(css string) []cssToken {
	tokens := make([]cssToken, 0, len(css)/4) // most tokens are short
	s := newCSSScanner(css)

	for t, ok := s.next(); ok; t, ok = s.next() {
		tokens = append(tokens, t)
	}

	return tokens
}

// sheetParser parses a stylesheet into items.
type sheetParser struct {
	tokens []cssToken
	at     int             // the index of the next token
	local  map[string]bool // see Stylesheet.local
}

// readUntil returns the tokens before the first mark outside of brackets, and that mark, which is one of marks. The
// parser continues after it. mark is "" if there is none.
func (p *sheetParser) readUntil(marks string) (found []cssToken, mark string) {
	start, depth := p.at, 0
	for ; p.at < len(p.tokens); p.at++ {
		t := p.tokens[p.at]
		if t.kind == cssOther && depth == 0 && strings.Contains(marks, t.raw) {
			p.at++
			return p.tokens[start : p.at-1], t.raw
		}
		depth += nesting(t)
	}

	return p.tokens[start:], ""
}

// readItems reads rules up to the end of their group. top reports whether the group is the stylesheet itself.
func (p *sheetParser) readItems(top bool) (items []item) {
	for p.at < len(p.tokens) {
		prelude, mark := p.readUntil("{;}")
		switch {
		case mark == "}" && top:
			continue
		case mark == "}" || mark == "":
			return items
		case mark == "{" && len(prelude) == 0:
			p.readUntil("}")
		case mark == ";":
			items = append(items, item{body: []piece{{text: textOf(prelude) + ";"}}})
		case prelude[0].kind != cssAt:
			selectors := selectorsOf(prelude)

			body, _ := p.readUntil("}")
			if top && textOf(prelude) == ":root" {
				items = append(items, rootItems(selectors, body)...)
				continue
			}
			p.addLocals(body)
			items = append(items, item{selectors: selectors, body: piecesOf(body)})
		case slices.Contains([]string{"media", "supports", "container"}, prelude[0].value):
			items = append(items, item{
				prelude: textOf(prelude), style: styleQueryOf(prelude), group: p.readItems(false),
			})
		default:
			body, _ := p.readUntil("}")
			items = append(items, item{
				body: slices.Concat([]piece{{text: textOf(prelude) + "{"}}, piecesOf(body), []piece{{text: "}"}}),
			})
		}
	}

	return items
}

// rootItems splits a :root rule into one with its custom properties and one with the other declarations. Fit can then
// leave out the first.
func rootItems(selectors []selector, body []cssToken) (items []item) {
	var custom, rest []cssToken
	var sets []string

	for _, declaration := range splitAt(body, ";") {
		if len(declaration) == 0 {
			continue
		}

		list := &rest
		if strings.HasPrefix(declaration[0].value, "--") {
			list, sets = &custom, append(sets, declaration[0].value)
		}
		*list = append(append(*list, declaration...), cssToken{raw: ";"})
	}

	if len(custom) > 0 {
		items = append(items, item{selectors: selectors, body: piecesOf(custom), sets: sets})
	}

	if len(rest) > 0 {
		items = append(items, item{selectors: selectors, body: piecesOf(rest)})
	}

	return items
}

// addLocals adds the custom properties that declarations set to local.
func (p *sheetParser) addLocals(body []cssToken) {
	for i, t := range body[:max(0, len(body)-1)] {
		if t.kind == cssIdent && strings.HasPrefix(t.value, "--") && body[i+1].raw == ":" {
			p.local[t.value] = true
		}
	}
}

// textOf returns the source of the tokens.
func textOf(tokens []cssToken) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.raw)
	}

	return b.String()
}

// styleQueryOf reads "@container style(--name)" and "@container style(--name: value)". It returns nil for any other
// condition.
func styleQueryOf(prelude []cssToken) *styleQuery {
	inner, ok := strings.CutPrefix(textOf(prelude), "@container style(")

	inner, closed := strings.CutSuffix(strings.TrimSpace(inner), ")")
	if !ok || !closed || !strings.HasPrefix(inner, "--") || strings.ContainsAny(inner, "()") {
		return nil
	}
	name, value, _ := strings.Cut(inner, ":")

	return &styleQuery{strings.TrimSpace(name), strings.TrimSpace(value)}
}

// piecesOf splits declarations at each var().
func piecesOf(tokens []cssToken) (pieces []piece) {
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			pieces = append(pieces, piece{text: text.String()})
			text.Reset()
		}
	}

	for i := 0; i < len(tokens); i++ {
		if tokens[i].kind != cssFunction || tokens[i].value != "var" {
			text.WriteString(tokens[i].raw)
			continue
		}

		end, depth := i+1, 1
		for ; end < len(tokens); end++ {
			if depth += nesting(tokens[end]); depth == 0 {
				break
			}
		}
		inside := tokens[i+1 : end]
		comma := slices.IndexFunc(inside, func(t cssToken) bool { return t.raw == "," })

		v := piece{name: strings.TrimSpace(textOf(inside))}
		if comma >= 0 {
			v = piece{
				name:        strings.TrimSpace(textOf(inside[:comma])),
				fallback:    piecesOf(inside[comma+1:]),
				hasFallback: true,
			}
		}
		flush()
		pieces = append(pieces, v)
		i = end
	}
	flush()

	return pieces
}
