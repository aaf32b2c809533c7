package source

import (
	"bytes"
	"sort"
)

// Lines finds the line of the file for an offset of a text.
type Lines struct {
	first  int   // the number of the first line in the file
	breaks []int // the offsets of the line ends
	// from has the line of the file, counted from 0, for each line of the text; nil if they are the same.
	from []int
	// moved has pairs of an offset in the appended text, in order, and the offset in the text whose line it has.
	moved [][2]int
	size  int // of the text, without what Append describes
}

// newLines returns the Lines of a text whose first line is line first of its file. from is as in Lines.
func newLines(text []byte, first int, from []int) *Lines {
	x := &Lines{first: first, from: from, breaks: make([]int, 0, bytes.Count(text, []byte{'\n'})), size: len(text)}
	for i, c := range text {
		if c == '\n' {
			x.breaks = append(x.breaks, i)
		}
	}

	return x
}

// Append sets the lines of text that a parser appends to the size bytes of the source. Each pair is an offset in the
// appended text, in order, and an offset in the source whose line it gets.
func (x *Lines) Append(size int, pairs [][2]int) { x.size, x.moved = size, pairs }

// At returns the line of an offset, from 1, and 0 for a negative offset.
func (x *Lines) At(offset int) int {
	if offset < 0 {
		return 0
	}

	if len(x.moved) > 0 && offset >= x.size {
		i := sort.Search(len(x.moved), func(i int) bool { return x.moved[i][0] > offset })
		offset = x.moved[max(i-1, 0)][1]
	}

	return x.Line(sort.SearchInts(x.breaks, offset))
}

// Line returns the line of the file, from 1, for line i of the text, from 0.
func (x *Lines) Line(i int) int {
	if x.from != nil {
		i = x.from[min(i, len(x.from)-1)]
	}

	return x.first + i
}

// LineEnd returns the offset after the line that at is on, its \n included.
func LineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}

	return len(text)
}
