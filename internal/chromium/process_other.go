//go:build !linux

package chromium

import (
	"os"
	"syscall"
)

// sysProcAttr puts the browser into a group of its own, under user and group
// uid unless that is -1. It ends with us because its command pipe does.
func sysProcAttr(uid int, _ bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if uid >= 0 {
		a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	return a
}

// canIsolate reports whether sysProcAttr knows isolation.
const canIsolate = false

func forbidPrivileges() error { return nil }

func widen(*os.File) {}

// awaitExit returns when p has ended.
func awaitExit(p *os.Process) { p.Wait() }

func groupExited(pgid int) bool { return syscall.Kill(-pgid, 0) == syscall.ESRCH }

func smallShm() bool { return false }

// groupMemory is not known here: 0, so that no browser is replaced for it.
func groupMemory(int) int64 { return 0 }

func mostMemory(int) int64 { return 0 }

func hog(int, int64) int { return 0 }
