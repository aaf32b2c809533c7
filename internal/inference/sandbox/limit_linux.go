//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// setLimits sets the kernel's limits of a process, and its priority below this one.
func setLimits(pid int, l Limits) error {
	cpu := uint64(max(1, l.CPU/time.Second))
	for _, r := range []struct {
		resource int
		n        uint64
	}{
		// Address space exceeds memory: libraries reserve space that they never use.
		{unix.RLIMIT_AS, uint64(l.Memory) + addressSlack},
		{unix.RLIMIT_CPU, cpu},
		{unix.RLIMIT_NPROC, uint64(l.Processes)},
		// Programs expect the error of a full folder, but not this signal.
		{unix.RLIMIT_FSIZE, uint64(l.Disk) + 4096},
		{unix.RLIMIT_NOFILE, 128},
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_MSGQUEUE, 0},
		{unix.RLIMIT_MEMLOCK, 0},
	} {
		if err := unix.Prlimit(pid, r.resource, &unix.Rlimit{Cur: r.n, Max: r.n}, nil); err != nil {
			return fmt.Errorf("set a limit: %w", err)
		}
	}
	// The call returns 20 minus the niceness, so that it is never negative.
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return fmt.Errorf("read the priority: %w", err)
	}

	if err := unix.Setpriority(unix.PRIO_PROCESS, pid, min(20-raw+niceness, 19)); err != nil {
		return fmt.Errorf("set the priority: %w", err)
	}

	return nil
}

const (
	addressSlack = 256 << 20 // bytes of address space in addition to Limits.Memory
	niceness     = 5         // added to the niceness of this process
)
