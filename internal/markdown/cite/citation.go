package cite

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"presswork/internal/markdown/numeral"
)

// writtenCite is the output for one work of a citation. Its names and its year decide whether it is collapsed with the
// work before it.
type writtenCite struct {
	cite  Cite
	work  *work // nil for an unknown key
	out   rich
	names string // the names as printed, to compare with those of the next cite
	year  string
}

// citation returns the HTML of one citation.
func (p *processor) citation(c Citation) string {
	layout := p.style.citation.child("layout")
	if c.InText && len(c.Cites) > 0 {
		if w := p.works[c.Cites[0].Key]; w != nil {
			return p.inText(c, w)
		}

		return p.missing(c.Cites[0])
	}
	cites := p.sortedCites(c.Cites)

	var all []writtenCite
	for i := range cites {
		all = append(all, p.writeCite(cites[i], cites[i].SuppressAuthor))
	}

	if p.style.Note && len(all) > 0 && len(all[0].out) > 0 && all[0].out[0].look&word != 0 {
		all[0].out[0].text = upperFirst(all[0].out[0].text) // a note that begins with "ibid."
	}
	body := p.collapsed(all)

	return p.around(layout, body)
}

// around returns the HTML of the works of a citation with the affixes and the look of the layout. It drops punctuation
// and spaces that would be doubled. locale.join cannot do that here, because the links join pieces as HTML.
func (p *processor) around(layout *node, body []piece) string {
	prefix, suffix := layout.attr["prefix"], layout.attr["suffix"]
	if len(body) > 0 && strings.HasSuffix(prefix, " ") && strings.HasPrefix(body[0].out.plain(), " ") {
		prefix = strings.TrimRight(prefix, " ")
	}
	var b strings.Builder
	b.WriteString(formatted(layout, plain(prefix)).html())

	for i, x := range body {
		x.out = formatted(layout, x.out)
		if i == len(body)-1 {
			suffix = withoutDoubled(x.out.plain(), suffix)
		}
		b.WriteString(p.linked(x))
	}
	b.WriteString(formatted(layout, plain(suffix)).html())

	return b.String()
}

