// Package cputime measures the processor time of work in tests. A busy machine delays work, but hardly changes its
// processor time.
package cputime

import (
	"runtime"
	"time"
)

// Of returns the processor time of work that one goroutine does.
func Of(work func()) time.Duration {
	runtime.LockOSThread()

	defer runtime.UnlockOSThread()
	before := used()
	work()

	return used() - before
}
