// Package lazyregexp holds regular expressions that are compiled when they are first
// used. It is for the large ones, those with counted repetitions above all, that most
// runs never use: all at once they were a tenth of what it took the program to start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns expr compiled. It panics at its first call if
// expr is wrong, so a test must use it.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
