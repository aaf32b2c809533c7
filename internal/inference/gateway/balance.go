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

// maxCooldown bounds the cooldown that an upstream's Retry-After asks for: a wrong header must not stop it for hours.
const maxCooldown = 5 * time.Minute

// maxDoublings bounds how often a pause of 1 s doubles, so that the duration cannot overflow.
const maxDoublings = 30

// balancer assigns slots at upstreams to requests. An upstream that failed cools: it gets requests only when no healthy
// upstream is left. An upstream at its rate limit pauses and gets none. The balancer keeps the states of
// upstreams when the catalogue is reloaded. It is safe for concurrent use.
type balancer struct {
	mu      sync.Mutex
	states  map[string]*upstreamState
	waiters []*waiter // in order of arrival
	// turns holds the number of each owner's last turn, and turn the number of the last turn of any owner. Owners
	// take turns, so that many requests of one owner do not block the others.
	turns map[string]uint64
	turn  uint64
}

// upstreamState is the state of one upstream.
type upstreamState struct {
	active    int       // slots that are taken
	coolUntil time.Time // end of the cooldown
	last      error     // the failure that began the cooldown or the pause
	// pauseUntil is when its rate limit allows requests again.
	pauseUntil time.Time
	// unspecifiedPauses counts the pauses since the last success for which the upstream gave no Retry-After.
	unspecifiedPauses int
	// wakeTimer admits waiters when the upstream may be chosen again; nil before the first
	// cooldown or pause.
	wakeTimer *time.Timer
}

// waiter is a request that waits for a slot.
type waiter struct {
	model *inference.Model
	owner string
	tier  int
	tried map[string]bool // upstreams that have failed for this request
	slot  chan grant      // buffered, because grantNext sends while it holds the lock
}

// grant is a slot at an upstream, or the error that ends the wait for one.
type grant struct {
	upstream *inference.Upstream
	err      error
}

func newBalancer() *balancer {
	return &balancer{states: map[string]*upstreamState{}, turns: map[string]uint64{}}
}

// state returns the state of an upstream, and creates it if necessary. The caller holds the lock.
func (b *balancer) state(u *inference.Upstream) *upstreamState {
	s := b.states[u.Key()]
	if s == nil {
		s = &upstreamState{}
		b.states[u.Key()] = s
	}

	return s
}

// acquire waits for a slot at one of the model's upstreams that were not tried, or at any if all were. The caller
// must return the slot by release or releaseLimited. If all upstreams pause, acquire returns a 429 with the shortest
// pause as RetryAfter. If ctx ends first, acquire returns its cause.
func (b *balancer) acquire(
	ctx context.Context, m *inference.Model, caller requester, tried map[string]bool,
) (*inference.Upstream, error) {
	b.mu.Lock()
	if err := b.checkPauses(m); err != nil {
		b.mu.Unlock()
		return nil, err
	}

	if u := b.pickUpstream(m, tried); u != nil {
		b.mu.Unlock()
		return u, nil
	}
	w := &waiter{model: m, owner: caller.owner, tier: tierRank(caller.tier), tried: tried, slot: make(chan grant, 1)}
	b.waiters = append(b.waiters, w)
	b.mu.Unlock()

	select {
	case g := <-w.slot:
		return g.upstream, g.err
	case <-ctx.Done():
	}
	b.mu.Lock()
	b.waiters = slices.DeleteFunc(b.waiters, func(o *waiter) bool { return o == w })
	b.mu.Unlock()

	select {
	case g := <-w.slot: // grant at the moment when ctx ended
		if g.err == nil {
			// An error without a cooldown leaves the health of the upstream as it is.
			b.release(g.upstream, 0, context.Cause(ctx))
		}
	default:
	}

	return nil, context.Cause(ctx)
}

// checkPauses returns a 429 with the shortest pause if all upstreams of a model pause, else nil. The caller holds the
// lock.
func (b *balancer) checkPauses(m *inference.Model) error {
	now := time.Now()
	var shortest time.Duration

	for i := range m.Upstreams {
		wait := b.state(&m.Upstreams[i]).pauseUntil.Sub(now)
		if wait <= 0 {
			return nil
		}

		if i == 0 || wait < shortest {
			shortest = wait
		}
	}
	e := inference.Errorf(http.StatusTooManyRequests, inference.RateLimitExceeded,
		"the model is at its rate limit; please try again in %s", shortest.Round(time.Millisecond))
	e.RetryAfter = shortest

	return e
}

// rateLimited is checkPauses for a caller that does not hold the lock.
func (b *balancer) rateLimited(m *inference.Model) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.checkPauses(m)
}

// releaseLimited returns a slot after a 429. The upstream pauses for wait, or longer if an earlier 429 asked for
// more. If wait is 0 the pause is 1 s, and doubles with each 429 up to longest, until a request succeeds.
// If wait and longest are 0, the upstream gets no new pause.
func (b *balancer) releaseLimited(u *inference.Upstream, wait, longest time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state(u)
	s.active--
	// Requests that began before the pause do not extend it.
	if wait == 0 && longest > 0 && !s.pauseUntil.After(time.Now()) {
		wait = min(time.Second<<min(s.unspecifiedPauses, maxDoublings), longest)
		s.unspecifiedPauses++
	}

	if until := time.Now().Add(wait); wait > 0 && until.After(s.pauseUntil) {
		s.pauseUntil, s.last = until, err
		b.scheduleWake(s)
	}
	b.grantAll()
}

