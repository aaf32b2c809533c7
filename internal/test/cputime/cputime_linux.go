package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// used is the processor time of this thread.
func used() time.Duration {
	var u unix.Rusage
	// Getrusage fails only for an unknown resource or an invalid address.
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &u)

	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
