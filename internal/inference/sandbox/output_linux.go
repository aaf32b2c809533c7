//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// maxOutput is how many bytes a cell may write before it is interrupted.
const maxOutput = 1 << 20

// limitedBuffer keeps the first limit bytes that are written to it. It closes full when there are more.
type limitedBuffer struct {
	limit int
	full  chan struct{} // closed when the limit is reached

	mu   sync.Mutex
	kept bytes.Buffer
	over bool // more was written than kept
}

// write keeps b as far as the limit allows.
func (c *limitedBuffer) write(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := c.limit - c.kept.Len()
	c.kept.Write(b[:min(len(b), room)])

	if len(b) > room && !c.over {
		c.over = true
		close(c.full)
	}
}

// bytes returns a copy of the kept bytes.
func (c *limitedBuffer) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()

	return bytes.Clone(c.kept.Bytes())
}

// readAll reads until the end or the deadline of r.
func (c *limitedBuffer) readAll(r *os.File) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		c.write(buf[:n])

		if err != nil {
			return
		}
	}
}

// readAvailable reads the available bytes without waiting.
func (c *limitedBuffer) readAvailable(r *os.File) {
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
			c.write(buf[:n])
		}

		return true
	})
}
