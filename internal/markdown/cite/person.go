package cite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// name writes one name.
func (r *renderer) name(n *node, name Name, form string, inverted bool, index int) rich {
	if name.Literal != "" {
		return r.namePart(n, "family", parseText(name.Literal))
	}
	given := name.Given
	more := 0
	if r.area == "citation" && !r.sorting {
		more = r.work.given[index]
	}
	if more < 2 {
		given = r.initials(n, given)
	}
	if form == "short" && more > 0 {
		form = "long"
	}
	demote := r.style.root.attr["demote-non-dropping-particle"]
	l := r.locale
	family := name.Family
	spaced := func(parts ...rich) (out rich) {
		for _, part := range parts {
			if len(part) == 0 {
				continue
			}
			if text := out.plain(); len(out) > 0 && !strings.HasSuffix(text, "’") && !strings.HasSuffix(text, "'") {
				out = l.join(out, plain(" "))
			}
			out = l.join(out, part)
		}
		return out
	}
	text := func(part, s string) rich { return r.namePart(n, part, parseText(s)) }
	if form == "short" {
		if r.sorting && (demote == "sort-only" || demote == "display-and-sort") {
			return text("family", family)
		}
		return spaced(text("family", name.NonDropping), text("family", family))
	}
	if isIdeographic(family) && isIdeographic(given+"一") {
		return l.join(text("family", family), text("given", given))
	}
	separator := r.option(n, "sort-separator", "sort-separator")
	if separator == "" {
		separator = ", "
	}
	if !inverted {
		out := spaced(text("given", given), text("given", name.Dropping), text("family", name.NonDropping), text("family", family))
		if name.Suffix != "" {
			if name.CommaSuffix {
				out = l.join(out, plain(","))
			}
			out = spaced(out, plain(name.Suffix))
		}
		return out
	}
	demoted := demote == "display-and-sort" || demote == "" || r.sorting && demote == "sort-only"
	first, behind := spaced(text("family", name.NonDropping), text("family", family)), spaced(text("given", given), text("given", name.Dropping))
	if demoted {
		first, behind = text("family", family), spaced(text("given", given), text("given", name.Dropping), text("family", name.NonDropping))
	}
	out := first
	for _, part := range []rich{behind, plain(name.Suffix)} {
		if len(part) > 0 {
			out = l.join(l.join(out, plain(separator)), part)
		}
	}
	return out
}

// namePart applies the formatting of a part of names.
func (r *renderer) namePart(n *node, part string, out rich) rich {
	if n == nil || r.sorting {
		return out
	}
	for _, k := range n.kids {
		if k.name == "name-part" && k.attr["name"] == part {
			return r.finished(k, out)
		}
	}
	return formatted(&node{attr: map[string]string{"font-variant": n.attr["font-variant"], "font-style": n.attr["font-style"], "font-weight": n.attr["font-weight"]}}, out)
}

func isIdeographic(text string) bool {
	for _, r := range text {
		if !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) && !unicode.IsSpace(r) {
			return false
		}
	}
	return text != ""
}

// initials shortens given names as the style says: "J. Q.".
func (r *renderer) initials(n *node, given string) string {
	with, ok := "", false
	if n != nil {
		with, ok = n.attr["initialize-with"]
	}
	for _, o := range slices.Backward(r.options) {
		if ok {
			break
		}
		with, ok = o.attr["initialize-with"]
	}
	if !ok || given == "" || isIdeographic(given) {
		return given
	}
	whole := r.option(n, "initialize", "initialize") == "false"
	hyphens := r.style.root.attr["initialize-with-hyphen"] != "false"
	var b strings.Builder
	for word := range strings.FieldsSeq(strings.ReplaceAll(given, ".", ". ")) {
		bare := strings.TrimSuffix(word, ".")
		first, _ := utf8.DecodeRuneInString(bare)
		switch {
		case bare == "":
		case unicode.IsLower(first): // a particle
			b.WriteString(separated(b.String()) + word + " ")
		case whole && utf8.RuneCountInString(bare) > 1:
			b.WriteString(separated(b.String()) + word + " ")
		case word != bare && utf8.RuneCountInString(bare) > 1 && !whole: // an abbreviation
			b.WriteString(separated(b.String()) + bare + with)
		default:
			for i, part := range strings.Split(bare, "-") {
				letter, _ := utf8.DecodeRuneInString(part)
				if part == "" {
					continue
				}
				if i > 0 && hyphens {
					text := strings.TrimRight(b.String(), " ")
					b.Reset()
					b.WriteString(text + "-")
				}
				b.WriteString(string(unicode.ToUpper(letter)) + with)
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// separated is the space that text needs before a word.
func separated(text string) string {
	if text == "" || strings.HasSuffix(text, " ") {
		return ""
	}
	return " "
}

// label is a short name of a work, for styles whose citations are such: Knu84.
func (item *Item) label() string {
	if l := item.Vars["citation-label"]; l != "" {
		return l
	}
	var b strings.Builder
	names := item.Names["author"]
	length := 1
	if len(names) == 1 {
		length = 4
	}
	for _, n := range names[:min(len(names), 4)] {
		name := []rune(n.Family + n.Literal)
		b.WriteString(string(name[:min(len(name), length)]))
	}
	if year := item.Dates["issued"].From[0]; year != 0 {
		b.WriteString(pad(((year % 100) + 100) % 100))
	}
	return b.String()
}
