package bibfile

import (
	"fmt"
	"strings"
)

const (
	// maxUnclosed is the largest bibReader.unclosed.
	maxUnclosed = 20
	// maxExpanded is the largest bibReader.expanded, in bytes.
	maxExpanded = 8 << 20
	// maxProblems is the largest number of entries that cannot be read.
	maxProblems = 10_000
	// maxFields is the largest number of fields of one entry. Further ones are dropped.
	maxFields = 200
)

// tooMuch returns an error if the rest of the file would take too much time or memory.
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
			"its @string abbreviations and crossref fields stand for more than %d MB of text; "+
				"write the values where they are used",
			maxExpanded>>20,
		)
	}

	return nil
}

// lineAt returns the line of an offset from 1. The offset must not be before that of the last call.
func (r *bibReader) lineAt(offset int) int {
	r.line += strings.Count(r.src[r.counted:offset], "\n")
	r.counted = offset

	return r.line
}
