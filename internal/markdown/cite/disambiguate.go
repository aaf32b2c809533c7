package cite

import (
	"strings"

	"presswork/internal/markdown/cite/bibfile"
)

// disambiguate distinguishes works with equal citations by the methods that the style allows. Their order
// is more names, given names, the condition "disambiguate", suffixes of the year. See "Disambiguation".
func (p *processor) disambiguate() {
	options := p.style.citation.attr
	rule := options["givenname-disambiguation-rule"]
	byCite := rule == "" || rule == "by-cite"

	given := options["disambiguate-add-givenname"] == "true"
	if given && !byCite {
		p.distinguishNames(rule)
	}

	if options["disambiguate-add-names"] == "true" {
		p.addNames()
	}

	if given && byCite {
		p.addGiven()
	}

	for _, group := range p.withEqualCitations() {
		for _, w := range group {
			w.ambiguous = true
		}
	}

	if options["disambiguate-add-year-suffix"] == "true" {
		for _, group := range p.withEqualCitations() {
			for i, w := range group {
				w.suffix = i + 1
			}
		}
	}
}

// withEqualCitations returns the groups of works with equal citations. It renders all works, so its result changes with
// every method that has been applied.
func (p *processor) withEqualCitations() [][]*work {
	byText := map[string][]*work{}
	var texts []string

	for _, w := range p.order {
		text := p.plainCitation(w)
		if byText[text] == nil {
			texts = append(texts, text)
		}
		byText[text] = append(byText[text], w)
	}
	var groups [][]*work

	for _, text := range texts {
		if len(byText[text]) > 1 {
			groups = append(groups, byText[text])
		}
	}

	return groups
}

// plainCitation returns the citation of a work as a reader sees it, without a locator. It charges for the text, which
// the caller keeps in memory.
func (p *processor) plainCitation(w *work) string {
	cite := Cite{Key: w.item.ID}
	out, _ := p.renderer(w, &cite, "citation").elements(p.style.citation.child("layout").children, "")
	text := out.plain()
	p.charge(len(text))

	return text
}

// maxAdded is the largest number of names, or of given names, that are added to distinguish works.
const maxAdded = 12

// addNames adds names to works with equal citations, one at a time (disambiguate-add-names). It removes names that do
// not distinguish a work from another.
func (p *processor) addNames() {
	useful := map[*work]int{} // the number of names that made the group of a work smaller
	groupSizes := func() map[*work]int {
		sizes := map[*work]int{}

		for _, group := range p.withEqualCitations() {
			for _, w := range group {
				sizes[w] = len(group)
			}
		}

		return sizes
	}

	before := groupSizes()
	for range maxAdded {
		if len(before) == 0 {
			break
		}

		for w := range before {
			w.names++
		}

		after := groupSizes()
		for w, n := range before {
			if after[w] < n {
				useful[w] = w.names
			}
		}
		before = after
	}

	// Names that did not distinguish a work only make its citation longer.
	for w := range before {
		w.names = useful[w]
	}
}

// addGiven adds given names to works with equal citations, one name after the other: initials first, then the full
// name. It drops a given name that is the same in all works (disambiguate-add-givenname, rule "by-cite").
func (p *processor) addGiven() {
	for _, group := range p.withEqualCitations() {
		distinct := false
		for at := 0; at < maxAdded && !distinct; at++ {
			for level := 1; level <= 2 && !distinct; level++ {
				texts := map[string]bool{}

				for _, w := range group {
					if w.given == nil {
						w.given = map[int]int{}
					}
					w.given[at] = level
					texts[p.plainCitation(w)] = true
				}

				distinct = len(texts) == len(group)
				if len(texts) == 1 && level == 2 { // the name is the same in all works
					for _, w := range group {
						delete(w.given, at)
					}
				} else if len(texts) > 1 {
					break
				}
			}
		}
	}
}

// distinguishNames adds given names to different people with the same family name, even if their citations differ. It
// implements the rules "all-names" and "primary-name" of givenname-disambiguation-rule, and their variants
// "with-initials".
func (p *processor) distinguishNames(rule string) {
	type person struct{ particle, family string }
	people := map[person]map[string]bool{}  // the given names of each family name
	initials := map[person]map[string]int{} // the number of given names with an initial
	initial := func(given string) string { return strings.ToLower(given[:min(1, len(given))]) }
	each := func(f func(w *work, at int, n bibfile.Name)) {
		for _, w := range p.order {
			p.step()

			names := w.item.Names["author"]
			if len(names) == 0 {
				names = w.item.Names["editor"]
			}

			if strings.HasPrefix(rule, "primary-name") && len(names) > 1 {
				names = names[:1]
			}

			for at, n := range names {
				p.charge(1)

				if n.Family != "" {
					f(w, at, n)
				}
			}
		}
	}
	each(func(_ *work, _ int, n bibfile.Name) {
		key := person{n.NonDropping, n.Family}
		if people[key] == nil {
			people[key], initials[key] = map[string]bool{}, map[string]int{}
		}

		if !people[key][n.Given] {
			people[key][n.Given] = true
			initials[key][initial(n.Given)]++
		}
	})
	each(func(w *work, at int, n bibfile.Name) {
		key := person{n.NonDropping, n.Family}
		if len(people[key]) < 2 {
			return
		}

		level := 1
		if initials[key][initial(n.Given)] > 1 {
			level = 2
		}

		if strings.HasSuffix(rule, "with-initials") {
			if level == 2 {
				return // the initials are equal
			}
			level = 1
		}

		if w.given == nil {
			w.given = map[int]int{}
		}
		w.given[at] = level
	})
}
