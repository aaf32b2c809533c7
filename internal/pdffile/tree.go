package pdffile

import (
	"bytes"
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

// HeadingLevel returns the level of the structure element that a reference names, or 0 if it is not a heading.
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

// StructElement begins every element of the structure tree.
var StructElement = []byte("<</Type /StructElem\n")
