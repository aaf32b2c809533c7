// Package cite writes citations and bibliographies in the styles of the Citation Style Language, CSL
// 1.0.2 (https://docs.citationstyles.org/en/stable/specification.html). Comments name the sections of that
// specification in quotation marks.
//
// ParseStyle reads a style, and a Library has the built-in ones. Package bibfile reads bibliographies. Style.Process
// writes the citations and the bibliography of a document. It numbers and sorts the works and distinguishes those with
// equal citations. Then it renders the elements of the style for each work. Styles and bibliographies may be hostile:
// their size is limited, and the work on them is counted.
package cite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"presswork/internal/markdown/cite/bibfile"
)

const (
	// maxOutput is the largest HTML of the citations and entries of one document, in bytes.
	maxOutput = 16 << 20
	// maxMacros is the number of levels that calls of macros may nest.
	maxMacros = 60
)

// Cite is one work in a citation.
type Cite struct {
	// Key is the key of the Item in Job.Items.
	Key string
	// Prefix and Suffix are texts before and after the work, in the markup of CSL.
	Prefix, Suffix string
	// Locator is a place in the work, such as "3–4". See "Locators".
	Locator string
	// Label is the kind of the place, such as "page" or "chapter". "" stands for "page".
	Label string
	// SuppressAuthor reports whether the names of the authors are left out.
	SuppressAuthor bool
}

// Citation is a place in the text that cites works.
type Citation struct {
	// Cites are the works, at least one.
	Cites []Cite
	// InText reports whether the authors of the first work are part of the sentence, as in "Doe (1999)".
	InText bool
	// NamesOnly reports whether only the authors of the first work are written. Another citation, in a note, then has
	// the rest.
	NamesOnly bool
}

// Entry is one work of the bibliography.
type Entry struct {
	// Key is the key of the Item in Job.Items.
	Key string
	// Label is the first field as HTML, such as "[1]", if the style prints it in the margin, else "". See
	// "second-field-align" in "Whitespace".
	Label string
	// HTML is the entry without Label.
	HTML string
}

// Result has the citations and the bibliography of a document.
type Result struct {
	// Citations has the HTML of each citation of the Job, in order. Each work links to its entry by Job.Anchor.
	Citations []string
	// Entries are the entries of the bibliography in the order of the style.
	Entries []Entry
	// Hanging reports whether entries have a hanging indent.
	Hanging bool
}

// Job is the citations of a document.
type Job struct {
	// Items are the works by their keys.
	Items map[string]*bibfile.Item
	// Citations are in the order of the text.
	Citations []Citation
	// Uncited are the keys of works without a citation that the bibliography also lists.
	Uncited []string
	// Lang is the language of the document (BCP 47). A style with a default-locale ignores it.
	Lang string
	// Anchor returns the URL fragment of the entry of a work. Nil stands for no links.
	Anchor func(key string) string
}

