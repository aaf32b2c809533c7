package embedded

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// recentOutput logs a server's output and keeps its last lines, which explain why the server died.
type recentOutput struct {
	log  *slog.Logger
	name string // the program's name

	mu      sync.Mutex
	partial []byte   // a line without its end
	lines   []string // the last keptLines
}

// keptLines is the number of lines of a child's output that are kept for its error.
const keptLines = 6

// Write implements io.Writer.
func (w *recentOutput) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.partial = append(w.partial, p...)
	for {
		line, rest, ok := bytes.Cut(w.partial, []byte("\n"))
		if !ok {
			return len(p), nil
		}

		w.partial = rest
		if text := strings.TrimSpace(string(line)); text != "" {
			w.log.Debug(w.name + ": " + text)
			w.lines = append(w.lines, text)
			w.lines = w.lines[max(0, len(w.lines)-keptLines):]
		}
	}
}

// tail returns the last lines, for an error.
func (w *recentOutput) tail() string {
	w.mu.Lock()
	defer w.mu.Unlock()

	return strings.Join(w.lines, " / ")
}