// withoutDoubled returns text without its first character if keep drops that character after before.
func withoutDoubled(before, text string) string {
	if before == "" || text == "" {
		return text
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	first, size := utf8.DecodeRuneInString(text)

	if _, second := keep(last, first); !second {
		return text[size:]
	}

	return text
}

// piece is a part of a citation: a work, or a delimiter if key is "".
type piece struct {
	out rich
	key string // the key of the work
}

// linked returns the HTML of a piece, with a link to the entry of its work if the bibliography has one.
func (p *processor) linked(x piece) string {
	html := x.out.html()
	if x.key == "" || p.job.Anchor == nil || p.style.bibliography == nil || html == "" || p.works[x.key] == nil {
		return html
	}

	return `<a href="#` + escape(p.job.Anchor(x.key)) + `" class="xref">` + html + "</a>"
}

// sortedCites sorts the works of a citation by the sort element of the style. Unknown keys come last.
func (p *processor) sortedCites(cites []Cite) []Cite {
	if p.style.citation.child("sort") == nil || len(cites) < 2 {
		return cites
	}
	var works []*work
	byWork := map[*work][]Cite{}
	var missing []Cite

	for _, c := range cites {
		w := p.works[c.Key]
		if w == nil {
			missing = append(missing, c)
			continue
		}

		if byWork[w] == nil {
			works = append(works, w)
		}
		byWork[w] = append(byWork[w], c)
	}
	p.sort(p.style.citation, works, "citation")

	var out []Cite
	for _, w := range works {
		out = append(out, byWork[w]...)
	}

	return append(out, missing...)
}

// writeCite renders one work of a citation with its prefix and suffix. With withoutNames, it leaves out the names, as
// after "Doe" in "Doe (1999)".
func (p *processor) writeCite(c Cite, withoutNames bool) writtenCite {
	w := p.works[c.Key]
	if w == nil {
		return writtenCite{cite: c, out: rich{{text: c.Key + "?", look: bold}}}
	}
	r := p.renderer(w, &c, "citation")
	r.withoutNames = withoutNames
	layout := p.style.citation.child("layout")
	out, _ := r.elements(layout.children, layout.attr["delimiter-inside"])

	out = slices.Clone(out)
	// Without the names, the output begins with the delimiter that follows them.
	if withoutNames && len(out) > 0 {
		out[0].text = strings.TrimLeft(out[0].text, " ,")
	}

	if c.Prefix != "" {
		out = p.locale.join(p.locale.typeset(p.parseText(c.Prefix+spaceAfter(c.Prefix))), out)
	}

	if c.Suffix != "" {
		suffix := c.Suffix
		if !strings.ContainsAny(suffix[:1], " ,.;:") {
			suffix = " " + suffix
		}
		out = p.locale.join(out, p.locale.typeset(p.parseText(suffix)))
	}

	return writtenCite{
		cite:  c,
		work:  w,
		out:   out,
		names: r.firstNames.plain(),
		year:  itoa(w.item.Dates["issued"].From[0]),
	}
}

// collapsed joins the works of a citation with delimiters. If the style says so, it collapses them to [1–3] or
// (Doe 1999, 2001). See "Cite Collapsing".
func (p *processor) collapsed(all []writtenCite) []piece {
	layout := p.style.citation.child("layout")
	delimiter := layout.attr["delimiter"]
	var out []piece
	// add appends a work, after a delimiter that its prefix or the punctuation before it may replace.
	add := func(between string, x writtenCite) {
		if strings.HasPrefix(x.cite.Prefix, ",") {
			between = ""
		}

		if len(out) > 0 && between != "" {
			out = append(out, piece{out: plain(withoutDoubled(out[len(out)-1].out.plain(), between))})
		}
		out = append(out, piece{out: x.out, key: x.cite.Key})
	}

	switch p.style.citation.attr["collapse"] {
	case "citation-number":
		p.collapseNumbers(all, delimiter, add)
	case "year", "year-suffix", "year-suffix-ranged":
		p.collapseYears(all, delimiter, add)
	default:
		for _, x := range all {
			add(delimiter, x)
		}
	}

	return out
}

// collapseNumbers adds works. Of three or more consecutive numbers, it adds only the first and the last: [1]–[3].
func (p *processor) collapseNumbers(all []writtenCite, delimiter string, add func(between string, x writtenCite)) {
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && p.isNextNumber(all[end-1], all[end]) {
			end++
		}

		if end-i > 2 {
			add(delimiter, all[i])
			add("–", all[end-1])
		} else {
			for _, x := range all[i:end] {
				add(delimiter, x)
			}
		}
		i = end
	}
}

// collapseYears adds works. Of a work that follows one by the same authors, it adds only the year.
func (p *processor) collapseYears(all []writtenCite, delimiter string, add func(between string, x writtenCite)) {
	between := delimiter

	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && sameAuthors(all[i], all[end]) {
			end++
		}
		add(between, all[i])
		p.yearsAfter(all[i:end], delimiter, add)

		if between = delimiter; end-i > 1 {
			between = cmp.Or(p.style.citation.attr["after-collapse-delimiter"], delimiter)
		}
		i = end
	}
}

// sameAuthors reports whether b may follow a in a group without repeating the names.
func sameAuthors(a, b writtenCite) bool {
	return a.work != nil && b.work != nil && a.names != "" && a.names == b.names &&
		b.cite.Prefix == "" && !a.cite.SuppressAuthor
}

// yearsAfter adds the years of the works after the first of a group by the same authors. With the collapse
// "year-suffix", works of one year only have their suffixes.
func (p *processor) yearsAfter(group []writtenCite, delimiter string, add func(between string, x writtenCite)) {
	options := p.style.citation.attr
	collapse, between := options["collapse"], options["cite-group-delimiter"]
	afterSuffix := cmp.Or(options["year-suffix-delimiter"], between, delimiter)

	for j := 1; j < len(group); j++ {
		before := group[j-1]

		short, sep := p.writeCite(group[j].cite, true), cmp.Or(between, ", ")
		if collapse != "year" && suffixed(before, group[j]) {
			sep = afterSuffix

			if last := lastOfRange(group, j); collapse == "year-suffix-ranged" && last > j {
				if group[j].work.suffix != before.work.suffix+1 {
					add(sep, suffixOnly(group[j]))
				}
				j, sep = last, "–"
			}
			short = suffixOnly(group[j])
		}

		if len(short.out) == 0 {
			continue
		}

		if before.cite.Suffix != "" || before.cite.Locator != "" {
			sep = cmp.Or(options["after-collapse-delimiter"], delimiter)
		}
		add(sep, short)
	}
}

