package pdffile

import (
	"bytes"
	"fmt"
	"strconv"
)

// Outline returns the object numbers of the outline's entries in reading order. It visits each entry once, even if
// the outline is not a valid tree.
func (f *File) Outline(catalog Dict) (entries []int) {
	seen := map[int]bool{}

	for todo := [][]byte{catalog.Get("Outlines")}; len(todo) > 0; {
		n, ok := f.Object(todo[len(todo)-1])
		todo = todo[:len(todo)-1]

		if !ok || seen[n] {
			continue
		}
		seen[n] = true

		d, _, err := ReadDict(f.Objects[n])
		if err != nil {
			continue
		}

		if d.Get("Title") != nil {
			entries = append(entries, n)
		}
		todo = append(todo, d.Get("Next"), d.Get("First"))
	}

	return entries
}

// HeadingLevel returns the level, from 1, of the heading that element refers to. It returns 0 for any other structure
// element.
func (f *File) HeadingLevel(element []byte) int {
	n, ok := f.Object(element)
	if !ok {
		return 0
	}

	rest, ok := bytes.CutPrefix(bytes.TrimPrefix(f.Objects[n], StructElement), []byte("/S /H"))
	if !ok {
		return 0
	}
	level, _ := strconv.Atoi(string(rest[:TokenLength(rest)])) // 0 for other types

	return level
}

// StructElement begins every element of the structure tree, as Chromium writes it.
var StructElement = []byte("<</Type /StructElem\n")

// HeadingOrder checks that no level of headings is skipped, which PDF/UA-1 forbids (ISO 14289-1, 7.4.2). The zero value
// is ready. A copy is a snapshot.
type HeadingOrder struct {
	level int // of the last heading
	// Problem describes, in words for the author, the first heading whose level does not follow from those before it.
	// It is "" if there is none.
	Problem string
}

// Add takes the type of the next structure element in reading order, such as "H2". It ignores other types.
func (o *HeadingOrder) Add(kind string) {
	if len(kind) != 2 || kind[0] != 'H' || kind[1] < '1' || kind[1] > '6' {
		return
	}
	level := int(kind[1] - '0')

	switch {
	case o.Problem != "" || level <= o.level+1:
	case o.level == 0:
		o.Problem = fmt.Sprintf("the first heading is of level %d, not 1", level)
	default:
		o.Problem = fmt.Sprintf("a heading of level %d follows one of level %d", level, o.level)
	}
	o.level = level
}
