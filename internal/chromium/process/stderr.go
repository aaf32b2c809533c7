package process

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	// tailBytes is how much of the browser's output is kept, briefBytes how much of that goes into a log line.
	tailBytes  = 4 << 10
	briefBytes = 400
)

// tail keeps the last tailBytes that the browser writes to stderr.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// follow reads r up to its end or an error, and closes it.
func (t *tail) follow(r io.ReadCloser) {
	defer r.Close()

	buf := make([]byte, tailBytes)
	for {
		n, err := r.Read(buf)
		t.mu.Lock()
		t.text = append(t.text, buf[:n]...)
		t.text = bytes.Clone(t.text[max(0, len(t.text)-tailBytes):])
		t.mu.Unlock()

		if err != nil {
			return
		}
	}
}

// String returns the text without the space around it.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()

	return strings.TrimSpace(string(t.text))
}
