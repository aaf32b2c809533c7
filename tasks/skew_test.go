package tasks

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"presswork/internal/test/redistest"
)

func TestTheClockIsRedisAndWarnsOnceOfAnotherTime(t *testing.T) {
	t.Parallel()
	rdb, err := Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	var log bytes.Buffer
	c := newClock(rdb, slog.New(slog.NewTextHandler(&log, nil)))
	for _, step := range []struct {
		ahead time.Duration
		lines int
	}{{0, 0}, {-5 * time.Minute, 1}, {20 * time.Second, 1}, {time.Second, 2}, {3 * time.Second, 3}} {
		c.local = func() time.Time { return time.Now().Add(step.ahead) }
		for range 2 {
			c.look(t.Context())
		}
		if off := time.Until(c.now()).Abs(); off > time.Second {
			t.Errorf("%s ahead: the time is off by %s", step.ahead, off)
		}
		if off := (c.skew() - step.ahead).Abs(); off > time.Second {
			t.Errorf("%s ahead: the skew is said to be %s", step.ahead, c.skew())
		}
		if n := strings.Count(log.String(), "\n"); n != step.lines {
			t.Errorf("%s ahead: %d lines in the log, want %d:\n%s", step.ahead, n, step.lines, &log)
		}
	}
}
