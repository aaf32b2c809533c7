//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// watch ends the sandbox when its time is over or when its processes together exceed a limit. The kernel's limits
// apply only to each process. A sandbox that waits for code cannot exceed a limit yet.
func (p *process) watch() {
	l := p.limits

	end := time.NewTimer(l.Wall)
	defer end.Stop()

	if p.used != nil {
		select {
		case <-p.exited:
			return
		case <-end.C:
			p.killForLimit("time", l.Wall.String())
		case <-p.used:
		}
	}

	// Between two checks, the kernel's limits of each process bound what the sandbox can take.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()

	for {
		select {
		case <-p.exited:
			return
		case <-end.C:
			p.killForLimit("time", l.Wall.String())
		case <-tick.C:
			p.checkLimits()
		}
	}
}

// checkLimits ends the sandbox if it exceeds a limit.
func (p *process) checkLimits() {
	p.idle.Lock()
	defer p.idle.Unlock()
	l := p.limits

	n, bytes, files := p.usage(l.Memory)
	switch {
	case bytes > l.Memory:
		p.killForLimit("memory", size(l.Memory))
	case p.allowed > 0 && bytes+files > p.allowed:
		p.killForLimit("memory", size(p.allowed)+" while no code was to run")
	case n > l.Processes+2: // two processes of bwrap
		p.killForLimit("processes", strconv.Itoa(l.Processes))
	case p.inodes() > maxInodes:
		p.killForLimit("files", strconv.Itoa(maxInodes))
	case strings.Count(p.readProc("locks"), "\n") > maxLocks:
		p.killForLimit("locks", strconv.Itoa(maxLocks))
	}
}

// maxLocks is the largest number of file locks in a sandbox. No control group or kernel limit counts their memory.
const maxLocks = 100

// restoreLimits restores the limits of the sandbox for a cell.
func (p *process) restoreLimits() {
	p.idle.Lock()
	p.allowed = 0
	p.idle.Unlock()
}

// idleSlack is how many bytes an idle sandbox may grow, because threads of the last cell may still run.
const idleSlack = 16 << 20

// limitIdle limits the sandbox to the current memory of its processes and files, and returns that limit in bytes.
func (p *process) limitIdle() int64 {
	p.idle.Lock()
	defer p.idle.Unlock()
	_, processes, files := p.usage(p.limits.Memory)
	p.allowed = min(processes+files+idleSlack, p.limits.total())

	return p.allowed
}

// usage returns the number of processes, their memory with that of their sockets, and that of files. Shared pages
// count once for each process that maps them. If that sum exceeds enough, usage divides them among the processes
// (PSS), which takes longer.
func (p *process) usage(enough int64) (n int, sum, files int64) {
	for _, dir := range p.folders {
		var st unix.Statfs_t
		if err := unix.Fstatfs(int(dir.Fd()), &st); err == nil {
			files += int64(st.Blocks-st.Bfree) * st.Bsize
		}
	}

	if _, err := p.procs.Seek(0, io.SeekStart); err != nil {
		return 0, 0, files
	}
	names, _ := p.procs.Readdirnames(-1) // processes that have ended use no memory

	names = slices.DeleteFunc(names, func(name string) bool { return name[0] < '0' || name[0] > '9' })
	for _, name := range names {
		var size, resident int64
		if _, err := fmt.Sscan(p.readProc(name+"/statm"), &size, &resident); err == nil {
			sum += resident * int64(os.Getpagesize())
		}
	}

	sockets := p.sockets() * socketMemory()
	if sum += sockets; sum <= enough {
		return len(names), sum, files
	}
	sum = sockets

	for _, name := range names {
		_, rest, _ := strings.Cut(p.readProc(name+"/smaps_rollup"), "\nPss:")

		var kib int64
		if _, err := fmt.Sscan(rest, &kib); err == nil {
			sum += kib << 10
		}
	}

	return len(names), sum, files
}

// sockets returns the number of sockets in the sandbox's network namespace. It includes sockets that no process
// has open because another socket carries them.
func (p *process) sockets() (n int64) {
	_, _ = fmt.Sscanf(p.readProc("1/net/sockstat"), "sockets: used %d", &n) // 0 once the first process has ended
	return n
}

// socketMemory returns the most kernel memory of one socket in bytes. It is the send buffer, which the filter
// keeps from being raised, and a last message that begins before the buffer is full.
func socketMemory() int64 {
	const usual, message = 212992, 64 << 10

	buffer, err := strconv.ParseInt(sysctl("net/core/wmem_default"), 10, 64)
	if err != nil {
		buffer = usual // the /proc of a container may not have this file
	}

	return buffer + message
}

// maxInodes is the largest number of files in a sandbox. Each takes about 1 KB of kernel memory, even if it is
// empty.
const maxInodes = 20000

// inodes returns the number of files in the writable folders.
func (p *process) inodes() (n uint64) {
	for _, dir := range p.folders {
		var st unix.Statfs_t
		if err := unix.Fstatfs(int(dir.Fd()), &st); err == nil {
			n += st.Files - st.Ffree
		}
	}

	return n
}

// readProc returns up to 16 KB of a file in the sandbox's /proc, or "" if it cannot be read.
func (p *process) readProc(name string) string {
	fd, err := unix.Openat(int(p.procs.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}

	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 16<<10)) // empty if the process has ended

	return string(b)
}
