//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// maxOutput is the most bytes that a cell may write before it is interrupted.
const maxOutput = 1 << 20

// capped keeps the first limit bytes, and closes full when there are more.
type capped struct {
	limit int
	full  chan struct{}

	mu   sync.Mutex
	kept bytes.Buffer
	over bool
}

func (c *capped) add(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := c.limit - c.kept.Len()
	c.kept.Write(b[:min(len(b), room)])

	if len(b) > room && !c.over {
		c.over = true
		close(c.full)
	}
}

func (c *capped) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()

	return bytes.Clone(c.kept.Bytes())
}

// follow reads until the end or the deadline of r.
func (c *capped) follow(r *os.File) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		c.add(buf[:n])

		if err != nil {
			return
		}
	}
}

// drain reads the available bytes without waiting.
func (c *capped) drain(r *os.File) {
	raw, err := r.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 64<<10)
	_ = raw.Read(func(fd uintptr) bool {
		for range maxOutput / len(buf) {
			n, err := unix.Read(int(fd), buf)
			if n <= 0 || err != nil {
				break
			}
			c.add(buf[:n])
		}

		return true
	})
}
