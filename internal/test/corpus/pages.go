package main

import (
	"html"
	"regexp"
	"strconv"
)

// The sheet of every document. It is fixed, so that the empty share of a page does not depend on the front matter.
const (
	sheetHeight = 297.0 // mm
	sheetMargin = "20mm"
	margin      = 20.0 // sheetMargin in mm
	resolution  = 36   // pixels per inch: a row is half a line of text
)

// Pages counts the pages of some prints. Gap15 and Gap33 leave out the last page of a document.
type Pages struct {
	All int `json:"all"`
	// Slivers counts pages with ink in less than 5 % of the height of their text area.
	Slivers int `json:"slivers"`
	// Gap15 and Gap33 count pages that are empty at the end for more than 15 and 33 %.
	Gap15 int `json:"gap_15"`
	Gap33 int `json:"gap_33"`
}

// add adds the counts of o to p.
func (p *Pages) add(o Pages) {
	p.All += o.All
	p.Slivers += o.Slivers
	p.Gap15 += o.Gap15
	p.Gap33 += o.Gap33
}

// countPages counts the pages of one print. The last page may be a sliver, for example a line that would have fitted on
// the page before. worst is the number of the page with the most empty space at its end, and emptiest is that share of
// the page. They leave out the last page.
func countPages(pages [][]bool) (p Pages, worst int, emptiest float64) {
	p.All = len(pages)
	for n, rows := range pages {
		inked, gap := area(rows)

		last := n == len(pages)-1
		if inked < .05 && len(pages) > 1 {
			p.Slivers++
		}

		if last {
			continue
		}

		if gap > .15 {
			p.Gap15++
		}

		if gap > .33 {
			p.Gap33++
		}

		if gap > emptiest {
			worst, emptiest = n+1, gap
		}
	}

	return p, worst, emptiest
}

// area returns the share of the rows of the text area that have ink, and the share at its end that is empty.
func area(rows []bool) (inked, gap float64) {
	at := func(mm float64) int { return int(mm / sheetHeight * float64(len(rows))) }
	text := rows[at(margin) : len(rows)-at(margin)]
	count, end := 0, 0

	for y, ink := range text {
		if ink {
			count++
			end = y + 1
		}
	}
	height := float64(len(text))

	return float64(count) / height, 1 - float64(end)/height
}

// box matches the width of a page, or the sides and the text of a word, in the output of `pdftotext -bbox`.
var box = regexp.MustCompile(
	`<page width="([\d.]+)"|<word xMin="(-?[\d.]+)" yMin="[^"]*" xMax="(-?[\d.]+)" yMax="[^"]*">([^<]*)</word>`,
)

// outsideMargins returns the words in the output of `pdftotext -bbox` that extend beyond the left or right side of the
// text area by more than hanging punctuation.
func outsideMargins(boxes string) (words []string) {
	const points = 72 / 25.4 // per millimetre
	const hanging = 12.5 * points
	number := func(s string) float64 { x, _ := strconv.ParseFloat(s, 64); return x }

	width := 0.0
	for _, m := range box.FindAllStringSubmatch(boxes, -1) {
		if m[1] != "" {
			width = number(m[1])
		} else if number(m[2]) < margin*points-hanging || number(m[3]) > width-margin*points+hanging {
			words = append(words, html.UnescapeString(m[4]))
		}
	}

	return words
}
