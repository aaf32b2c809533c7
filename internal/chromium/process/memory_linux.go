package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// groupMemory returns the memory of the process group in bytes. Shared pages count once (PSS) where the kernel shows
// that, and not at all elsewhere. A process that ends meanwhile counts as 0.
func groupMemory(pgid int) int64 {
	var sum int64

	for _, pid := range groupMembers(pgid) {
		n, ok := pssBytes(pid)
		if !ok {
			n = privateBytes(pid)
		}
		sum += n
	}

	return sum
}

// groupMemoryBound returns an upper bound of groupMemory at a fraction of its cost: shared
// pages count for each process.
func groupMemoryBound(pgid int) (sum int64) {
	for _, pid := range groupMembers(pgid) {
		resident, _ := residentBytes(pid)
		sum += resident
	}

	return sum
}

// largeRenderer returns the id of a renderer of the group that has more than limit bytes
// to itself, or 0.
func largeRenderer(pgid int, limit int64) int {
	for _, pid := range groupMembers(pgid) {
		if privateBytes(pid) <= limit {
			continue
		}

		cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.Contains(cmdline, []byte("--type=renderer")) {
			return pid
		}
	}

	return 0
}

// groupMembers returns the ids of the group's running processes.
func groupMembers(pgid int) []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // a partial list is better than none
	var pids []int

	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		// Ask for the group first: this is one system call per process of the machine, and reading its state takes
		// four more.
		if group, err := syscall.Getpgid(pid); err != nil || group != pgid {
			continue
		}

		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// The state follows the name in brackets; Z is a zombie. The name itself may contain brackets.
		if !bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z")) {
			pids = append(pids, pid)
		}
	}

	return pids
}

// groupExited reports whether no process of the group runs. A zombie that its new parent
// has not reaped yet does not count.
func groupExited(pgid int) bool {
	return syscall.Kill(-pgid, 0) == syscall.ESRCH || len(groupMembers(pgid)) == 0
}

// pssBytes returns the proportional set size of a process in bytes, if the kernel shows it. That is the size of its own
// pages, and its share of those that several processes have.
func pssBytes(pid int) (int64, bool) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, false
	}

	_, rest, ok := bytes.Cut(rollup, []byte("\nPss:"))
	if !ok {
		return 0, false
	}

	var kib int64
	if _, err := fmt.Sscan(string(rest), &kib); err != nil {
		return 0, false
	}

	return kib << 10, true
}

// privateBytes returns the memory, in bytes, that a process shares with no other.
func privateBytes(pid int) int64 {
	resident, shared := residentBytes(pid)
	return resident - shared
}

// residentBytes returns the memory of a process in RAM, and the shared part of it, in bytes. Both are 0 if the process
// has ended.
func residentBytes(pid int) (all, shared int64) {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, 0
	}

	var size int64
	if _, err := fmt.Sscan(string(statm), &size, &all, &shared); err != nil {
		return 0, 0
	}
	page := int64(os.Getpagesize())

	return all * page, shared * page
}
