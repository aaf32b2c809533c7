package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// forbiddenOnArch lists the forbidden system calls that only arm64 has.
var forbiddenOnArch []uint32
