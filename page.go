package presswork

import (
	"strconv"
	"strings"
)

// Page is one document ready for the browser: complete HTML that needs nothing
// from outside, and how to put it on paper.
type Page struct {
	HTML  string
	Sheet Sheet
}

// Sheet is what the printer needs beside the HTML. The page's size and
// margins come from its own @page rule; Width and Height are what the browser
// lays out with before it has read that.
type Sheet struct {
	// Width and Height are in inches.
	Width, Height float64
	// Scale is 0.1 to 2; 0 means 1.
	Scale float64
	// PageRanges is "1-3,5"; empty prints all.
	PageRanges string
	// Tagged writes the structure tree, Outline the bookmarks (which need it).
	Tagged, Outline bool
}

// The limits of page ranges.
const (
	maxRanges = 100
	maxPage   = 100_000
)

// PageRanges checks page ranges such as "1-3, 5", each rising and at most 100 of
// them, and writes them without spaces. Blank is all pages, and "".
func PageRanges(text string) (canonical string, ok bool) {
	if strings.TrimSpace(text) == "" {
		return "", true
	}
	var ranges []string
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.Atoi(strings.TrimSpace(first))
		b, errB := strconv.Atoi(strings.TrimSpace(last))
		if errA != nil || errB != nil || a < 1 || b < a || b > maxPage || len(ranges) == maxRanges {
			return "", false
		}
		if a == b {
			ranges = append(ranges, strconv.Itoa(a))
		} else {
			ranges = append(ranges, strconv.Itoa(a)+"-"+strconv.Itoa(b))
		}
	}
	return strings.Join(ranges, ","), true
}
