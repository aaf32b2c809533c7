// Package clock tells the time of Redis, so that the times of all machines agree.
package clock

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Lua begins a script that needs the time: it defines clock, the answer of TIME, and millis, which
// returns the time in Unix milliseconds. Redis times everything that several machines compare,
// because their clocks differ.
const Lua = `
local clock = redis.call('TIME')
local function millis() return clock[1] * 1000 + math.floor(clock[2] / 1000) end
`

const (
	// measureEvery is the time between two measurements of Redis' clock.
	measureEvery = 5 * time.Second
	// measureWithin is how long a measurement may take that corrects the clock by less than it
	// took.
	measureWithin = 200 * time.Millisecond
	// skewWarning is the difference from which on the operator is warned.
	skewWarning = 2 * time.Second
)

// Clock returns the time of Redis. Scripts that decide about the work of another machine ask Redis
// itself; Clock is for times that are written and read as text. Between two measurements it
// follows the monotonic clock, which does not jump when the machine's time is set. It is safe for
// concurrent use.
type Clock struct {
	rdb redis.UniversalClient
	log *slog.Logger
	// local is this machine's clock.
	local func() time.Time

	mu sync.Mutex
	// here and there are the local time and Redis' time at the last measurement.
	here, there time.Time
	warned      bool
}

// New returns the clock of the Redis at rdb. Before the first measurement it shows this machine's
// time. It warns log when the two clocks differ.
func New(rdb redis.UniversalClient, log *slog.Logger) *Clock {
	return &Clock{rdb: rdb, log: log, local: time.Now}
}

// SetLocal replaces this machine's clock in a test. Call it before the clock is used.
func (c *Clock) SetLocal(local func() time.Time) { c.local = local }

// Exact returns the time in the machine's precision.
func (c *Clock) Exact() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.at(c.local())
}

// at returns Redis' time at a local one. The caller holds mu.
func (c *Clock) at(local time.Time) time.Time {
	if c.here.IsZero() {
		return local
	}

	return c.there.Add(local.Sub(c.here))
}

// Now returns the time in UTC and milliseconds, the precision of everything that is written.
func (c *Clock) Now() time.Time { return c.Exact().UTC().Truncate(time.Millisecond) }

// Skew returns how far the clock of this machine is ahead of that of Redis.
func (c *Clock) Skew() time.Duration { return c.local().Round(0).Sub(c.Exact()) }

// Run measures Redis' clock every five seconds until ctx ends.
func (c *Clock) Run(ctx context.Context) {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()

	for {
		c.Measure(ctx)

		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// correct takes the time that Redis gave between two local times, and reports whether it corrects
// the clock. Redis' time at after lies between there and there plus the time of the answer. A slow
// answer bounds the time no better than that. It counts only when the known time is outside of
// these bounds: across a slow network that is how a wrong clock shows.
func (c *Clock) correct(before, after, there time.Time) bool {
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

// Measure compares the clocks once. An error of Redis is left for the next measurement.
func (c *Clock) Measure(ctx context.Context) {
	before := c.local()
	there, err := c.rdb.Time(ctx).Result()

	after := c.local()
	if err != nil || !c.correct(before, after, there) {
		return
	}

	skew := c.Skew()
	switch off := skew.Abs() > skewWarning; {
	case off && !c.warned:
		c.log.Warn("this machine's clock differs from Redis'; jobs use the time of Redis; "+
			"set both clocks with chrony or NTP", "ahead", skew.Round(time.Millisecond))
		c.warned = true
	case !off && c.warned:
		c.log.Info("this machine's clock and Redis' agree again")
		c.warned = false
	}
}
