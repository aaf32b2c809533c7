package themes

import (
	"regexp"
	"slices"
	"strings"
)

// Divisible reports whether a document with these stylesheets of another's, applied one
// after the other, looks the same when it is printed in pieces that are cut between the
// children of its main element. They do where no rule looks across a border or paints
// across one: each selector, property and value is known not to. What is not known is
// taken to do so.
func Divisible(sheets ...string) bool {
	var r reach
	for _, css := range sheets {
		p := sheetParser{tokens: tokensOf(CompactCSS(css))}
		if !r.rules(&p, 0) {
			return false
		}
	}
	// Together these could give what a block begins with space that becomes the block's.
	return !r.innerMargins || !r.innerBlocks
}

// reach is what has been read of some stylesheets: whether there are margins above
// what may be within a line, and whether what else is within lines is made a block.
type reach struct{ innerMargins, innerBlocks bool }

func words(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

var (
	// blockTags and lineTags are elements that are within one block each, or are one.
	// Those of page and section (main, nav, div) and their stand-ins are not among them.
	blockTags = words("blockquote caption dd details dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre summary table tbody td tfoot th thead tr ul")
	lineTags  = words("a abbr b cite code col colgroup del dfn em i img ins kbd mark q s samp small span strike strong sub sup svg tt u var")
	// tableTags have siblings in the same table only. A list of footnotes is in several pieces.
	tableTags = words("caption col colgroup tbody td tfoot th thead tr")
	headings  = words("h1 h2 h3 h4 h5 h6")
	// pageClasses are those of elements that make pages or sections of them.
	pageClasses = words("banner book both-ways landscape leaf no-footer no-header page-break portrait toc-own-page turned turns upright-script")

	pseudoClasses  = words("active any-link checked focus hover link root visited")
	siblingClasses = words("empty first-child first-of-type last-child last-of-type nth-child nth-last-child nth-last-of-type nth-of-type only-child only-of-type")
	pseudoElements = words("after before first-letter first-line marker placeholder selection")

	// inherited are properties that any element may have: what they change is within a
	// line, or in all pieces alike.
	inherited = words(`accent-color border-collapse border-spacing box-sizing caption-side color color-scheme cursor font hyphens
		hyphenate-character hyphenate-limit-chars letter-spacing line-break line-height list-style list-style-image list-style-position
		list-style-type orphans overflow-wrap print-color-adjust -webkit-print-color-adjust tab-size -moz-tab-size text-align text-align-last
		text-decoration text-indent text-rendering text-shadow text-size-adjust -webkit-text-size-adjust text-transform text-wrap
		vertical-align widows word-break word-spacing word-wrap -webkit-font-smoothing -moz-osx-font-smoothing`)
	inheritedGroups = []string{"font-", "text-decoration-", "text-underline-", "text-emphasis"}
	// boxes are those of what is within a block, or is one. What they paint around it
	// main cuts off at the page's edge.
	boxes = words(`background border box-decoration-break -webkit-box-decoration-break box-shadow clip-path content max-width
		min-width opacity outline outline-offset padding table-layout text-overflow white-space width`)
	boxGroups = []string{"background-", "border-", "outline-", "padding-"}
	heights   = words("aspect-ratio height max-height min-height object-fit object-position")

	functions = words(`attr calc clamp color color-mix conic-gradient cubic-bezier format hsl hsla hwb lab lch linear-gradient local max min
		oklab oklch path polygon pow radial-gradient repeating-linear-gradient repeating-radial-gradient rgb rgba round sqrt url var`)
	// quoting counts how deep quotes are, from the first page on.
	quoting = words("open-quote close-quote no-open-quote no-close-quote")

	none     = regexp.MustCompile(`^0+(\.0+)?([a-z]+|%)?$`)
	negative = regexp.MustCompile(`^-([0-9.]|$)`)
)

// rules reads rules to the end of their group.
func (r *reach) rules(p *sheetParser, depth int) bool {
	for p.at < len(p.tokens) {
		prelude, mark := p.until("{;}")
		prelude = trim(prelude)
		switch {
		case mark == "}":
			return depth > 0 && len(prelude) == 0
		case mark == "" && len(prelude) == 0:
			return depth == 0
		case mark != "{" || len(prelude) == 0:
			return false
		case prelude[0].kind == cssAt && strings.EqualFold(prelude[0].value, "media"):
			for _, t := range prelude[1:] {
				if t.kind != cssSpace && t.raw != "," && !slices.Contains([]string{"print", "screen", "all"}, strings.ToLower(t.value)) {
					return false
				}
			}
			if !r.rules(p, depth+1) {
				return false
			}
			continue
		}
		body, mark := p.until("}")
		if mark != "}" || prelude[0].kind == cssAt || !r.rule(prelude, body) {
			return false
		}
	}
	return depth == 0
}

func (r *reach) rule(prelude, body []cssToken) bool {
	for _, one := range splitList(prelude) {
		s, ok := subjectOf(trim(one))
		if !ok || !r.declarations(body, s) {
			return false
		}
	}
	return true
}

func (r *reach) declarations(body []cssToken, s subject) bool {
	for _, declaration := range splitAt(body, ";") {
		if declaration = trim(declaration); len(declaration) == 0 {
			continue
		}
		colon := slices.IndexFunc(declaration, func(t cssToken) bool { return t.raw == ":" })
		if colon < 0 || declaration[0].kind != cssIdent || len(trim(declaration[:colon])) != 1 || !r.declaration(declaration[0].value, trim(declaration[colon+1:]), s) {
			return false
		}
	}
	return true
}

// declaration reports whether a property of some elements may have a value.
func (r *reach) declaration(name string, value []cssToken, s subject) bool {
	important := len(value) > 1 && value[len(value)-2].raw == "!" && strings.EqualFold(value[len(value)-1].value, "important")
	if important {
		value = trim(value[:len(value)-2])
	}
	var plain []string
	computed, below := false, false
	for _, t := range value {
		word := strings.ToLower(t.value)
		switch {
		case t.kind == cssBad, t.kind == cssAt, t.kind == cssOther && strings.Contains("{}[]!", t.raw), t.kind == cssFunction && !functions[word], quoting[word]:
			return false
		case t.kind == cssFunction || t.kind == cssURL || t.raw == "/":
			computed = true
		}
		below = below || negative.MatchString(t.raw)
		if t.kind != cssSpace {
			plain = append(plain, strings.ToLower(t.raw))
		}
	}
	if strings.HasPrefix(name, "--") {
		return !important && (!below || strings.HasSuffix(name, "-tracking"))
	}
	if len(plain) == 0 {
		return false
	}
	name = strings.ToLower(name)
	side, isMargin := strings.CutPrefix(name, "margin")
	zero := func(at int) bool { return none.MatchString(plain[min(at, len(plain)-1)]) }
	flat := !computed && (strings.HasPrefix(side, "-left") || strings.HasPrefix(side, "-right") || strings.HasPrefix(side, "-inline") ||
		zero(0) && (len(plain) < 3 || zero(2))) // no margin above or below
	switch {
	case inherited[name] || hasPrefix(name, inheritedGroups):
		return true
	case s.outer == "*" || s.outer == "html" || s.outer == "body":
		switch name {
		case "margin", "padding":
			return !important && flat && (s.outer == "body" || zero(0) && len(plain) == 1)
		case "max-width":
			return s.outer == "body"
		}
		// Chromium paints it on the whole of each page, where html has none.
		return s.outer == "body" && (name == "background" || name == "background-color") && !important && !slices.ContainsFunc(value, func(t cssToken) bool {
			return t.kind == cssURL || t.kind == cssFunction && (t.value == "url" || strings.HasSuffix(t.value, "gradient"))
		})
	case !s.within:
		return false
	case boxes[name] || hasPrefix(name, boxGroups):
		return name != "content" || s.pseudo
	case isMargin:
		r.innerMargins = r.innerMargins || (s.named || s.line && !s.only("img")) && !flat
		return !important && !computed && !below && (!s.pseudo || flat)
	case heights[name]:
		return s.pseudo || s.only("img", "svg", "hr")
	case strings.HasPrefix(name, "overflow"):
		return s.only("pre", "code", "table")
	case name == "display":
		r.innerBlocks = r.innerBlocks || !s.pseudo && !s.only("table", "img")
		return !important && (s.pseudo || s.only("code", "img", "svg") || s.only("table") && !strings.HasPrefix(plain[0], "inline")) &&
			len(plain) == 1 && slices.Contains([]string{"block", "inline", "inline-block", "none", "table"}, plain[0])
	case strings.HasPrefix(name, "break-"), strings.HasPrefix(name, "page-break-"):
		return !important && !s.named && len(plain) == 1 && slices.Contains([]string{"auto", "avoid", "avoid-page"}, plain[0])
	}
	return false
}

func hasPrefix(name string, groups []string) bool {
	return slices.ContainsFunc(groups, func(group string) bool { return strings.HasPrefix(name, group) })
}

func trim(tokens []cssToken) []cssToken {
	for len(tokens) > 0 && tokens[0].kind == cssSpace {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == cssSpace {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}
