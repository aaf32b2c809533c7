package themes

import (
	_ "embed"
	"slices"
)

//go:embed sample.md
var sample []byte

// Sample returns the Markdown of the document that shows what a theme looks like, as a copy.
func Sample() []byte { return slices.Clone(sample) }
