// Package clock tells the time of Redis, so that the times of all machines agree.
package clock

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Lua begins a script that needs the time: it defines clock, the answer of TIME, and millis, which returns the time
// in Unix milliseconds. Scripts use the time of Redis for everything that several machines compare, because the
// clocks of machines differ.
const Lua = `
local clock = redis.call('TIME')
local function millis() return clock[1] * 1000 + math.floor(clock[2] / 1000) end
`

const (
	// measureEvery is the time between two measurements of Redis' clock.
	measureEvery = 5 * time.Second
	// measureWithin is the longest measurement that is always used. A slower one is used only if it shows that
	// the clock is wrong: see correct.
	measureWithin = 200 * time.Millisecond
	// skewWarning is the largest difference of the clocks without a warning to the operator.
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

	// mu guards the measurement.
	mu sync.Mutex
	// measuredLocal and measuredRedis are this machine's time and Redis' time at the last measurement.
	measuredLocal, measuredRedis time.Time
	// warned is set while the operator has been warned that the clocks differ.
	warned bool
}

// New returns the clock of the Redis at rdb. Before the first measurement it shows this machine's
// time. It warns log when the two clocks differ.
func New(rdb redis.UniversalClient, log *slog.Logger) *Clock {
	return &Clock{rdb: rdb, log: log, local: time.Now}
}

// SetLocal replaces this machine's clock in a test. Call it before the clock is used.
func (c *Clock) SetLocal(local func() time.Time) { c.local = local }

// Exact returns the time with the precision of this machine's clock.
func (c *Clock) Exact() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.at(c.local())
}

// at returns Redis' time at a local one. The caller holds mu.
func (c *Clock) at(local time.Time) time.Time {
	if c.measuredLocal.IsZero() {
		return local
	}

	return c.measuredRedis.Add(local.Sub(c.measuredLocal))
}

// Now returns the time in UTC and milliseconds, the precision of everything that is written.
func (c *Clock) Now() time.Time { return c.Exact().UTC().Truncate(time.Millisecond) }

// Skew returns how far the clock of this machine is ahead of that of Redis; negative when it is behind. Round(0)
// drops the monotonic clock, so that a set of the machine's time shows.
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

// correct takes the answer of Redis to TIME, which was sent at the local time before and received at the local time
// after. It reports whether it has set the clock by it. At the local time after, Redis' time is between answer and
// answer plus the duration of the round trip. A slow round trip therefore tells little, and sets the clock only when
// the known time is outside of these bounds.
func (c *Clock) correct(before, after, answer time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := after.Sub(before)

	known := c.at(after)
	withinBounds := !known.Before(answer) && !known.After(answer.Add(took))

	if took > measureWithin && withinBounds {
		return false
	}
	c.measuredLocal, c.measuredRedis = before.Add(took/2), answer

	return true
}

// Measure compares the clocks once. It ignores an error of Redis: the next measurement tries again.
func (c *Clock) Measure(ctx context.Context) {
	before := c.local()
	answer, err := c.rdb.Time(ctx).Result()

	after := c.local()
	if err != nil || !c.correct(before, after, answer) {
		return
	}

	skew := c.Skew()
	switch differs := skew.Abs() > skewWarning; {
	case differs && !c.warned:
		c.log.Warn("this machine's clock differs from Redis'; jobs use the time of Redis; "+
			"set both clocks with chrony or NTP", "ahead", skew.Round(time.Millisecond))
		c.warned = true
	case !differs && c.warned:
		c.log.Info("this machine's clock and Redis' agree again")
		c.warned = false
	}
}