// lastOfRange returns the index of the last work from j on that continues a range of suffixes, such as
// 2001a–c. It returns j if the range would have only two works.
func lastOfRange(group []writtenCite, j int) int {
	first, last := j, j
	if group[j].work.suffix == group[j-1].work.suffix+1 {
		first--
	}

	for last+1 < len(group) && suffixed(group[last], group[last+1]) &&
		group[last+1].work.suffix == group[last].work.suffix+1 {
		last++
	}

	if last-first < 2 {
		return j
	}

	return last
}

// suffixed reports whether two cites of a group differ only in the suffix of their year. A locator makes them differ.
func suffixed(a, b writtenCite) bool {
	return b.work.suffix > 0 && a.year == b.year && a.cite.Locator == "" && b.cite.Locator == ""
}

// suffixOnly returns a work with only the suffix of its year as the output.
func suffixOnly(x writtenCite) writtenCite {
	x.out = plain(numeral.Letters(x.work.suffix))
	return x
}

// isNextNumber reports whether b has the number after that of a, and both have only a number.
func (p *processor) isNextNumber(a, b writtenCite) bool {
	bare := func(x writtenCite) bool {
		return x.work != nil && x.cite.Prefix == "" && x.cite.Suffix == "" && x.cite.Locator == ""
	}

	return bare(a) && bare(b) && b.work.number == a.work.number+1
}

// inText returns the HTML of a citation whose authors are part of the sentence: "Doe (1999)".
func (p *processor) inText(c Citation, w *work) string {
	// The prefix of the first work is printed before the names, outside of the brackets.
	first := c.Cites[0]
	first.Prefix = ""
	named := p.writeCite(first, false)
	names := p.nameRun(first, w)

	var rest []writtenCite
	if without := p.writeCite(first, true); len(without.out) > 0 {
		rest = append(rest, without)
	} else if len(names) == 0 { // the style prints nothing without names: cite the work in brackets
		rest = append(rest, named)
	}

	for _, cite := range c.Cites[1:] {
		rest = append(rest, p.writeCite(cite, cite.SuppressAuthor))
	}

	out := p.linked(piece{out: names, key: first.Key})
	if c.Cites[0].Prefix != "" {
		out = p.parseText(c.Cites[0].Prefix).html() + " " + out
	}

	if len(rest) == 0 {
		return out
	}

	return out + " " + p.around(p.style.citation.child("layout"), p.collapsed(rest))
}

// citedNames returns the HTML of the authors of the first work of a citation.
func (p *processor) citedNames(c Citation) string {
	w := p.works[c.Cites[0].Key]
	if w == nil {
		return p.missing(c.Cites[0])
	}

	return p.linked(piece{out: p.nameRun(c.Cites[0], w), key: c.Cites[0].Key})
}

// nameRun returns the names of a work as part of a sentence, in the form of the style's citations. For a note style, or
// one that cites without names, it returns the short names of the authors, or else the title.
func (p *processor) nameRun(cite Cite, w *work) rich {
	r := p.renderer(w, &cite, "citation")
	_, _ = r.layout(p.style.citation.child("layout"))

	names := r.firstNames
	if len(names) == 0 || p.style.Note {
		short := &node{children: []*node{{
			name: "name",
			attr: map[string]string{"form": "short", "and": "text", "et-al-min": "3", "et-al-use-first": "1"},
		}}}
		for _, variable := range []string{"author", "editor", "translator"} {
			list := &node{attr: map[string]string{"variable": variable}}
			if names, _ = p.renderer(w, &cite, "citation").namesOf(list, short); len(names) > 0 {
				return names
			}
		}
		names = r.variable("title", "short")
	}

	return names
}

// missing returns the HTML for an unknown key.
func (p *processor) missing(c Cite) string {
	return rich{{text: "@" + c.Key + "?", look: bold}}.html()
}