// scheduleWake sets the timer that admits waiters when an upstream may be chosen again. That is at the end of its
// pause, and once more when it has cooled.
func (b *balancer) scheduleWake(s *upstreamState) {
	now := time.Now()

	next := s.coolUntil
	if s.pauseUntil.After(now) {
		next = s.pauseUntil
	}

	if s.wakeTimer == nil {
		s.wakeTimer = time.AfterFunc(next.Sub(now), func() { b.wake(s) })
	} else {
		s.wakeTimer.Reset(next.Sub(now))
	}
}

// release returns a slot. With a cooldown above 0 the upstream cools that long, at most maxCooldown, because of err.
// Without an error the upstream is healthy again.
func (b *balancer) release(u *inference.Upstream, cooldown time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state(u)
	s.active--

	switch {
	case cooldown > 0:
		cooldown = min(cooldown, maxCooldown)
		s.coolUntil, s.last = time.Now().Add(cooldown), err
		b.scheduleWake(s)
	case err == nil:
		s.coolUntil, s.last, s.unspecifiedPauses = time.Time{}, nil, 0
	}
	b.grantAll()
}

// wake assigns the slots of an upstream that has cooled or ended its pause.
func (b *balancer) wake(s *upstreamState) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if now := time.Now(); s.coolUntil.After(now) || s.pauseUntil.After(now) {
		b.scheduleWake(s)
	}
	b.grantAll()
}

// grantAll assigns all free slots. Waiters whose upstreams all pause get an error. The caller holds the lock.
func (b *balancer) grantAll() {
	for b.grantNext() {
		// It ends when no waiter can use a slot.
	}

	b.waiters = slices.DeleteFunc(b.waiters, func(w *waiter) bool {
		err := b.checkPauses(w.model)
		if err != nil {
			w.slot <- grant{err: err}
		}

		return err != nil
	})
	// Without waiters no owner waits for a turn, and the map would keep every owner forever.
	if len(b.waiters) == 0 {
		clear(b.turns)
	}
}

// grantNext assigns a slot to the next waiter that can use one, and reports whether there was one. The most urgent
// tier comes first, then the owner whose last turn was the longest ago, then the request that arrived first.
func (b *balancer) grantNext() bool {
	order := slices.Clone(b.waiters)
	slices.SortStableFunc(order, func(x, y *waiter) int {
		return cmp.Or(cmp.Compare(x.tier, y.tier), cmp.Compare(b.turns[x.owner], b.turns[y.owner]))
	})

	for _, w := range order {
		if u := b.pickUpstream(w.model, w.tried); u != nil {
			b.turn++
			b.turns[w.owner] = b.turn
			b.waiters = slices.DeleteFunc(b.waiters, func(o *waiter) bool { return o == w })
			w.slot <- grant{upstream: u}

			return true
		}
	}

	return false
}

// tierRank returns the order of a service tier; the smallest is the most urgent.
func tierRank(serviceTier string) int {
	switch serviceTier {
	case "performance":
		return 0
	case "flex":
		return 2
	}

	return 1
}

// pickUpstream takes a slot for a request of the model, if one is free; otherwise it returns nil. It chooses a
// cooling upstream only if there is no healthy one, and never one that pauses. The caller holds the lock.
func (b *balancer) pickUpstream(m *inference.Model, tried map[string]bool) *inference.Upstream {
	now := time.Now()
	var healthy, cooling []*inference.Upstream
	full := false // a healthy upstream has no free slot: wait for it instead of using a cooling one

	// An upstream that was tried is chosen again only when no other one is left.
	untried := slices.ContainsFunc(
		m.Upstreams,
		func(u inference.Upstream) bool { return !tried[u.Key()] && !b.state(&u).pauseUntil.After(now) },
	)
	for i := range m.Upstreams {
		u := &m.Upstreams[i]

		s := b.state(u)
		switch {
		case s.pauseUntil.After(now) || untried && tried[u.Key()]: // not a candidate
		case u.MaxConcurrency > 0 && s.active >= u.MaxConcurrency:
			full = full || !s.coolUntil.After(now)
		case s.coolUntil.After(now):
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
			func(x, y *inference.Upstream) int { return b.state(x).coolUntil.Compare(b.state(y).coolUntil) },
		)
	}
	b.state(u).active++

	return u
}

// choose picks among the upstreams with the lowest Priority: the least busy or a weighted random one. It modifies list.
// Weights are at least 1.
func (b *balancer) choose(strategy string, list []*inference.Upstream) *inference.Upstream {
	lowest := slices.MinFunc(list, func(x, y *inference.Upstream) int { return x.Priority - y.Priority }).Priority

	list = slices.DeleteFunc(list, func(u *inference.Upstream) bool { return u.Priority != lowest })
	if strategy == inference.LeastBusy {
		return slices.MinFunc(list, func(x, y *inference.Upstream) int {
			// Compare (active+1)/Weight without a division.
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

// status returns the number of active requests of an upstream, when its cooldown or pause ends, and the failure that
// began it.
func (b *balancer) status(u *inference.Upstream) (active int, until time.Time, last error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	s := b.state(u)
	if until = s.coolUntil; s.pauseUntil.After(until) {
		until = s.pauseUntil
	}

	return s.active, until, s.last
}
