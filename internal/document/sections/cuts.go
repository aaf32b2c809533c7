package sections

// starts returns the indexes of the blocks that begin sections, in order; the first is 0. A section begins after a
// forced page break once the section before it has leastSection. must allows cuts at headings, for a document that is
// too large to print at once.
func starts(blocks []piece, must bool) []int {
	starts, sizes := []int{0}, []int{0} // sizes[i] is the size of all blocks before block i
	for i, b := range blocks {
		sizes = append(sizes, sizes[i]+len(b.HTML))

		from := starts[len(starts)-1]
		switch {
		case i == 0:
		case endsPage(blocks, i) && (b.Leaf || sizes[i]-sizes[from] >= leastSection):
			starts = append(starts, i)
		case must && blocks[i-1].Contents && longEnough(blocks[:i]) && (!b.Contents || longEnough(blocks[from:i])):
			starts = append(starts, i)
		case must && sizes[i+1]-sizes[from] > usualSection && !b.PageBreak: // a page break would end an empty page
			best := i
			for n := i; n > from && sizes[n]-sizes[from] >= usualSection/2; n-- {
				if rank(blocks, n) < rank(blocks, best) {
					best = n
				}
			}

			for best > from && blocks[best-1].Heading > 0 && !endsPage(blocks, best) {
				best-- // a heading stays with the text below it
			}

			if best > from {
				starts = append(starts, best)
			}
		}
	}

	return starts
}

// longEnough reports whether blocks end with contents that are worth a section of their own.
func longEnough(blocks []piece) bool {
	size := 0
	for i := len(blocks) - 1; i >= 0 && blocks[i].Contents; i-- {
		size += len(blocks[i].HTML)
	}

	return size >= longContents
}

// endsPage reports whether a page always ends before block i. Except before chapters, it returns false for an anchor
// without text and next to an empty page.
func endsPage(blocks []piece, i int) bool {
	if blocks[i].Leaf || blocks[i].Chapter {
		return !blocks[i-1].Leaf
	}

	return blocks[i-1].Breaks && !blocks[i].Breaks && (i == 1 || !blocks[i-2].Breaks) && !blocks[i].Anchor
}

// rank orders the blocks at which a section may begin. The lowest rank is the best.
func rank(blocks []piece, i int) int {
	const none = 7 // after headings of all levels

	switch {
	case endsPage(blocks, i):
		return 0
	case blocks[i].Heading > 0 && blocks[i-1].Heading == 0:
		return blocks[i].Heading
	}

	return none
}
