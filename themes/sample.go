package themes

import (
	_ "embed"
	"slices"
)

//go:embed sample.md
var sample []byte

// Sample returns the Markdown that shows what a theme looks like.
func Sample() []byte { return slices.Clone(sample) }
