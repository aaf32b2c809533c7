//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"encoding/binary"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// forbidden lists system calls that programs here do not need. They reach into the kernel or other processes, or
// past the limits. They fail with EPERM, as they do without privileges.
var forbidden = []uint32{
	// Other processes.
	unix.SYS_PTRACE,
	unix.SYS_PROCESS_VM_READV,
	unix.SYS_PROCESS_VM_WRITEV,
	unix.SYS_PROCESS_MADVISE,
	unix.SYS_PROCESS_MRELEASE,
	unix.SYS_PIDFD_GETFD,
	unix.SYS_KCMP,
	// Parts of the kernel with a history of vulnerabilities.
	unix.SYS_BPF,
	unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD,
	unix.SYS_FANOTIFY_INIT,
	unix.SYS_IO_URING_SETUP,
	unix.SYS_IO_URING_ENTER,
	unix.SYS_IO_URING_REGISTER,
	unix.SYS_ADD_KEY,
	unix.SYS_REQUEST_KEY,
	unix.SYS_KEYCTL,
	unix.SYS_VMSPLICE,
	unix.SYS_PERSONALITY,
	// Namespaces and mounts.
	unix.SYS_UNSHARE,
	unix.SYS_SETNS,
	unix.SYS_MOUNT,
	unix.SYS_UMOUNT2,
	unix.SYS_PIVOT_ROOT,
	unix.SYS_CHROOT,
	unix.SYS_OPEN_TREE,
	unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_LISTNS,
	unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG,
	unix.SYS_FSMOUNT,
	unix.SYS_FSPICK,
	unix.SYS_MOUNT_SETATTR,
	unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_OPEN_BY_HANDLE_AT,
	// The machine.
	unix.SYS_INIT_MODULE,
	unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD,
	unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_REBOOT,
	unix.SYS_SWAPON,
	unix.SYS_SWAPOFF,
	unix.SYS_SYSLOG,
	unix.SYS_ACCT,
	unix.SYS_QUOTACTL,
	unix.SYS_QUOTACTL_FD,
	unix.SYS_SETHOSTNAME,
	unix.SYS_SETDOMAINNAME,
	unix.SYS_SETTIMEOFDAY,
	unix.SYS_CLOCK_SETTIME,
	unix.SYS_ADJTIMEX,
	unix.SYS_CLOCK_ADJTIME,
	unix.SYS_VHANGUP,
	unix.SYS_MIGRATE_PAGES,
	unix.SYS_MOVE_PAGES,
	// Memory that no limit counts, because it lives without a process that has mapped it.
	unix.SYS_MEMFD_CREATE,
	unix.SYS_MEMFD_SECRET,
	unix.SYS_SHMGET,
	unix.SYS_SHMAT,
	unix.SYS_SHMCTL,
	unix.SYS_MSGGET,
	unix.SYS_SEMGET,
	unix.SYS_MQ_OPEN,
}

// newestKnown is the highest system call number that this filter knows. Newer calls could do anything, so they
// fail with ENOSYS, as on an older kernel.
const newestKnown = unix.SYS_RSEQ_SLICE_YIELD

// Offsets in struct seccomp_data (linux/seccomp.h). An argument has eight bytes. The filter reads the lower four,
// because the kernel reads only these of an int.
const (
	offsetNumber    = 0
	offsetArch      = 4
	offsetArguments = 16
)

// Results of a filter (linux/seccomp.h); the errno is in the lower half.
const (
	seccompAllow = 0x7fff0000
	seccompErrno = 0x00050000
	seccompKill  = 0x80000000
)

// namespaceFlags are the flags of clone(2) that create a namespace.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// forbiddenRequests are the requests of ioctl(2) that write into a terminal, or change how the kernel handles one.
var forbiddenRequests = []uint32{unix.TIOCSTI, unix.TIOCSETD, unix.TIOCLINUX}

