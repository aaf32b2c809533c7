// Package lazyregexp compiles regular expressions at first use. It is for large expressions, above all those with
// counted repetitions, that most runs never use. Compiling them all took a tenth of the program's start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expr. The function panics if expr is invalid, so a test must
// call it.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
