package clock

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks/redisdial"
)

func TestTheClockIsRedisAndWarnsOnceOfAnotherTime(t *testing.T) {
	t.Parallel()

	rdb, err := redisdial.Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	var log bytes.Buffer

	c := New(rdb, slog.New(slog.NewTextHandler(&log, nil)))

	for i, step := range []struct {
		ahead time.Duration
		lines int
	}{{0, 0}, {-5 * time.Minute, 1}, {20 * time.Second, 1}, {time.Second, 2}, {3 * time.Second, 3}} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			c.local = func() time.Time { return time.Now().Add(step.ahead) }
			for range 2 {
				before := c.here
				wait.Until(
					t,
					"a look that is quick enough is believed",
					func() bool { c.Measure(t.Context()); return c.here != before },
				)
			}
			// This test may be held up between two readings of a clock.
			wait.Until(
				t,
				fmt.Sprintf("%s ahead: the time is Redis'", step.ahead),
				func() bool { return time.Until(c.Now()).Abs() < time.Second/2 },
			)
			wait.Until(
				t,
				fmt.Sprintf("%s ahead: so is the skew", step.ahead),
				func() bool { return (c.Skew() - step.ahead).Abs() < time.Second/2 },
			)

			if n := strings.Count(log.String(), "\n"); n != step.lines {
				t.Errorf("%s ahead: %d lines in the log, want %d:\n%s", step.ahead, n, step.lines, &log)
			}
		})
	}
}

// slowTime is a hook that lets Redis' time take a while.
type slowTime struct{ by time.Duration }

func (s *slowTime) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *slowTime) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (s *slowTime) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		time.Sleep(s.by / 2)
		err := next(ctx, cmd)
		time.Sleep(s.by / 2)

		return err
	}
}

func TestAWrongClockShowsAcrossASlowNetwork(t *testing.T) {
	t.Parallel()

	rdb, err := redisdial.Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	slow := &slowTime{by: 2 * measureWithin}
	rdb.AddHook(slow)
	c := New(rdb, slog.New(slog.DiscardHandler))
	const ahead = -600 * time.Second
	c.local = func() time.Time { return time.Now().Add(ahead) }
	c.Measure(t.Context())

	if off := (c.Skew() - ahead).Abs(); off > 10*time.Second {
		t.Errorf("the skew is %s, want %s", c.Skew(), ahead)
	}

	// A slow look that agrees with a quick one does not replace it.
	slow.by = 0
	before := c.here
	wait.Until(t, "a look is quick", func() bool { c.Measure(t.Context()); return c.here != before })

	slow.by, before = 2*measureWithin, c.here
	if c.Measure(t.Context()); c.here != before {
		t.Error("a slow measurement replaced a quick one that it agrees with")
	}
}
