package contents

import "strconv"

// PageOf is a place that the page number of an anchor goes into.
type PageOf struct {
	Anchor string
	// indexed reports whether it is a place in the index, begins whether it is the
	// first of an entry.
	indexed, begins bool
}

// Numbers are the texts of places for page numbers, given the pages of the anchors.
func Numbers(places []PageOf, pages map[string]int) (texts []string) {
	for i := 0; i < len(places); {
		end := i + 1
		for places[i].indexed && end < len(places) && places[end].indexed && !places[end].begins {
			end++
		}
		texts = append(texts, pageTexts(places[i:end], pages)...)
		i = end
	}

	return texts
}

// pageTexts are the page numbers of one entry: each page once, and those that follow
// one another as a range.
func pageTexts(entry []PageOf, pages map[string]int) []string {
	texts := make([]string, len(entry))
	before := 0 // the page before

	for i, e := range entry {
		page := pages[e.Anchor]
		if page == 0 || page == before {
			continue
		}

		next := 0 // the page after it
		for _, later := range entry[i:] {
			if next = pages[later.Anchor]; next > page {
				break
			}
		}

		switch {
		case before == 0:
			texts[i] = strconv.Itoa(page)
		case page != before+1:
			texts[i] = ", " + strconv.Itoa(page)
		case next != page+1:
			texts[i] = "–" + strconv.Itoa(page)
		}
		before = page
	}

	return texts
}
