package markdown

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"presswork/internal/fault"
)

// lineIndex finds the line of a byte offset.
type lineIndex struct {
	first  int
	breaks []int
	// of are the lines, counted from 0, where the lines of a text with includes
	// come from; nil: it has none.
	of []int
	// behind are offsets from size on, behind the source, in order, each with the
	// one in it that stands for it: the cells of tables that are drawn.
	behind [][2]int
	size   int
}

func newLineIndex(src []byte, first int) lineIndex {
	x := lineIndex{first: first, breaks: make([]int, 0, bytes.Count(src, []byte{'\n'}))}
	for i, c := range src {
		if c == '\n' {
			x.breaks = append(x.breaks, i)
		}
	}

	return x
}

// at returns the line of an offset, 0 for a negative one.
func (x lineIndex) at(offset int) int {
	if offset < 0 {
		return 0
	}

	if len(x.behind) > 0 && offset >= x.size {
		i := sort.Search(len(x.behind), func(i int) bool { return x.behind[i][0] > offset })
		offset = x.behind[max(i-1, 0)][1]
	}

	return x.line(sort.SearchInts(x.breaks, offset))
}

// line returns the line of the source for the i-th of the text, from 0.
func (x lineIndex) line(i int) int {
	if x.of != nil {
		i = x.of[min(i, len(x.of)-1)]
	}

	return x.first + i
}

// maxWarnings keeps a hostile document from filling the job record.
const maxWarnings = 100

// sortedWarnings gives the warnings in source order.
func (d *draft) sortedWarnings() []fault.Warning {
	slices.SortStableFunc(d.warnings, func(a, b fault.Warning) int { return cmp.Compare(a.Line, b.Line) })
	return d.warnings[:min(len(d.warnings), maxWarnings)]
}
