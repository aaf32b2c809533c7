//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"encoding/binary"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// forbidden are system calls that programs here have no use for, and that reach
// into the kernel, into other processes, or past the limits. They fail with EPERM,
// as they do without privileges.
var forbidden = []uint32{
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PROCESS_MRELEASE, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	// Parts of the kernel with a history of holes.
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_VMSPLICE, unix.SYS_PERSONALITY,
	// Namespaces and mounts.
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_MOUNT_SETATTR, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	// The machine.
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_QUOTACTL,
	unix.SYS_QUOTACTL_FD, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY,
	unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_VHANGUP,
	unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	// Memory that no limit counts: without a process that has it mapped.
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL,
	unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN,
}

// Offsets in struct seccomp_data (linux/seccomp.h): the number, the architecture
// and the lower half of the first argument.
const (
	offsetNumber   = 0
	offsetArch     = 4
	offsetArgument = 16
)

// Results of a filter (linux/seccomp.h); the errno is in the lower half.
const (
	seccompAllow = 0x7fff0000
	seccompErrno = 0x00050000
	seccompKill  = 0x80000000
)

// namespaceFlags are those of clone(2) that make a namespace.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// seccompProgram is the filter as bwrap reads it: struct sock_filter in the
// machine's byte order.
func seccompProgram() ([]byte, error) {
	deny := func(errno unix.Errno) bpf.Instruction { return bpf.RetConstant{Val: seccompErrno | uint32(errno)} }
	allow := bpf.RetConstant{Val: seccompAllow}
	is := func(n uint32, skipFalse uint8) bpf.Instruction {
		return bpf.JumpIf{Cond: bpf.JumpEqual, Val: n, SkipFalse: skipFalse}
	}
	argument := bpf.LoadAbsolute{Off: offsetArgument, Size: 4}
	p := []bpf.Instruction{
		// Calls of another architecture have other numbers.
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: seccompKill},
		bpf.LoadAbsolute{Off: offsetNumber, Size: 4},
		// x32 on amd64; no number is as great elsewhere.
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: 0x40000000, SkipFalse: 1},
		deny(unix.ENOSYS),
		// Its flags lie in memory, where a filter cannot look: libraries take clone
		// instead.
		is(unix.SYS_CLONE3, 1), deny(unix.ENOSYS),
		is(unix.SYS_CLONE, 4), argument,
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaceFlags, SkipFalse: 1}, deny(unix.EPERM), allow,
	}
	// There is no network, but each family of sockets is a part of the kernel.
	for _, n := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		p = append(p, is(n, 4), argument,
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_UNIX, SkipTrue: 1}, deny(unix.EAFNOSUPPORT), allow)
	}
	for _, n := range slices.Concat(forbidden, forbiddenHere) {
		p = append(p, is(n, 1), deny(unix.EPERM))
	}
	p = append(p, allow)
	raw, err := bpf.Assemble(p)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, i := range raw {
		if err := binary.Write(&out, binary.NativeEndian, struct {
			Op     uint16
			Jt, Jf uint8
			K      uint32
		}{i.Op, i.Jt, i.Jf, i.K}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}
