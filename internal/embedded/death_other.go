//go:build unix && !linux

package embedded

import "syscall"

// attributes puts the child in its own process group, so that Ctrl-C does not end it before the parent has
// drained.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// guard ends the child when its parent dies.
func guard(pid int) (release func(), err error) { return watch(pid) }
