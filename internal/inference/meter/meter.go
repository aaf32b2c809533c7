// Package meter enforces the limits of API keys: requests and tokens per minute and per day, and requests at a
// time. It records the usage in a ledger by day, key and model. The data is in Redis, so all nodes count together.
//
// The API calls [Meter.Reserve] with an estimate of the tokens before a request, and [Grant.Release] at its end. The
// worker calls [Meter.Settle] and [Meter.Record] with the actual usage. [Meter.Keep] renews the leases of running
// requests. Each step is one script, so that nodes cannot interleave, and may be repeated after a lost response.
package meter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// lease is how long a running request counts after its last renewal. So the requests of a dead node soon stop
	// counting.
	lease      = 2 * time.Minute
	renewEvery = 30 * time.Second
	// heldTTL is how long a reservation of tokens waits for its settlement; every request ends earlier. repeatTTL is
	// the time for a reservation without tokens, which is only needed to recognise a repeat after a lost response.
	heldTTL   = 2 * time.Hour
	repeatTTL = 10 * time.Second
)

// Limits holds the limits of an API key; 0 means no limit.
type Limits struct {
	// RPM and RPD limit requests per minute and per day, TPM and TPD tokens.
	RPM, RPD, TPM, TPD int
	// Concurrency is how many requests may run at a time.
	Concurrency int
}

// Dimension names one of the limits.
type Dimension string

// The dimensions.
const (
	// RPM and RPD are requests per minute and per day.
	RPM Dimension = "RPM"
	RPD Dimension = "RPD"
	// TPM and TPD are tokens per minute and per day, of prompts and completions.
	TPM Dimension = "TPM"
	TPD Dimension = "TPD"
	// Concurrency is requests at a time.
	Concurrency Dimension = "concurrency"
)

// Name returns the dimension in words, for error messages.
func (d Dimension) Name() string {
	switch d {
	case RPM:
		return "requests per minute (RPM)"
	case RPD:
		return "requests per day (RPD)"
	case TPM:
		return "tokens per minute (TPM)"
	case TPD:
		return "tokens per day (TPD)"
	}

	return "requests at a time"
}

// Tokens reports whether the dimension counts tokens.
func (d Dimension) Tokens() bool { return d == TPM || d == TPD }

// window returns the time over which a limit refills; 0 for concurrency.
func (d Dimension) window() time.Duration {
	switch d {
	case RPM, TPM:
		return time.Minute
	case RPD, TPD:
		return 24 * time.Hour
	}

	return 0
}

// dimensions lists the dimensions that refill, in the order of the scripts' arguments and results.
var dimensions = [...]Dimension{RPM, RPD, TPM, TPD}

// limit returns the limit of a dimension; 0 if there is none.
func (l Limits) limit(d Dimension) int {
	switch d {
	case RPM:
		return l.RPM
	case RPD:
		return l.RPD
	case TPM:
		return l.TPM
	case TPD:
		return l.TPD
	}

	return l.Concurrency
}

// State is the state of one limit after a reservation.
type State struct {
	// Limit and Remaining are numbers of requests or of tokens, by the dimension. Remaining is never negative.
	Limit, Remaining int
	// Reset is the time until the whole limit is available again.
	Reset time.Duration
}

// Exceeded is the error of Reserve when a limit does not allow the request. Nothing was reserved.
type Exceeded struct {
	// Dimension is the limit that was exceeded. The numbers are in its unit, requests or tokens.
	Dimension              Dimension
	Limit, Used, Requested int
	// After is the time until a retry can succeed. It is 0 for Concurrency, because the time is unknown, and for a
	// request that can never succeed: see TooLarge.
	After time.Duration
	// States holds the state of each limit but Concurrency.
	States map[Dimension]State
}

// TooLarge reports whether the request alone exceeds the limit, so that a retry cannot succeed.
func (e *Exceeded) TooLarge() bool { return e.Dimension.Tokens() && e.Requested > e.Limit }

// Error implements error.
func (e *Exceeded) Error() string {
	return fmt.Sprintf("%s: limit %d, used %d, requested %d", e.Dimension.Name(), e.Limit, e.Used, e.Requested)
}

// Meter counts requests and tokens. It is safe for concurrent use.
type Meter struct {
	rdb redis.UniversalClient
	log *slog.Logger

	mu     sync.Mutex
	grants map[*Grant]struct{}
}

// New returns a Meter that stores its data in rdb. Run Keep next to it if any key has a limit on concurrency.
func New(rdb redis.UniversalClient, log *slog.Logger) *Meter {
	return &Meter{rdb: rdb, log: log, grants: map[*Grant]struct{}{}}
}

// Grant is a successful reservation. The caller must call Release when the request has ended.
type Grant struct {
	// States holds the state of each limit but Concurrency after the reservation.
	States map[Dimension]State

	meter   *Meter
	key, id string
	running bool // counts for the limit Concurrency
}

// Each dimension is a bucket that refills evenly: after a minute without requests a key has its whole RPM again.
// One hash holds the four buckets of a key.
func bucketsKey(key string) string  { return redisKey(key, "buckets") }
func runningKey(key string) string  { return redisKey(key, "running") }
func heldKey(key, id string) string { return redisKey(key, "held:"+id) }
func usedKey(key, id string) string { return redisKey(key, "used:"+id) }

// redisKey returns the name of a Redis key. It hashes the name of the API key, which may contain any character. The
// braces put all keys of one API key on one node of a cluster, as scripts require.
func redisKey(key, part string) string {
	sum := sha256.Sum256([]byte(key))
	return "pw:{meter:" + hex.EncodeToString(sum[:12]) + "}:" + part
}