// forbiddenOptions are the options of setsockopt(2) that raise the send buffer of a socket. It could then hold
// more kernel memory than the watch counts for it.
var forbiddenOptions = []uint32{unix.SO_SNDBUF, unix.SO_SNDBUFFORCE}

// sharedAnonymous are the flags of mmap(2) for shared memory without a file. A page of it stays while any page is
// mapped, and a page that is not mapped counts for no process.
const sharedAnonymous = unix.MAP_SHARED | unix.MAP_ANONYMOUS

// socketTypeMask removes the flags from the type of a socket (linux/net.h).
const socketTypeMask = 0xf

// deny returns the instruction that lets a system call fail with errno.
func deny(errno unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: seccompErrno | uint32(errno)}
}

// when runs rule for the system call n. The rule can test the loaded number until it loads something else. It must
// end with a return.
func when(n uint32, rule ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpEqual, Val: n, SkipFalse: uint8(len(rule))}}, rule...)
}

// argument loads an argument of the system call, counted from 0.
func argument(n uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offsetArguments + 8*n, Size: 4} }

// denyEach returns instructions that return errno if the loaded value is one of values, and otherwise allow the
// call.
func denyEach(errno unix.Errno, values []uint32) (p []bpf.Instruction) {
	for _, v := range values {
		p = append(p, when(v, deny(errno))...)
	}

	return append(p, bpf.RetConstant{Val: seccompAllow})
}

// seccompRules returns the instructions of the filter.
func seccompRules() []bpf.Instruction {
	allow := bpf.RetConstant{Val: seccompAllow}
	p := []bpf.Instruction{
		// Calls of another architecture have other numbers.
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: seccompKill},
		bpf.LoadAbsolute{Off: offsetNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: newestKnown, SkipFalse: 1},
		deny(unix.ENOSYS),
	}
	// The flags of clone3 are in memory, which a filter cannot read. Libraries use clone if clone3 fails with
	// ENOSYS.
	p = append(p, when(unix.SYS_CLONE3, deny(unix.ENOSYS))...)
	p = append(p, when(unix.SYS_CLONE, argument(0),
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaceFlags, SkipFalse: 1}, deny(unix.EPERM), allow)...)
	// The sandbox has no network, but each socket family is more kernel code to attack. Datagrams are forbidden
	// because one as large as the send buffer may begin before it is full.
	for _, n := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		p = append(p, when(n, argument(0),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_UNIX, SkipTrue: 1}, deny(unix.EAFNOSUPPORT),
			argument(1), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: socketTypeMask},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_STREAM, SkipTrue: 1}, deny(unix.ESOCKTNOSUPPORT), allow)...)
	}
	p = append(
		p,
		when(
			unix.SYS_SETSOCKOPT,
			append([]bpf.Instruction{argument(2)}, denyEach(unix.EPERM, forbiddenOptions)...)...)...)
	p = append(
		p,
		when(unix.SYS_IOCTL, append([]bpf.Instruction{argument(1)}, denyEach(unix.EPERM, forbiddenRequests)...)...)...)
	p = append(p, when(unix.SYS_MMAP, argument(3), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: sharedAnonymous},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: sharedAnonymous, SkipFalse: 1}, deny(unix.EPERM), allow)...)

	return append(p, denyEach(unix.EPERM, slices.Concat(forbidden, forbiddenOnArch))...)
}

// seccompProgram returns the filter in the format that bwrap reads: an array of struct sock_filter
// (linux/filter.h) in the byte order of the machine.
func seccompProgram() ([]byte, error) {
	raw, err := bpf.Assemble(seccompRules())
	if err != nil {
		return nil, err
	}

	var out bytes.Buffer
	for _, i := range raw {
		err := binary.Write(&out, binary.NativeEndian, struct {
			Op     uint16
			Jt, Jf uint8
			K      uint32
		}{i.Op, i.Jt, i.Jf, i.K})
		if err != nil {
			return nil, err
		}
	}

	return out.Bytes(), nil
}
