package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// forbiddenOnArch lists the forbidden system calls that only amd64 has.
var forbiddenOnArch = []uint32{
	unix.SYS_IOPL,
	unix.SYS_IOPERM,
	unix.SYS_MODIFY_LDT,
	unix.SYS_USELIB,
	unix.SYS_USTAT,
	unix.SYS_SYSFS,
	unix.SYS__SYSCTL,
}