// Reserve takes one request and a number of tokens from the limits of a key. The error is *Exceeded if a limit
// does not allow them. A repeat with the same id takes nothing more. Settle corrects the tokens under the id when
// the usage is known.
func (m *Meter) Reserve(ctx context.Context, key, id string, l Limits, tokens int) (*Grant, error) {
	grant := &Grant{meter: m, key: key, id: id}
	if l == (Limits{}) {
		return grant, nil
	}

	refused, running, levels, err := m.runReserve(ctx, key, id, l, tokens)
	if err != nil {
		return nil, err
	}
	grant.States = states(l, levels)

	switch {
	case refused == 0:
		if l.Concurrency > 0 {
			grant.running = true
			m.mu.Lock()
			m.grants[grant] = struct{}{}
			m.mu.Unlock()
		}

		return grant, nil
	// The script numbers the limit of concurrency after the dimensions.
	case refused > len(dimensions):
		return nil, &Exceeded{
			Dimension: Concurrency,
			Limit:     l.Concurrency,
			Used:      running,
			Requested: 1,
			States:    grant.States,
		}
	}
	d := dimensions[refused-1]

	e := &Exceeded{Dimension: d, Limit: l.limit(d), Requested: 1, States: grant.States}
	if d.Tokens() {
		e.Requested = tokens
	}
	level := levels[refused-1]

	e.Used = e.Limit - int(level)
	// A request above the whole limit never fits, so it gets no time to wait.
	if !e.TooLarge() {
		e.After = refill(float64(e.Requested)-level, e.Limit, d)
	}

	return nil, e
}

// States returns the state of each limit of a key; nil without limits. It takes nothing from them. It fails if Redis
// does not answer.
func (m *Meter) States(ctx context.Context, key string, l Limits) (map[Dimension]State, error) {
	if l == (Limits{}) {
		return nil, nil
	}

	_, _, levels, err := m.runReserve(ctx, key, "", l, 0)
	if err != nil {
		return nil, err
	}

	return states(l, levels), nil
}

// runReserve runs reserveScript, which explains refused and levels. With the id "" it only reads.
func (m *Meter) runReserve(
	ctx context.Context,
	key, id string,
	l Limits,
	tokens int,
) (refused, running int, levels [len(dimensions)]float64, err error) {
	held := heldTTL
	if tokens == 0 || l.TPM == 0 && l.TPD == 0 {
		held = repeatTTL
	}

	args := []any{id, tokens, lease.Milliseconds(), held.Milliseconds(), l.Concurrency}
	for _, d := range dimensions {
		args = append(args, l.limit(d), d.window().Milliseconds())
	}

	answer, err := reserveScript.Run(ctx, m.rdb, []string{bucketsKey(key), runningKey(key), heldKey(key, id)}, args...).
		StringSlice()
	if err == nil {
		refused, err = strconv.Atoi(answer[0])
	}

	if err == nil {
		running, err = strconv.Atoi(answer[1])
	}

	for i := range levels {
		if err == nil {
			levels[i], err = strconv.ParseFloat(answer[i+2], 64)
		}
	}

	if err != nil {
		err = fmt.Errorf("checking the limits of a key: %w", err)
	}

	return refused, running, levels, err
}

// states converts the levels of the buckets to the states of the limits.
func states(l Limits, levels [len(dimensions)]float64) map[Dimension]State {
	out := map[Dimension]State{}

	for i, d := range dimensions {
		if limit := l.limit(d); limit > 0 {
			out[d] = State{
				Limit:     limit,
				Remaining: max(0, int(levels[i])),
				Reset:     refill(float64(limit)-levels[i], limit, d),
			}
		}
	}

	return out
}

// refill returns the time until an amount has refilled.
func refill(amount float64, limit int, d Dimension) time.Duration {
	return max(0, time.Duration(amount/float64(limit)*float64(d.window())))
}

// Release stops counting the request as running. A second call does nothing.
func (g *Grant) Release(ctx context.Context) {
	g.meter.mu.Lock()
	_, running := g.meter.grants[g]
	delete(g.meter.grants, g)
	g.meter.mu.Unlock()

	if !running {
		return
	}

	if err := g.meter.rdb.ZRem(ctx, runningKey(g.key), g.id).Err(); err != nil {
		g.meter.log.Warn(
			"releasing a finished request failed; it counts until its lease ends",
			"key",
			g.key,
			"err",
			err,
		)
	}
}

// Settle returns the reservation under id to the limits and takes the tokens that were used. If several callers
// each know a part of the usage, each may call it. The reservation is returned once, and the usage is taken once
// for each useID. A call may therefore be repeated, for example after it failed because Redis did not answer.
func (m *Meter) Settle(ctx context.Context, key, id string, l Limits, useID string, used int) error {
	if l.TPM == 0 && l.TPD == 0 {
		return nil
	}

	keys := []string{bucketsKey(key), heldKey(key, id), usedKey(key, useID)}

	err := settleScript.Run(ctx, m.rdb, keys, used, l.TPM, l.TPD, recordedTTL.Milliseconds()).Err()
	if err != nil {
		return fmt.Errorf("settling a reservation: %w", err)
	}

	return nil
}

// Keep renews the running requests of this process until ctx ends.
func (m *Meter) Keep(ctx context.Context) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		m.mu.Lock()

		grants := make([]*Grant, 0, len(m.grants))
		for g := range m.grants {
			grants = append(grants, g)
		}
		m.mu.Unlock()

		if len(grants) == 0 {
			continue
		}

		_, err := m.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, g := range grants {
				renewScript.Eval(ctx, p, []string{runningKey(g.key)}, g.id, lease.Milliseconds())
			}

			return nil
		})
		if err != nil && ctx.Err() == nil {
			m.log.Warn("could not renew running requests", "requests", len(grants), "error", err)
		}
	}
}
