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

func TestTheClockFollowsRedisAndWarnsOnceOfASkew(t *testing.T) {
	t.Parallel()

	rdb, err := redisdial.Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	var log bytes.Buffer

	c := New(rdb, slog.New(slog.NewTextHandler(&log, nil)))

	for _, step := range []struct {
		ahead time.Duration
		lines int
	}{{0, 0}, {-5 * time.Minute, 1}, {20 * time.Second, 1}, {time.Second, 2}, {3 * time.Second, 3}} {
		t.Run(fmt.Sprintf("%s ahead", step.ahead), func(t *testing.T) {
			c.local = func() time.Time { return time.Now().Add(step.ahead) }
			for range 2 {
				before := c.measuredLocal
				wait.Until(t, "a measurement is quick enough to count",
					func() bool { c.Measure(t.Context()); return c.measuredLocal != before })
			}
			// On a busy machine the test may pause between two readings of a clock.
			wait.Until(t, "Now returns the time of Redis",
				func() bool { return time.Until(c.Now()).Abs() < time.Second/2 })
			wait.Until(t, "Skew returns the difference",
				func() bool { return (c.Skew() - step.ahead).Abs() < time.Second/2 })

			if n := strings.Count(log.String(), "\n"); n != step.lines {
				t.Errorf("got %d lines in the log, want %d:\n%s", n, step.lines, &log)
			}
		})
	}
}

// slowTime is a hook that delays the replies of Redis, half before and half after the command.
type slowTime struct{ delay time.Duration }

func (s *slowTime) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *slowTime) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook delays a command and its reply equally.
func (s *slowTime) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		time.Sleep(s.delay / 2)
		err := next(ctx, cmd)
		time.Sleep(s.delay / 2)

		return err
	}
}

func TestASkewIsMeasuredOverASlowNetwork(t *testing.T) {
	t.Parallel()

	rdb, err := redisdial.Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	slow := &slowTime{delay: 2 * measureWithin}
	rdb.AddHook(slow)
	c := New(rdb, slog.New(slog.DiscardHandler))
	const ahead = -600 * time.Second
	c.local = func() time.Time { return time.Now().Add(ahead) }
	c.Measure(t.Context())

	if off := (c.Skew() - ahead).Abs(); off > 10*time.Second {
		t.Errorf("the skew is %s, want about %s", c.Skew(), ahead)
	}

	// A slow measurement does not replace a quick one that it agrees with.
	slow.delay = 0
	before := c.measuredLocal
	wait.Until(t, "a measurement is quick", func() bool { c.Measure(t.Context()); return c.measuredLocal != before })

	slow.delay, before = 2*measureWithin, c.measuredLocal
	if c.Measure(t.Context()); c.measuredLocal != before {
		t.Error("a slow measurement replaced a quick one that it agrees with")
	}
}
