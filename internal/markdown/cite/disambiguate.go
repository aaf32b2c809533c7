package cite

import "strings"

// disambiguate gives works that would be cited alike what distinguishes them, in
// the order that CSL has: names, given names, conditions, suffixes of the year.
func (p *processor) disambiguate() {
	options := p.style.citation.attr
	p.seen = map[string]bool{}
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

	for _, group := range p.alike() {
		for _, w := range group {
			w.ambiguous = true
		}
	}

	if options["disambiguate-add-year-suffix"] == "true" {
		for _, group := range p.alike() {
			for i, w := range group {
				w.suffix = i + 1
			}
		}
	}
}

// alike groups the works whose citations are equal.
func (p *processor) alike() [][]*work {
	byText := map[string][]*work{}
	var texts []string

	for _, w := range p.order {
		cite := Cite{Key: w.item.ID}
		out, _ := p.renderer(w, &cite, "citation").all(p.style.citation.child("layout").kids, "")
		text := out.plain()
		p.charge(len(text)) // also for the memory

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

// maxAdded is how many names are added to tell works apart.
const maxAdded = 12

// addNames writes more names of works that are alike, as many as tell them apart.
func (p *processor) addNames() {
	useful := map[*work]int{}
	size := func() map[*work]int {
		sizes := map[*work]int{}

		for _, group := range p.alike() {
			for _, w := range group {
				sizes[w] = len(group)
			}
		}

		return sizes
	}

	before := size()
	for range maxAdded {
		if len(before) == 0 {
			break
		}

		for w := range before {
			w.names++
		}

		after := size()
		for w, n := range before {
			if after[w] < n {
				useful[w] = w.names
			}
		}
		before = after
	}

	for w := range before {
		w.names = useful[w]
	}
}

// addGiven writes the given names that tell works apart, one name after the other.
func (p *processor) addGiven() {
	for _, group := range p.alike() {
		told := false
		for at := 0; at < maxAdded && !told; at++ {
			for level := 1; level <= 2 && !told; level++ {
				texts := map[string]bool{}

				for _, w := range group {
					if w.given == nil {
						w.given = map[int]int{}
					}
					w.given[at] = level
					cite := Cite{Key: w.item.ID}
					out, _ := p.renderer(w, &cite, "citation").all(p.style.citation.child("layout").kids, "")
					text := out.plain()
					p.charge(len(text))
					texts[text] = true
				}

				told = len(texts) == len(group)
				if len(texts) == 1 && level == 2 { // of no use
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

// distinguishNames writes more of the names of different people with one family
// name, for the rules that look at names rather than citations.
func (p *processor) distinguishNames(rule string) {
	type person struct{ particle, family string }
	people := map[person]map[string]bool{}
	initials := map[person]map[string]int{} // how many given names begin with them
	initial := func(given string) string { return strings.ToLower(given[:min(1, len(given))]) }
	each := func(f func(w *work, at int, n Name)) {
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
	each(func(_ *work, _ int, n Name) {
		who := person{n.NonDropping, n.Family}
		if people[who] == nil {
			people[who], initials[who] = map[string]bool{}, map[string]int{}
		}

		if !people[who][n.Given] {
			people[who][n.Given] = true
			initials[who][initial(n.Given)]++
		}
	})
	each(func(w *work, at int, n Name) {
		who := person{n.NonDropping, n.Family}
		if len(people[who]) < 2 {
			return
		}

		level := 1
		if initials[who][initial(n.Given)] > 1 {
			level = 2
		}

		if strings.HasSuffix(rule, "with-initials") {
			if level == 2 {
				return // initials would not tell them apart
			}
			level = 1
		}

		if w.given == nil {
			w.given = map[int]int{}
		}
		w.given[at] = level
	})
}
