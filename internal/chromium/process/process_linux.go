package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// CanIsolate reports whether Confinement.Isolated works on this operating system.
const CanIsolate = true

// sysProcAttr gives the browser its own process group, which the kernel kills when this process ends. uid is its user
// and group unless it is -1. An isolated browser gets a network namespace without any connection, even to loopback.
// That takes a user namespace, in which the browser keeps its user.
func sysProcAttr(uid int, isolated bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if uid >= 0 {
		a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}

	if isolated {
		user, group := os.Geteuid(), os.Getegid()
		if uid >= 0 {
			user, group = uid, uid
			a.GidMappingsEnableSetgroups = true // so that it can leave this process's groups
		}
		a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: user, HostID: user, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: group, HostID: group, Size: 1}}
	}

	return a
}

// forbidPrivileges keeps this thread and the programs that it starts from gaining
// privileges through setuid programs. It cannot be undone.
func forbidPrivileges() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// widen sets the capacity of a pipe to 1 MiB, so that a whole page or its PDF fits. A default pipe holds 64 KiB,
// and each 64 KiB costs a switch between the processes. The error is ignored, because the default also works.
func widen(pipe *os.File) {
	if raw, err := pipe.SyscallConn(); err == nil { // Fd would make reads and writes block a thread
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
	}
}

// awaitExit returns when p has ended. It does not reap p, so that the kernel does not give its id to another process
// before Kill has ended the group.
func awaitExit(p *os.Process) {
	for unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR { // try again
	}
}

// smallShm reports whether /dev/shm has less than the 256 MiB that Chromium may need. In a container it has 64 MiB by
// default.
func smallShm() bool {
	var st unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &st); err != nil {
		return true
	}

	return st.Bavail*uint64(st.Bsize) < 256<<20
}
