package input

import (
	"strconv"
	"strings"
)

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
