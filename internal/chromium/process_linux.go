package chromium

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// sysProcAttr puts the browser into a group of its own that dies with us, and
// under user and group uid unless that is -1. Isolated, it has a network of its
// own without a way to anywhere, loopback included; that takes a user namespace,
// in which it is who it was.
func sysProcAttr(uid int, isolated bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if uid >= 0 {
		a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}

	if isolated {
		own, group := os.Geteuid(), os.Getegid()
		if uid >= 0 {
			own, group = uid, uid
			a.GidMappingsEnableSetgroups = true // to leave our groups
		}
		a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: group, HostID: group, Size: 1}}
	}

	return a
}

// canIsolate reports whether sysProcAttr knows isolation.
const canIsolate = true

// forbidPrivileges keeps what this thread starts from ever gaining privileges by
// a program with the setuid bit. The thread cannot take it back.
func forbidPrivileges() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// widen lets a pipe hold a whole page or its PDF, which a usual one passes on in pieces, with
// a switch from one process to the other for each. Where that is refused it stays as it was.
func widen(pipe *os.File) {
	if raw, err := pipe.SyscallConn(); err == nil { // Fd would make it block
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
	}
}

// awaitExit returns when p has ended, and leaves it to be reaped, so that its
// id stays its own.
func awaitExit(p *os.Process) {
	for unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// smallShm reports whether /dev/shm is too small for Chromium, as in a container
// with the usual 64 MiB.
func smallShm() bool {
	var st unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &st); err != nil {
		return true
	}

	return st.Bavail*uint64(st.Bsize) < 256<<20
}

// groupMemory is the memory of the process group in bytes: shared pages are
// counted once (PSS) where the kernel lets us see that, else left out.
func groupMemory(pgid int) int64 {
	var sum int64

	for _, pid := range groupMembers(pgid) {
		if pss, ok := pssBytes(pid); ok {
			sum += pss
		} else {
			sum += privateBytes(pid)
		}
	}

	return sum
}

// mostMemory is what groupMemory is at most, without its cost: shared pages are counted for
// each process.
func mostMemory(pgid int) (sum int64) {
	for _, pid := range groupMembers(pgid) {
		resident, _ := residentBytes(pid)
		sum += resident
	}

	return sum
}

// hog is a renderer of the group that has more than limit bytes to itself, or 0.
func hog(pgid int, limit int64) int {
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

// groupMembers lists the living processes of the group.
func groupMembers(pgid int) []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // a partial list is the best there is
	var pids []int

	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		// A call for each process of the machine instead of five.
		if group, err := syscall.Getpgid(pid); err != nil || group != pgid {
			continue
		}

		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// After the name in brackets: the state.
		if !bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z")) {
			pids = append(pids, pid)
		}
	}

	return pids
}

// groupExited reports whether nothing of the group lives; a zombie whose new parent
// is slow to reap it does not count.
func groupExited(pgid int) bool {
	return syscall.Kill(-pgid, 0) == syscall.ESRCH || len(groupMembers(pgid)) == 0
}

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

func privateBytes(pid int) int64 {
	resident, shared := residentBytes(pid)
	return resident - shared
}

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
