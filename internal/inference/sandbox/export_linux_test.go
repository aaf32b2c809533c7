//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// FilterResult returns the result of the filter for a system call without arguments: 0 if it allows the call,
// otherwise the error.
func FilterResult(number uint32) (unix.Errno, error) {
	vm, err := bpf.NewVM(seccompRules())
	if err != nil {
		return 0, err
	}
	call := make([]byte, offsetArguments+6*8)
	binary.BigEndian.PutUint32(call[offsetNumber:], number)
	binary.BigEndian.PutUint32(call[offsetArch:], auditArch)

	result, err := vm.Run(call)
	if uint32(result) == seccompAllow {
		return 0, err
	}

	return unix.Errno(result & 0xffff), err
}

// Ended reports whether the session's interpreter has ended.
func (s *Session) Ended() bool {
	select {
	case <-s.in.ended():
		return true
	default:
		return false
	}
}

// MemoryWithin calls memoryWithin.
func MemoryWithin(total int64, root, own string) int64 { return memoryWithin(total, root, own) }

// DelegatedGroup calls delegatedGroup.
func DelegatedGroup(root, own string) string { return delegatedGroup(root, own) }

// LimitGroup calls limitGroup.
func LimitGroup(dir string, l Limits) error { return limitGroup(dir, l) }
