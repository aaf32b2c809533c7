package gateway

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"presswork/internal/inference"
)

// maxCooldown bounds what the Retry-After of an upstream that failed may ask for.
const maxCooldown = 5 * time.Minute

// maxDoublings keeps a rest that doubles from overflowing.
const maxDoublings = 30

// balancer hands out places at upstreams. It knows them across reloads of the
// catalogue. It is safe for concurrent use.
type balancer struct {
	mu      sync.Mutex
	states  map[string]*upstreamState
	waiters []*waiter // in the order in which they came
	// turns is when each owner's request was given a place after a wait: owners
	// take turns, so that one with many requests does not keep others from
	// theirs.
	turns map[string]uint64
	turn  uint64
}

type upstreamState struct {
	active int
	coolTo time.Time
	last   error // the failure it cools from
	// restTo is when its rate limit lets requests through again.
	restTo time.Time
	// limited counts the rests since the last success for which it named no time.
	limited int
	// cooled lets waiters in when coolTo or restTo has come; nil before the first.
	cooled *time.Timer
}

type waiter struct {
	model *inference.Model
	owner string
	tier  int
	tried map[string]bool
	place chan granted // buffered: a grant never blocks
}

// granted is a place at an upstream, or why there is none.
type granted struct {
	upstream *inference.Upstream
	err      error
}

func newBalancer() *balancer {
	return &balancer{states: map[string]*upstreamState{}, turns: map[string]uint64{}}
}

func (b *balancer) state(u *inference.Upstream) *upstreamState {
	s := b.states[u.Key()]
	if s == nil {
		s = &upstreamState{}
		b.states[u.Key()] = s
	}

	return s
}

// take waits for a place at one of the model's upstreams that is not tried, or
// at any when all are. Every place must be given back by release. While all of
// them rest, it fails with a 429 whose RetryAfter is for how long.
func (b *balancer) take(
	ctx context.Context,
	m *inference.Model,
	who turn,
	tried map[string]bool,
) (*inference.Upstream, error) {
	b.mu.Lock()
	if err := b.resting(m); err != nil {
		b.mu.Unlock()
		return nil, err
	}

	if u := b.pick(m, tried); u != nil {
		b.mu.Unlock()
		return u, nil
	}
	w := &waiter{model: m, owner: who.owner, tier: tierRank(who.tier), tried: tried, place: make(chan granted, 1)}
	b.waiters = append(b.waiters, w)
	b.mu.Unlock()

	select {
	case g := <-w.place:
		return g.upstream, g.err
	case <-ctx.Done():
	}
	b.mu.Lock()
	b.waiters = slices.DeleteFunc(b.waiters, func(o *waiter) bool { return o == w })
	b.mu.Unlock()

	select {
	case g := <-w.place: // granted while we left
		if g.err == nil {
			b.release(g.upstream, 0, context.Cause(ctx)) // which says nothing of how it does
		}
	default:
	}

	return nil, context.Cause(ctx)
}

// resting is the 429 of a model whose upstreams all rest, with the shortest
// wait; nil where one does not.
func (b *balancer) resting(m *inference.Model) error {
	now := time.Now()
	var shortest time.Duration

	for i := range m.Upstreams {
		wait := b.state(&m.Upstreams[i]).restTo.Sub(now)
		if wait <= 0 {
			return nil
		}

		if i == 0 || wait < shortest {
			shortest = wait
		}
	}
	e := inference.Errorf(
		http.StatusTooManyRequests,
		inference.RateLimitExceeded,
		"the model is at its rate limit; please try again in %s",
		shortest.Round(time.Millisecond),
	)
	e.RetryAfter = shortest

	return e
}

// rests is resting, for those who do not hold the lock.
func (b *balancer) rests(m *inference.Model) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.resting(m)
}

// rest gives a place back after a 429, and keeps the upstream from being chosen for
// wait, or longer if an earlier 429 asked for more. Without a wait it rests for 1 s, then
// 2 s, 4 s and so on up to most, until a request succeeds.
func (b *balancer) rest(u *inference.Upstream, wait, most time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state(u)
	s.active--
	// Requests that began before the rest do not lengthen it.
	if wait == 0 && most > 0 && !s.restTo.After(time.Now()) {
		wait = min(time.Second<<min(s.limited, maxDoublings), most)
		s.limited++
	}

	if until := time.Now().Add(wait); wait > 0 && until.After(s.restTo) {
		s.restTo, s.last = until, err
		b.wakeAt(s)
	}
	b.admitAll()
}

// wakeAt makes waiters be let in when an upstream is available again: when it has
// rested, and once more when it has cooled, if that is later.
func (b *balancer) wakeAt(s *upstreamState) {
	now := time.Now()

	next := s.coolTo
	if s.restTo.After(now) {
		next = s.restTo
	}

	if s.cooled == nil {
		s.cooled = time.AfterFunc(next.Sub(now), func() { b.wake(s) })
	} else {
		s.cooled.Reset(next.Sub(now))
	}
}

