//go:build !linux

package conn

import "golang.org/x/sys/unix"

// peerClosed reports whether the peer of a socket has closed it and no byte is left to read. Under TLS a close_notify
// is left to read, so only a failed write shows the close.
func peerClosed(fd int) bool {
	var b [1]byte
	n, _, err := unix.Recvfrom(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	switch err {
	case nil:
		return n == 0
	case unix.EAGAIN, unix.EINTR:
		return false
	}
	return true
}
