package themes

import (
	"slices"
	"strings"
)

// subject is what a selector selects, as far as it matters where a document is cut.
type subject struct {
	tags []string // any of these, or of any
	// outer is "*", "html" or "body" where the selector is that alone.
	outer string
	// within reports that what is selected is a block, or in one, named that it is by a
	// class, line that it is part of a line, pseudo that it is made by the stylesheet.
	within, named, line, pseudo bool
}

func (s subject) only(tags ...string) bool {
	return !s.pseudo && len(s.tags) > 0 && !slices.ContainsFunc(s.tags, func(tag string) bool { return !slices.Contains(tags, tag) })
}

// compound is a part of a selector, up to a combinator.
type compound struct {
	combinator byte // before it: ' ', '>', '+' or '~'; 0 before the first
	tags       []string
	any        bool // *
	// class reports a class, qualified anything beside a tag but a pseudo-element,
	// counts that it asks which of its siblings it is, cover that it is the cover.
	class, qualified, counts, cover, pseudo bool
}

func (c compound) all(tags map[string]bool) bool {
	return len(c.tags) > 0 && !slices.ContainsFunc(c.tags, func(tag string) bool { return !tags[tag] })
}

// subjectOf reads a selector; ok is false where it may select otherwise in a part of a
// document than in the whole.
func subjectOf(tokens []cssToken) (s subject, ok bool) {
	list, ok := compoundsOf(tokens)
	if !ok {
		return s, false
	}
	for i, c := range list {
		// Its siblings are in the same block where its parent is, or it is in a table.
		inBlock := func(c compound, before int) bool {
			parent := before >= 0 && c.combinator == '>' && list[before].inBlock() && !list[before].some("ol")
			return parent || c.all(tableTags)
		}
		switch {
		case c.counts && !inBlock(c, i-1):
			return s, false
		case c.combinator != '+' && c.combinator != '~':
			continue
		}
		first := i - 1 // of the siblings
		for list[first].combinator == '+' || list[first].combinator == '~' {
			first--
		}
		if inBlock(list[first], first-1) || c.all(tableTags) {
			continue
		}
		// A piece begins with a paragraph only behind a paragraph, which it is told of, or
		// behind what no rule may name.
		before := list[i-1]
		if c.combinator != '+' || first != i-1 || !c.all(map[string]bool{"p": true}) || before.qualified && !before.all(headings) ||
			!before.all(map[string]bool{"p": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true}) {
			return s, false
		}
	}
	last := list[len(list)-1]
	s = subject{tags: last.tags, named: last.class, pseudo: last.pseudo, within: last.inBlock() || last.class && !last.some("html", "body", "main")}
	s.line = slices.ContainsFunc(s.tags, func(tag string) bool { return lineTags[tag] })
	if last.cover && !last.pseudo {
		s.within = false
	}
	switch {
	case len(list) > 1 || last.qualified || last.pseudo:
	case last.any:
		s.outer = "*"
	case len(last.tags) == 1 && last.some("html", "body"):
		s.outer = last.tags[0]
	}
	return s, true
}

func (c compound) some(tags ...string) bool {
	return slices.ContainsFunc(c.tags, func(tag string) bool { return slices.Contains(tags, tag) })
}

// inBlock reports whether it is a block, or in one, for sure.
func (c compound) inBlock() bool {
	return len(c.tags) > 0 && !slices.ContainsFunc(c.tags, func(tag string) bool { return !blockTags[tag] && !lineTags[tag] })
}

// compoundsOf cuts a selector at its combinators; ok is false where something in it is
// not known.
func compoundsOf(tokens []cssToken) (list []compound, ok bool) {
	c, empty := compound{}, true
	end := func(combinator byte) bool {
		if empty {
			return false
		}
		list, c, empty = append(list, c), compound{combinator: combinator}, true
		return true
	}
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.kind == cssSpace || strings.Contains(">+~", t.raw):
			combinator := byte(' ')
			for ; i < len(tokens) && (tokens[i].kind == cssSpace || strings.Contains(">+~", tokens[i].raw)); i++ {
				if tokens[i].kind != cssSpace {
					if combinator != ' ' {
						return nil, false
					}
					combinator = tokens[i].raw[0]
				}
			}
			i--
			if !end(combinator) {
				return nil, false
			}
			continue
		case c.pseudo:
			return nil, false
		case t.kind == cssIdent && empty:
			c.tags = []string{strings.ToLower(t.value)}
		case t.raw == "*" && empty:
			c.any = true
		case t.raw == "." && i+1 < len(tokens) && tokens[i+1].kind == cssIdent:
			i++
			class := tokens[i].value
			if pageClasses[class] || strings.HasPrefix(class, "foot") {
				return nil, false
			}
			c.class, c.qualified, c.cover = true, true, c.cover || class == "cover"
		case t.raw == "[":
			n := slices.IndexFunc(tokens[i:], func(t cssToken) bool { return t.raw == "]" })
			if n < 0 {
				return nil, false
			}
			i += n
			c.qualified = true
		case t.raw == ":":
			n, ok := c.pseudoClass(tokens[i+1:])
			if !ok {
				return nil, false
			}
			i += n
		default:
			return nil, false
		}
		empty = false
	}
	return list, end(0)
}

// pseudoClass reads what is behind a colon, and how many tokens that is.
func (c *compound) pseudoClass(tokens []cssToken) (count int, ok bool) {
	for count < len(tokens) && tokens[count].raw == ":" {
		count++
	}
	if count == len(tokens) || count > 1 {
		return 0, false
	}
	t := tokens[count]
	name := strings.ToLower(t.value)
	if t.kind == cssIdent {
		c.pseudo = pseudoElements[name]
		c.qualified = c.qualified || !c.pseudo
		c.counts = c.counts || siblingClasses[name]
		return count + 1, c.pseudo || count == 0 && (pseudoClasses[name] || siblingClasses[name])
	}
	if t.kind != cssFunction || count > 0 {
		return 0, false
	}
	inside, depth := count+1, 1
	for count++; count < len(tokens); count++ {
		if depth += nesting(tokens[count]); depth == 0 {
			break
		}
	}
	arguments := tokens[inside:min(count, len(tokens))]
	switch {
	case siblingClasses[name]:
		c.counts = true
	case name == "lang" || name == "dir":
	case name == "is" || name == "where" || name == "not":
		var tags []string
		untagged := name == "not"
		for _, one := range splitList(arguments) {
			list, ok := compoundsOf(trim(one))
			if !ok || len(list) != 1 || list[0].counts || list[0].pseudo {
				return 0, false
			}
			c.class, c.cover = c.class || list[0].class && name != "not", c.cover || list[0].cover
			c.qualified = c.qualified || list[0].qualified
			tags, untagged = append(tags, list[0].tags...), untagged || len(list[0].tags) == 0
		}
		if !untagged && len(c.tags) == 0 {
			c.tags = tags
			return count + 1, true
		}
	default:
		return 0, false
	}
	c.qualified = true
	return count + 1, true
}
