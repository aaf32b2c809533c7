// Package lazyregexp compiles regular expressions at first use. Variables of packages hold no other expressions: most
// runs use few, and compiling all of them took a sixth of the program's start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expr. The function panics if expr is invalid. A test of the root
// package compiles the literals.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
