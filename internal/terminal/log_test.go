package terminal

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// told is a value that says in words what its attributes are.
type told struct{}

func (told) LogValue() slog.Value { return slog.GroupValue(slog.Int("pages", 4)) }
func (told) String() string       { return "01J completed, 4 pages, 528 ms, w2" }

func TestTheConsoleWritesForPeople(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := NewConsole(&out, slog.LevelInfo)
	log.Debug("not shown")
	part := log.With("component", "tasks", "node", "a b")
	part.Info("job finished", slog.Any("", told{}))
	part.WithGroup("store").
		Warn("full", "bytes", 7, "err", errors.New("no\x1b[2Jspace"), "empty", "", slog.Group("of", slog.Int("n", 1)))
	var lines []string

	for line := range strings.Lines(out.String()) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		lines = append(lines, rest)
	}

	if len(lines) != 2 || lines[0] != `tasks: job finished node="a b": 01J completed, 4 pages, 528 ms, w2` ||
		!strings.HasPrefix(lines[1], `WARN tasks: full node="a b" store.bytes=7 store.err=`) ||
		!strings.HasSuffix(lines[1], " store.of.n=1") {
		t.Errorf("%q", lines)
	}

	if strings.Contains(out.String(), "\x1b") {
		t.Error("a log line may move the cursor")
	}
}
