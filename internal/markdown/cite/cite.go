// Package cite writes citations and bibliographies as styles of the Citation Style
// Language (CSL 1.0.2) have them. Styles, locales and bibliographies may come from
// strangers: all work is counted, and what is read is bounded.
package cite

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

const (
	// maxOutput bounds the HTML of one document's citations, in bytes.
	maxOutput = 16 << 20
	// maxMacros is how deep macros may call each other.
	maxMacros = 60
)

// Cite is one work in a citation.
type Cite struct {
	// Key names the Item.
	Key string
	// Prefix and Suffix stand around it. Locator is "3–4", Label its kind, "page" or
	// "chapter".
	Prefix, Suffix, Locator, Label string
	// SuppressAuthor leaves the names out.
	SuppressAuthor bool
}

// Citation is a place in the text that cites works.
type Citation struct {
	Cites []Cite
	// InText writes the authors of the first work as part of the sentence, the rest
	// in brackets.
	InText bool
	// NamesOnly writes those authors alone: the rest is another citation, of a note.
	NamesOnly bool
}

// Entry is one work of the bibliography.
type Entry struct {
	Key string
	// HTML is the entry. Where the style aligns the text behind a number or a label,
	// Label is that.
	Label, HTML string
}

// Result is what a document's citations became.
type Result struct {
	// Citations are HTML, one for each. Each work in them links to the fragment that
	// Job.Anchor gives.
	Citations []string
	Entries   []Entry
	// Hanging is set when the entries' lines hang behind the first.
	Hanging bool
}

// Job is the citations of a document.
type Job struct {
	Items     map[string]*Item
	Citations []Citation
	// Uncited are works that are in the bibliography all the same.
	Uncited []string
	// Lang is the document's language (BCP 47), unless the style has its own.
	Lang string
	// Anchor is the fragment of a work's entry. Nil: no links.
	Anchor func(key string) string
}

// Process writes the citations of a document. Keys without an item are written as
// the key with a question mark. Errors: CostError, ctx's cause.
func (s *Style) Process(ctx context.Context, l *Library, job Job) (result Result, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stopped:
			result, err = Result{}, r.err
		default:
			panic(r)
		}
	}()
	p := &processor{style: s, job: job, ctx: ctx, locale: l.locale(s, job.Lang), works: map[string]*work{}}
	p.number()
	p.disambiguate()

	for _, c := range job.Citations {
		p.step()

		html := ""
		if c.NamesOnly {
			html = p.names(c)
		} else {
			p.place(c)
			html = p.citation(c)
		}

		if p.written += len(html); p.written > maxOutput {
			return Result{}, tooLong()
		}
		result.Citations = append(result.Citations, html)
	}

	result.Entries = p.bibliography()
	if s.bibliography != nil {
		result.Hanging = s.bibliography.attr["hanging-indent"] == "true"
	}

	return result, nil
}

// work is a cited item and what distinguishes it.
type work struct {
	item   *Item
	number int
	// suffix is the a of 2001a, 0 for none.
	suffix int
	// names are how many of its names are written beyond what the style writes,
	// given how much of each name is, by its place: 0 as the style says, 1 initials,
	// 2 all.
	names int
	given map[int]int
	// ambiguous sets the condition "disambiguate".
	ambiguous bool
}

// processor is the work on one document.
type processor struct {
	ctx    context.Context
	style  *Style
	locale *locale
	job    Job
	works  map[string]*work
	// order are the works in the order of their numbers.
	order   []*work
	written int
	// spent is the work done so far, looked what it was at the last look at ctx. See
	// charge.
	spent, looked int

	// seen are the works cited so far, last the works of the citation before.
	seen    map[string]bool
	last    []Cite
	current []Cite
}

// number collects the works and numbers them: in the order of the bibliography.
func (p *processor) number() {
	add := func(key string) {
		if item := p.job.Items[key]; item != nil && p.works[key] == nil {
			w := &work{item: item, number: len(p.order) + 1}
			p.works[key] = w
			p.order = append(p.order, w)
		}
	}

	for _, c := range p.job.Citations {
		for _, cite := range c.Cites {
			add(cite.Key)
		}
	}

	for _, key := range p.job.Uncited {
		add(key)
	}

	if p.style.bibliography != nil {
		p.sort(p.style.bibliography, p.order, "bibliography")
	}

	for i, w := range p.order {
		w.number = i + 1
	}
}

