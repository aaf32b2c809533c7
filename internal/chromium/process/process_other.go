//go:build !linux

package process

import (
	"os"
	"syscall"
)

// CanIsolate reports whether Confinement.Isolated works on this operating system.
const CanIsolate = false

// sysProcAttr gives the browser its own process group. uid is its user and group unless it is -1. When this process
// ends, the browser ends as well, because the pipe for its commands is closed.
func sysProcAttr(uid int, _ bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if uid >= 0 {
		a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}

	return a
}

// forbidPrivileges and widen exist on Linux only.
func forbidPrivileges() error { return nil }
func widen(*os.File)          {}

// awaitExit returns when p has ended, and reaps it.
func awaitExit(p *os.Process) { p.Wait() }

// groupExited reports whether the group has no process.
func groupExited(pgid int) bool { return syscall.Kill(-pgid, 0) == syscall.ESRCH }

// smallShm returns false: only Linux has /dev/shm.
func smallShm() bool { return false }

// groupMemory, groupMemoryBound and largeRenderer return 0, because the memory is unknown here. So no browser is
// replaced, and no renderer is killed, for its memory.
func groupMemory(int) int64        { return 0 }
func groupMemoryBound(int) int64   { return 0 }
func largeRenderer(int, int64) int { return 0 }
