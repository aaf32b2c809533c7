//go:build !linux

package cputime

import "time"

// used returns the elapsed time, because not every system counts the time of a thread.
func used() time.Duration { return time.Duration(time.Now().UnixNano()) }