// release gives a place back. A cooldown above 0 keeps the upstream from being
// chosen that long, because of err; a nil error makes it healthy again.
func (b *balancer) release(u *inference.Upstream, cooldown time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state(u)
	s.active--

	switch {
	case cooldown > 0:
		cooldown = min(cooldown, maxCooldown)
		s.coolTo, s.last = time.Now().Add(cooldown), err
		b.wakeAt(s)
	case err == nil:
		s.coolTo, s.last, s.limited = time.Time{}, nil, 0
	}
	b.admitAll()
}

// wake gives out the places that an upstream has since it cooled or rested.
func (b *balancer) wake(s *upstreamState) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if now := time.Now(); s.coolTo.After(now) || s.restTo.After(now) {
		b.wakeAt(s)
	}
	b.admitAll()
}

func (b *balancer) admitAll() {
	for b.admit() {
	}

	b.waiters = slices.DeleteFunc(b.waiters, func(w *waiter) bool {
		err := b.resting(w.model)
		if err != nil {
			w.place <- granted{err: err}
		}

		return err != nil
	})
	if len(b.waiters) == 0 {
		clear(b.turns)
	}
}

// admit gives a place to the waiter whose turn it is, if there is one for it:
// the most urgent tier first, then the owner who has waited longest since its
// last turn, then who came first.
func (b *balancer) admit() bool {
	order := slices.Clone(b.waiters)
	slices.SortStableFunc(order, func(x, y *waiter) int {
		return cmp.Or(cmp.Compare(x.tier, y.tier), cmp.Compare(b.turns[x.owner], b.turns[y.owner]))
	})

	for _, w := range order {
		if u := b.pick(w.model, w.tried); u != nil {
			b.turn++
			b.turns[w.owner] = b.turn
			b.waiters = slices.DeleteFunc(b.waiters, func(o *waiter) bool { return o == w })
			w.place <- granted{upstream: u}

			return true
		}
	}

	return false
}

func tierRank(serviceTier string) int {
	switch serviceTier {
	case "performance":
		return 0
	case "flex":
		return 2
	}

	return 1
}

// pick takes a place for a request of the model, or gives nil when every
// upstream is full. A cooling one is chosen only when no healthy one is left, a
// resting one never.
func (b *balancer) pick(m *inference.Model, tried map[string]bool) *inference.Upstream {
	now := time.Now()
	var healthy, cooling []*inference.Upstream
	full := false

	untried := slices.ContainsFunc(
		m.Upstreams,
		func(u inference.Upstream) bool { return !tried[u.Key()] && !b.state(&u).restTo.After(now) },
	)
	for i := range m.Upstreams {
		u := &m.Upstreams[i]

		s := b.state(u)
		switch {
		case s.restTo.After(now) || untried && tried[u.Key()]:
		case u.MaxConcurrency > 0 && s.active >= u.MaxConcurrency:
			full = full || !s.coolTo.After(now)
		case s.coolTo.After(now):
			cooling = append(cooling, u)
		default:
			healthy = append(healthy, u)
		}
	}
	var u *inference.Upstream

	switch {
	case len(healthy) > 0:
		u = b.choose(m.Routing.Strategy, healthy)
	case full || len(cooling) == 0:
		return nil
	default:
		u = slices.MinFunc(
			cooling,
			func(x, y *inference.Upstream) int { return b.state(x).coolTo.Compare(b.state(y).coolTo) },
		)
	}
	b.state(u).active++

	return u
}

func (b *balancer) choose(strategy string, list []*inference.Upstream) *inference.Upstream {
	lowest := slices.MinFunc(list, func(x, y *inference.Upstream) int { return x.Priority - y.Priority }).Priority

	list = slices.DeleteFunc(list, func(u *inference.Upstream) bool { return u.Priority != lowest })
	if strategy == inference.LeastBusy {
		return slices.MinFunc(list, func(x, y *inference.Upstream) int {
			return (b.state(x).active+1)*y.Weight - (b.state(y).active+1)*x.Weight
		})
	}

	total := 0
	for _, u := range list {
		total += u.Weight
	}

	n := rand.IntN(total)
	for _, u := range list {
		if n -= u.Weight; n < 0 {
			return u
		}
	}

	return list[len(list)-1]
}

// look reports how an upstream stands.
func (b *balancer) look(u *inference.Upstream) (active int, until time.Time, last error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	s := b.state(u)
	if until = s.coolTo; s.restTo.After(until) {
		until = s.restTo
	}

	return s.active, until, s.last
}
