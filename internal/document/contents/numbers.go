package contents

import "strconv"

// PageOf is a place for the page number of an anchor.
type PageOf struct {
	Anchor string
	// indexed is true if the place is in the index, begins if it is the first place of an index entry.
	indexed, begins bool
}

// Numbers returns the text for each place, given the pages of the anchors. A place whose anchor has no page has an
// empty text. So do places of an index entry whose page has been named, or is within a range.
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

// pageTexts returns the texts for the places of one entry. Each page is named once, and
// consecutive pages as a range: "3", ", 7", "–9" for the pages 3, 7, 8 and 9.
func pageTexts(entry []PageOf, pages map[string]int) []string {
	texts := make([]string, len(entry))
	before := 0 // the last page that is named or within a range

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
