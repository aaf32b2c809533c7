package bibfile

import (
	"fmt"
	"strings"
)

const (
	// maxUnclosed bounds bibReader.unclosed, the number of times that the file is read to its end.
	maxUnclosed = 20
	// maxExpanded bounds bibReader.expanded, in bytes: a short file can use a long abbreviation many times.
	maxExpanded = 8 << 20
	// maxProblems is the largest number of entries that cannot be read.
	maxProblems = 10_000
	// maxFields is the largest number of fields of one entry. Further ones are dropped.
	maxFields = 200
)

// checkLimits returns an error for the author if the file exceeds a limit, so that its rest is not read.
func (r *bibReader) checkLimits() error {
	switch {
	case len(r.entries) > maxItems:
		return fmt.Errorf("it has more than %d works", maxItems)
	case len(r.problems) > maxProblems:
		return fmt.Errorf("over %d of its entries cannot be read; the first, in line %d: %s",
			maxProblems, r.problems[0].Line, r.problems[0].Text)
	case r.unclosed > maxUnclosed:
		return fmt.Errorf("over %d of its brackets or quotation marks are not closed; the first, in line %d: %s",
			maxUnclosed, r.problems[0].Line, r.problems[0].Text)
	case r.expanded > maxExpanded:
		return fmt.Errorf("its @string abbreviations and crossref fields stand for more than %d MB of text; "+
			"write the values where they are used", maxExpanded>>20)
	}

	return nil
}

// lineAt returns the line, from 1, of an offset. The offset must not be before that of the last call, from which it
// counts on.
func (r *bibReader) lineAt(offset int) int {
	r.line += strings.Count(r.src[r.counted:offset], "\n")
	r.counted = offset

	return r.line
}
