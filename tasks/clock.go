package tasks

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// measureEvery is the time between two looks at Redis' clock.
	measureEvery = 5 * time.Second
	// measureWithin is how long a look may take that corrects a clock by less than it took.
	measureWithin = 200 * time.Millisecond
	// skewWarning is a difference that an operator should know of.
	skewWarning = 2 * time.Second
)

// clock returns the time of Redis, so that the times of all machines agree.
// Scripts that decide about another machine's work ask Redis itself; this is for
// what is written and read as text. Between two looks it goes on by the
// monotonic clock, which does not jump when the time is set.
type clock struct {
	rdb redis.UniversalClient
	log *slog.Logger
	// local is this machine's clock.
	local func() time.Time

	mu sync.Mutex
	// here and there are the local time and Redis' at the last look.
	here, there time.Time
	warned      bool
}

func newClock(rdb redis.UniversalClient, log *slog.Logger) *clock {
	return &clock{rdb: rdb, log: log, local: time.Now}
}

// exact is the time. Before the first look it is this machine's.
func (c *clock) exact() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.at(c.local())
}

// at is Redis' time at a local one. The caller holds mu.
func (c *clock) at(local time.Time) time.Time {
	if c.here.IsZero() {
		return local
	}

	return c.there.Add(local.Sub(c.here))
}

// now is the time in the precision of everything we write: milliseconds, UTC.
func (c *clock) now() time.Time { return c.exact().UTC().Truncate(time.Millisecond) }

// skew is how far this machine's clock is ahead of Redis'.
func (c *clock) skew() time.Duration { return c.local().Round(0).Sub(c.exact()) }

// run looks at Redis' clock until ctx ends.
func (c *clock) run(ctx context.Context) {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()

	for {
		c.look(ctx)

		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// learn takes the time that Redis gave between two local times, and reports whether it is news. Redis' time after the
// second is between there and as much later as the answer took. A slow answer says no more than that, so it counts
// only where what is known is outside of these bounds: across a slow network it is how a wrong clock shows at all.
func (c *clock) learn(before, after, there time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := after.Sub(before)

	known := c.at(after)
	if took > measureWithin && !known.Before(there) && !known.After(there.Add(took)) {
		return false
	}
	c.here, c.there = before.Add(took/2), there

	return true
}

// look compares the clocks. What Redis cannot answer now is left for the next
// look.
func (c *clock) look(ctx context.Context) {
	before := c.local()
	there, err := c.rdb.Time(ctx).Result()

	after := c.local()
	if err != nil || !c.learn(before, after, there) {
		return
	}

	skew := c.skew()
	switch off := skew.Abs() > skewWarning; {
	case off && !c.warned:
		c.log.Warn(
			"this machine's clock and Redis' differ; jobs are timed by Redis', so that no harm is done, but chrony or NTP should set both",
			"ahead",
			skew.Round(time.Millisecond),
		)
		c.warned = true
	case !off && c.warned:
		c.log.Info("this machine's clock and Redis' agree again")
		c.warned = false
	}
}
