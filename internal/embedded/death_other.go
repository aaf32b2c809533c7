//go:build unix && !linux

package embedded

import "syscall"

// attributes give the child a process group of its own, so that Ctrl-C does
// not take it before its parent has drained.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// guard has the child ended when its parent dies.
func guard(pid int) (release func(), err error) { return watch(pid) }
