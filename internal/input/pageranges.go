package input

import (
	"fmt"
	"strconv"
	"strings"

	"presswork/internal/fault"
)

// The limits of Scale.
const (
	minScale = 0.1
	maxScale = 2
)

// The limits of page ranges.
const (
	maxRanges = 100     // ranges of one option
	maxPage   = 100_000 // the largest page number
)

// Invalid returns the error InvalidOption for an option. The message must name the option and say what is allowed.
func Invalid(name, format string, args ...any) error {
	return fault.Errorf(fault.InvalidOption, "%s", fmt.Sprintf(format, args...)).WithParam("options." + name)
}

// Scale returns the factor that enlarges the text of a page, 0.1 to 2: 1 if value is nil. Errors: InvalidOption.
func Scale(value *float64) (float64, error) {
	if value == nil {
		return 1, nil
	}

	if !(*value >= minScale && *value <= maxScale) { // also rejects NaN
		return 0, Invalid("scale", "scale %v is not allowed; allowed: %v to %v", *value, minScale, maxScale)
	}

	return *value, nil
}

// PageRanges returns the page ranges of the named option without spaces: "1-3,5" for "1-3, 5". The last page of a range
// must not be before its first, and there may be at most 100 ranges. A blank text selects all pages and gives "".
// Errors: InvalidOption.
func PageRanges(name, text string) (string, error) {
	canonical, ok := canonicalRanges(text)
	if !ok {
		return "", Invalid(name,
			`%s %q is not valid; write page numbers and ranges such as "1-3,5"`, name, Short(text))
	}

	return canonical, nil
}

// canonicalRanges returns the ranges without spaces, as "1-3,5". An empty text means all pages.
func canonicalRanges(text string) (canonical string, ok bool) {
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