// sort puts works into the order that an area of the style has.
func (p *processor) sort(area *node, works []*work, name string) {
	sorting := area.child("sort")
	if sorting == nil {
		return
	}
	keys := map[*work][]string{}

	for _, w := range works {
		for _, key := range sorting.kids {
			text := p.sortKey(key, w, name)
			p.charge(len(text)) // also for the memory
			keys[w] = append(keys[w], text)
		}
	}
	slices.SortStableFunc(works, func(a, b *work) int {
		for i, key := range sorting.kids {
			x, y := keys[a][i], keys[b][i]
			p.charge(1)

			switch {
			case x == y:
				continue
			case x == "": // what has no key comes last
				return 1
			case y == "":
				return -1
			}
			p.charge(min(len(x), len(y)))

			order := p.locale.compare(x, y)
			if order == 0 {
				continue
			}

			if key.attr["sort"] == "descending" {
				return -order
			}

			return order
		}

		return a.suffix - b.suffix
	})
}

func (p *processor) sortKey(key *node, w *work, area string) string {
	r := p.renderer(w, nil, area)
	r.sorting = true

	r.keyOptions = key
	if macro := key.attr["macro"]; macro != "" {
		out, _ := r.macro(macro)
		return sortable(out.plain())
	}

	switch name := key.attr["variable"]; {
	case isDate(name):
		return w.item.Dates[name].sortable()
	case w.item.Names[name] != nil:
		inverted := &node{name: "name", attr: map[string]string{"form": "long", "name-as-sort-order": "all"}}
		out, _ := r.names(&node{name: "names", attr: map[string]string{"variable": name}, kids: []*node{inverted}})

		return sortable(out.plain())
	case name == "citation-number":
		return fmt.Sprintf("%08d", w.number)
	default:
		text := r.variable(name, "").plain()
		if p.isNumeric(text) {
			return fmt.Sprintf("%12s", firstNumber(text))
		}

		return sortable(text)
	}
}

// sortable returns a text without the quotation marks, apostrophes and brackets that do not
// count when texts are sorted.
func sortable(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`"'“”‘’„‚«»‹›[](){}`, r) {
			return -1
		}

		return r
	}, text)
}

// place notes where a citation stands: which works were cited before it.
func (p *processor) place(c Citation) {
	for _, cite := range p.current {
		p.seen[cite.Key] = true
	}
	p.last, p.current = p.current, c.Cites
}

// position is "first", "subsequent", "ibid" or "ibid-with-locator" for a work of
// the current citation.
func (p *processor) position(cite *Cite) string {
	if cite == nil || !p.seen[cite.Key] {
		return "first"
	}

	if len(p.last) == 1 && p.last[0].Key == cite.Key && len(p.current) == 1 {
		switch before := p.last[0].Locator; {
		case before == cite.Locator:
			return "ibid"
		case cite.Locator != "":
			return "ibid-with-locator"
		}
	}

	return "subsequent"
}

// bibliography writes the entries.
func (p *processor) bibliography() []Entry {
	area := p.style.bibliography
	if area == nil {
		return nil
	}
	var entries []Entry
	substitute, hasSubstitute := area.attr["subsequent-author-substitute"]
	before := ""

	for _, w := range p.order {
		r := p.renderer(w, nil, "bibliography")

		out, _ := r.layout(area.child("layout"))
		if hasSubstitute {
			if names := r.firstNames.plain(); names != "" && names == before {
				again := p.renderer(w, nil, "bibliography")
				again.replaceNames = &substitute
				out, _ = again.layout(area.child("layout"))
			} else {
				before = names
			}
		}
		e := Entry{Key: w.item.ID}
		label, rest := out.cut(area.attr["second-field-align"] != "")

		e.Label, e.HTML = strings.TrimSpace(label.html()), linkURLs(strings.TrimSpace(rest.html()))
		if e.HTML == "" {
			e.HTML = escape(w.item.ID)
		}

		if p.written += len(e.HTML); p.written > maxOutput {
			panic(stopped{tooLong()})
		}
		entries = append(entries, e)
	}

	return entries
}
