// Package meter enforces the limits of keys: requests and tokens per minute and per day, and requests at a time.
// It records their use in a ledger by day, key and model. The data is in Redis, so all nodes count together.
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
	// lease is how long a running request counts that is not renewed, because
	// its node died.
	lease      = 2 * time.Minute
	renewEvery = 30 * time.Second
	// heldTTL is how long a reservation of tokens without a settlement is remembered. It is longer than any
	// request runs. A reservation without tokens is only remembered for repeats after a lost response.
	heldTTL   = 2 * time.Hour
	repeatTTL = 10 * time.Second
)

// Limits are what a key may use; 0 is no limit.
type Limits struct {
	// Requests and tokens, per minute and per day.
	RPM, RPD, TPM, TPD int
	// Concurrency is how many requests may run at a time.
	Concurrency int
}

// Dimension is one of the things that are limited.
type Dimension string

// The dimensions.
const (
	// RPM and RPD are requests per minute and per day.
	RPM Dimension = "RPM"
	RPD Dimension = "RPD"
	// TPM and TPD are tokens per minute and per day, of prompt and completion.
	TPM Dimension = "TPM"
	TPD Dimension = "TPD"
	// Concurrency is requests at a time.
	Concurrency Dimension = "concurrency"
)

// Name is the dimension in words.
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

func (d Dimension) window() time.Duration {
	switch d {
	case RPM, TPM:
		return time.Minute
	case RPD, TPD:
		return 24 * time.Hour
	}

	return 0
}

// dimensions is the order in which scripts name them.
var dimensions = [...]Dimension{RPM, RPD, TPM, TPD}

func (l Limits) of(d Dimension) int {
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

// State is how one dimension stands after a reservation.
type State struct {
	// Limit and Remaining are in requests or tokens, by the dimension.
	Limit, Remaining int
	// Reset is when all of it is free again.
	Reset time.Duration
}

// Exceeded is a refusal: nothing was taken.
type Exceeded struct {
	// Dimension is the one that refused; the numbers are in its unit.
	Dimension              Dimension
	Limit, Used, Requested int
	// After is the time until a retry can succeed. It is 0 with Concurrency, where the time is unknown, and for a
	// request that can never succeed.
	After time.Duration
	// States is how every limited dimension stands.
	States map[Dimension]State
}

// TooLarge reports whether the request alone is over the limit.
func (e *Exceeded) TooLarge() bool { return e.Dimension.Tokens() && e.Requested > e.Limit }

// Error implements error.
func (e *Exceeded) Error() string {
	return fmt.Sprintf("%s: limit %d, used %d, requested %d", e.Dimension.Name(), e.Limit, e.Used, e.Requested)
}

// Meter counts. It is safe for concurrent use.
type Meter struct {
	rdb redis.UniversalClient
	log *slog.Logger

	mu     sync.Mutex
	grants map[*Grant]struct{}
}

// New makes a Meter.
func New(rdb redis.UniversalClient, log *slog.Logger) *Meter {
	return &Meter{rdb: rdb, log: log, grants: map[*Grant]struct{}{}}
}

// Grant is a reservation that was made.
type Grant struct {
	// States is how every limited dimension stands after it.
	States map[Dimension]State

	meter   *Meter
	key, id string
	running bool
}

// Each dimension is a bucket that refills evenly: a key that uses nothing for a
// minute has its whole RPM again. The four of a key are one hash.
func bucketsKey(key string) string  { return tagged(key, "buckets") }
func runningKey(key string) string  { return tagged(key, "running") }
func heldKey(key, id string) string { return tagged(key, "held:"+id) }
func usedKey(key, id string) string { return tagged(key, "used:"+id) }

// tagged hashes the key's name, which may hold anything.
func tagged(key, part string) string {
	sum := sha256.Sum256([]byte(key))
	return "pw:{meter:" + hex.EncodeToString(sum[:12]) + "}:" + part
}

// Reserve takes one request and a number of tokens from a key's limits, or
// refuses with *Exceeded. The grant of a limit on concurrency is to be released.
// Tokens are settled under the id when it is known what was used.
func (m *Meter) Reserve(ctx context.Context, key, id string, l Limits, tokens int) (*Grant, error) {
	grant := &Grant{meter: m, key: key, id: id}
	if l == (Limits{}) {
		return grant, nil
	}

	refused, running, levels, err := m.ask(ctx, key, id, l, tokens)
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

	e := &Exceeded{Dimension: d, Limit: l.of(d), Requested: 1, States: grant.States}
	if d.Tokens() {
		e.Requested = tokens
	}
	level := levels[refused-1]

	e.Used = e.Limit - int(level)
	if !e.TooLarge() {
		e.After = refill(float64(e.Requested)-level, e.Limit, d)
	}

	return nil, e
}

// Look returns the state of a key's limits, and takes nothing.
func (m *Meter) Look(ctx context.Context, key string, l Limits) (map[Dimension]State, error) {
	if l == (Limits{}) {
		return nil, nil
	}

	_, _, levels, err := m.ask(ctx, key, "", l, 0)
	if err != nil {
		return nil, err
	}

	return states(l, levels), nil
}

// ask runs reserveScript.
func (m *Meter) ask(
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
		args = append(args, l.of(d), d.window().Milliseconds())
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
		err = fmt.Errorf("the limits of a key: %w", err)
	}

	return refused, running, levels, err
}

// states is how the limited dimensions stand.
func states(l Limits, levels [len(dimensions)]float64) map[Dimension]State {
	out := map[Dimension]State{}

	for i, d := range dimensions {
		if limit := l.of(d); limit > 0 {
			out[d] = State{
				Limit:     limit,
				Remaining: max(0, int(levels[i])),
				Reset:     refill(float64(limit)-levels[i], limit, d),
			}
		}
	}

	return out
}

// refill is how long an amount takes to come back.
func refill(amount float64, limit int, d Dimension) time.Duration {
	return max(0, time.Duration(amount/float64(limit)*float64(d.window())))
}

// Release ends a request's count among those that run. Twice is harmless.
func (g *Grant) Release(ctx context.Context) {
	g.meter.mu.Lock()
	_, running := g.meter.grants[g]
	delete(g.meter.grants, g)
	g.meter.mu.Unlock()

	if !running {
		return
	}

	if err := g.meter.rdb.ZRem(ctx, runningKey(g.key), g.id).Err(); err != nil {
		g.meter.log.Warn("a finished request still counts for a while", "key", g.key, "err", err)
	}
}

// Settle gives back what was reserved under id and takes what was used. Callers that
// each know a part of the use may each call it. The reservation is given back once, and
// the use is taken once for each use id, so that a call may be repeated.
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
			m.log.Warn("running requests could not be renewed", "requests", len(grants), "err", err)
		}
	}
}
