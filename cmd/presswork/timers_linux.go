package main

import (
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	usualSlack = 50 * time.Microsecond // the kernel's default
	slack      = 500 * time.Microsecond
)

// relaxTimers lets the timers of a server be late by slack. Go's monitor of its threads
// wakes every 20 µs, and the kernel's 50, while they work: an eighth of what a server burns
// on small documents. Threads inherit the slack of the one that makes them, and the monitor
// is there before any code of ours, so the program begins anew. What a service manager has set
// (TimerSlackNSec=) stays. See prctl(2), PR_SET_TIMERSLACK.
func relaxTimers() {
	if len(os.Args) < 2 || !slices.Contains([]string{"serve", "api", "worker"}, os.Args[1]) {
		return
	}
	runtime.LockOSThread() // it is set for the thread that begins anew
	defer runtime.UnlockOSThread()
	if timerSlack() != usualSlack {
		return
	}
	self, err := os.Executable()
	if err == nil && unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0) == nil && timerSlack() == slack {
		_ = syscall.Exec(self, os.Args, os.Environ()) // else it goes on as it is
	}
}

// timerSlack is this thread's, -1 where it is not known.
func timerSlack() time.Duration {
	now, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return -1
	}
	return time.Duration(now)
}
