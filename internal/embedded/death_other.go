//go:build unix && !linux

package embedded

import "syscall"

// processAttributes puts the child in its own process group, so that Ctrl-C does not end it before the parent has
// drained.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// endWithParent ends the child when its parent dies.
func endWithParent(pid int) (release func(), err error) { return watch(pid) }
