// Package cputime measures what work costs in tests: a busy machine delays work by
// any time, but makes it use hardly more of a processor.
package cputime

import (
	"runtime"
	"time"
)

// Of returns what work costs that one goroutine does.
func Of(work func()) time.Duration {
	runtime.LockOSThread()

	defer runtime.UnlockOSThread()
	before := used()
	work()

	return used() - before
}
