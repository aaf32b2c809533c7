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

// watch ends the sandbox when its processes together are over a limit, which the
// kernel's limits on each do not see, or when its time is over. One that waits for code
// has nothing yet that could be over a limit.
func (p *process) watch(l Limits) {
	end := time.NewTimer(l.Wall)
	defer end.Stop()
	if p.used != nil {
		select {
		case <-p.exited:
			return
		case <-end.C:
			p.exceed("time", l.Wall.String())
		case <-p.used:
		}
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.exited:
			return
		case <-end.C:
			p.exceed("time", l.Wall.String())
		case <-tick.C:
			n, bytes := p.usage(l.Memory)
			if bytes > l.Memory {
				p.exceed("memory", fmt.Sprintf("%d MiB", l.Memory>>20))
			} else if n > l.Processes+2 { // bwrap's own
				p.exceed("processes", strconv.Itoa(l.Processes))
			} else if p.inodes() > maxInodes {
				p.exceed("files", strconv.Itoa(maxInodes))
			}
		}
	}
}

// usage is the number of processes and their memory. Shared pages count once for
// each that has them, unless that would be more than enough.
func (p *process) usage(enough int64) (n int, sum int64) {
	if _, err := p.procs.Seek(0, io.SeekStart); err != nil {
		return 0, 0
	}
	names, _ := p.procs.Readdirnames(-1) // what ended meanwhile is not missed
	names = slices.DeleteFunc(names, func(name string) bool { return name[0] < '0' || name[0] > '9' })
	for _, name := range names {
		var size, resident int64
		if _, err := fmt.Sscan(p.proc(name+"/statm"), &size, &resident); err == nil {
			sum += resident * int64(os.Getpagesize())
		}
	}
	if sum <= enough {
		return len(names), sum
	}
	sum = 0
	for _, name := range names {
		_, rest, _ := strings.Cut(p.proc(name+"/smaps_rollup"), "\nPss:")
		var kib int64
		if _, err := fmt.Sscan(rest, &kib); err == nil {
			sum += kib << 10
		}
	}
	return len(names), sum
}

// maxInodes is how many files a sandbox may have: each costs a kilobyte of the
// kernel's memory, however small it is.
const maxInodes = 20000

func (p *process) inodes() (n uint64) {
	for _, dir := range p.folders {
		var st unix.Statfs_t
		if err := unix.Fstatfs(int(dir.Fd()), &st); err == nil {
			n += st.Files - st.Ffree
		}
	}
	return n
}

// proc reads a file of the sandbox's /proc.
func (p *process) proc(name string) string {
	fd, err := unix.Openat(int(p.procs.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 4<<10)) // a process that ends has nothing
	return string(b)
}
