package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// used is the processor time of this thread.
func used() time.Duration {
	var u unix.Rusage
	// It fails for what is no resource or no address.
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &u)

	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
