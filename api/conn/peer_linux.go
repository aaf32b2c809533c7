package conn

import "golang.org/x/sys/unix"

// peerClosed reports whether the peer of a socket has closed it. Unlike a read, it also sees the close when bytes
// before it are unread, such as the close_notify of TLS.
func peerClosed(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(fds, 0)

	return err == nil && n > 0 && fds[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
}
