//go:build !linux

package process

import (
	"os"
	"syscall"
)

// CanIsolate reports whether Confinement.Isolated works on this operating system.
const CanIsolate = false

// sysProcAttr puts the browser into a process group of its own, and under user and group
// uid unless that is -1. The browser ends with this process because its command pipe does.
func sysProcAttr(uid int, _ bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if uid >= 0 {
		a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}

	return a
}

func forbidPrivileges() error { return nil }

func widen(*os.File) {}

// awaitExit returns when p has ended.
func awaitExit(p *os.Process) { p.Wait() }

func groupExited(pgid int) bool { return syscall.Kill(-pgid, 0) == syscall.ESRCH }

func smallShm() bool { return false }

// groupMemory returns 0, because the memory is unknown here. So no browser is replaced for its memory.
func groupMemory(int) int64 { return 0 }

func groupMemoryBound(int) int64 { return 0 }

func largeRenderer(int, int64) int { return 0 }
