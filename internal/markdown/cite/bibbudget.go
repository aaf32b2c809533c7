package cite

import (
	"fmt"
	"strings"
)

const (
	// maxUnclosed bounds bibReader.unclosed, maxExpanded bibReader.expanded.
	maxUnclosed = 20
	maxExpanded = 8 << 20
	// maxProblems bounds the entries that cannot be read, maxFields the fields of one.
	maxProblems = 10_000
	maxFields   = 200
)

// tooMuch returns an error when reading on would take too long or too much memory.
func (r *bibReader) tooMuch() error {
	switch {
	case len(r.entries) > maxItems:
		return fmt.Errorf("it has more than %d works", maxItems)
	case len(r.problems) > maxProblems:
		return fmt.Errorf(
			"over %d of its entries cannot be read; the first, in line %d: %s",
			maxProblems,
			r.problems[0].Line,
			r.problems[0].Text,
		)
	case r.unclosed > maxUnclosed:
		return fmt.Errorf(
			"over %d of its brackets or quotation marks are not closed; the first, in line %d: %s",
			maxUnclosed,
			r.problems[0].Line,
			r.problems[0].Text,
		)
	case r.expanded > maxExpanded:
		return fmt.Errorf(
			"its @string abbreviations and crossref fields stand for more than %d MB of text; write the values where they are used",
			maxExpanded>>20,
		)
	}

	return nil
}

// lineAt returns the line of an offset, which is not before that of the last call.
func (r *bibReader) lineAt(offset int) int {
	r.line += strings.Count(r.src[r.counted:offset], "\n")
	r.counted = offset

	return r.line
}
