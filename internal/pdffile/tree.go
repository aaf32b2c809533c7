package pdffile

import (
	"bytes"
	"regexp"
	"strconv"
)

// Outline lists the entries in reading order. It tolerates an outline that is
// no tree.
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

// HeadingLevel is that of a structure element; 0 if it is no heading.
func (f *File) HeadingLevel(element []byte) int {
	n, ok := f.Object(element)
	if !ok {
		return 0
	}

	rest, ok := bytes.CutPrefix(bytes.TrimPrefix(f.Objects[n], StructElement), []byte("/S /H"))
	if !ok {
		return 0
	}
	level, _ := strconv.Atoi(string(rest[:TokenLength(rest)])) // 0 of other types

	return level
}

// StructElement begins every element of the structure tree.
var StructElement = []byte("<</Type /StructElem\n")

var (
	// NodeID matches the id of a structure element.
	NodeID = regexp.MustCompile(`/ID \((node\d+)\)`)
	// NodeHeaders matches the ids that a table cell has of its headers.
	NodeHeaders = regexp.MustCompile(`/Headers \[([^\]]*)\]`)
)
