//go:build !linux

package api

import "golang.org/x/sys/unix"

// peerClosed reports whether the peer of a socket has closed it and nothing is left
// to read. Under TLS a close_notify is left; then only a failed write shows it.
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