// Process writes the citations and the bibliography of a document, as safe HTML. It writes a key without an item in
// bold with a question mark. The errors are CostError and the cause of ctx.
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
	p := &processor{
		style: s, job: job, ctx: ctx, locale: l.locale(s, job.Lang), works: map[string]*work{}, seen: map[string]bool{},
	}

	// Numbers depend on the order of the bibliography, and the suffixes of years on the numbers. Both must
	// be known before the first citation is written.
	p.numberWorks()
	p.disambiguate()

	for _, c := range job.Citations {
		p.step()

		html := ""
		if c.NamesOnly {
			html = p.citedNames(c)
		} else {
			p.notePosition(c)
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

// work is an item with the changes that distinguish its citations from those of other works. See
// "Disambiguation".
type work struct {
	item *bibfile.Item
	// number is the citation-number, from 1.
	number int
	// suffix is the year-suffix: 1 for the a of 2001a, 0 for none.
	suffix int
	// names is the number of names that are written in addition to et-al-use-first.
	names int
	// given is the level of the given name of each author, by the author's index. 0 is the form of the style, 1 adds
	// initials, 2 the full name.
	given map[int]int
	// ambiguous is the value of the condition "disambiguate".
	ambiguous bool
}

// processor writes the citations of one document.
type processor struct {
	ctx    context.Context
	style  *Style
	locale *locale
	job    Job
	works  map[string]*work // the cited and the listed works, by key
	// order has the works in the order of their numbers.
	order []*work
	// written is the size of the HTML so far, in bytes.
	written int
	// spent is the work done so far, in the units of charge. checked is the value of spent at the last check of ctx.
	spent, checked int

	// seen has the keys of the works in earlier citations.
	seen map[string]bool
	// last and current are the works of the previous and of the current citation.
	last, current []Cite
}

// numberWorks collects the works of the document and numbers them in the order of the bibliography. Without a sort
// element that is the order of the first citations.
func (p *processor) numberWorks() {
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
		p.sort(
			p.style.bibliography,
			p.order,
			"bibliography",
		) // by citation-number as well, so add has numbered the works
	}

	for i, w := range p.order {
		w.number = i + 1
	}
}

// sort sorts works by the keys of an area of the style: its citation or bibliography element. name is the
// name of the area. See "Sorting".
func (p *processor) sort(area *node, works []*work, name string) {
	sorting := area.child("sort")
	if sorting == nil {
		return
	}

	// Render each key once: rendering costs far more than a comparison.
	keys := map[*work][]string{}

	for _, w := range works {
		for _, key := range sorting.children {
			text := p.sortKey(key, w, name)
			p.charge(len(text)) // the text stays in memory until all works are sorted
			keys[w] = append(keys[w], text)
		}
	}
	slices.SortStableFunc(works, func(a, b *work) int {
		for i, key := range sorting.children {
			x, y := keys[a][i], keys[b][i]
			p.charge(1)

			switch {
			case x == y:
				continue
			case x == "": // works without the variable come last in both directions
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

		return a.suffix - b.suffix // 2001a before 2001b
	})
}

// sortKey returns the text by which a work is sorted: the output of a macro, or a variable in a form that sorts
// alphabetically. Names are inverted, and dates and numbers are padded with zeros or spaces.
func (p *processor) sortKey(key *node, w *work, area string) string {
	r := p.renderer(w, nil, area)
	r.sorting, r.keyOptions = true, key

	if macro := key.attr["macro"]; macro != "" {
		out, _ := r.macro(macro)
		return sortable(out.plain())
	}

	switch name := key.attr["variable"]; {
	case bibfile.IsDate(name):
		return w.item.Dates[name].Sortable()
	case w.item.Names[name] != nil:
		inverted := &node{name: "name", attr: map[string]string{"form": "long", "name-as-sort-order": "all"}}
		out, _ := r.names(&node{name: "names", attr: map[string]string{"variable": name}, children: []*node{inverted}})

		return sortable(out.plain())
	case name == "citation-number":
		return fmt.Sprintf("%08d", w.number)
	default:
		text := r.variable(name, "").plain()
		if p.isNumeric(text) {
			return fmt.Sprintf("%12s", firstNumber(text)) // aligned, so that 9 is before 10
		}

		return sortable(text)
	}
}

// sortable returns a text without quotation marks, apostrophes and brackets: they do not affect the order of texts.
func sortable(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`"'“”‘’„‚«»‹›[](){}`, r) {
			return -1
		}

		return r
	}, text)
}

// notePosition records that c is the current citation, for the condition "position".
func (p *processor) notePosition(c Citation) {
	for _, cite := range p.current {
		p.seen[cite.Key] = true
	}
	p.last, p.current = p.current, c.Cites
}

// position returns the position of a work of the current citation: "first", "subsequent", "ibid" or
// "ibid-with-locator". See "Choose". It returns "first" for a nil cite, as in the bibliography.
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

// bibliography writes the entries, nil if the style has no bibliography. The
// subsequent-author-substitute replaces the names of an entry that equal those of the previous one. See
// "Reference Grouping".
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
			// The names of an entry are known only after it is rendered. An entry with the names of the previous one
			// is therefore rendered again.
			if names := r.firstNames.plain(); names != "" && names == before {
				second := p.renderer(w, nil, "bibliography")
				second.replaceNames = &substitute
				out, _ = second.layout(area.child("layout"))
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
