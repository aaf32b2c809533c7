package pdffile

import (
	"fmt"
	"slices"
)

// AddPageTree adds a page tree for the given page objects and returns its root. leaves must not be empty. AddPageTree
// sets the parent of each page; the caller sets the entry Pages of the catalog. Each node has few branches, so that
// readers find a page quickly.
func (f *File) AddPageTree(leaves []int) int {
	const branches = 64

	nodes, counts := leaves, slices.Repeat([]int{1}, len(leaves))
	for first := true; first || len(nodes) > 1; first = false {
		var above, sums []int

		for group := range slices.Chunk(nodes, branches) {
			sum := 0
			for _, c := range counts[:len(group)] {
				sum += c
			}
			counts = counts[len(group):]
			kids := make([]string, len(group))
			number := f.Add(nil)

			for i, n := range group {
				kids[i] = RefTo(n)
				f.SetEntry(n, "Parent", RefTo(number))
			}
			f.Objects[number] = fmt.Appendf(nil, "<</Type /Pages\n/Count %d\n/Kids %s>>", sum, kids)
			above, sums = append(above, number), append(sums, sum)
		}
		nodes, counts = above, sums
	}

	return nodes[0]
}

// SetEntry sets an entry of an object that is a dictionary or a stream. It ignores any other object.
func (f *File) SetEntry(number int, key, value string) {
	if d, rest, err := ReadDict(f.Objects[number]); err == nil {
		d.Set(key, value)
		f.Objects[number] = append(d.Bytes(), rest...)
	}
}
