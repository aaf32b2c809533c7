package chromium

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A successful health check is valid for healthyFor. toleratedMisses failures in a row do not
// make the browser unhealthy.
const (
	healthyFor      = 2 * time.Second
	toleratedMisses = 1
)

// healthState is the history of health checks.
type healthState struct {
	mu          sync.Mutex
	lastSuccess time.Time
	misses      int // failures since lastSuccess
}

// Health checks that the browser answers. It starts the browser if none is running. A success is valid for healthyFor.
// The first failure after a success returns nil, the second one in a row an error. The error is BrowserUnavailable with
// the reason, or RenderTimeout when the deadline of ctx passes during the start.
func (b *Browser) Health(ctx context.Context) error {
	inst, err := b.current(ctx)
	if err != nil {
		return err
	}
	h := &b.health
	h.mu.Lock()
	defer h.mu.Unlock()

	if time.Since(h.lastSuccess) < healthyFor {
		return nil
	}

	if err := inst.ping(ctx); err != nil {
		h.misses++
		if h.misses <= toleratedMisses {
			return nil
		}

		return unavailable(err)
	}
	h.lastSuccess, h.misses = time.Now(), 0

	return nil
}

// Sandbox reports whether Chromium's own sandbox confines the running browser. reason says
// why not.
func (b *Browser) Sandbox() (on bool, reason string) {
	inst := b.running()
	if inst == nil {
		return false, "no browser is running"
	}

	return inst.noSandbox == "", inst.noSandbox
}

// NetworkIsolated reports whether the running browser has an empty network namespace. None
// of its processes then reaches any address, loopback included.
func (b *Browser) NetworkIsolated() bool {
	inst := b.running()
	return inst != nil && inst.isolated
}

// Version returns the engine's name and version, such as "HeadlessChrome/156.0.7300.12". It
// starts the browser if none is running, and returns "chromium" when that fails.
func (b *Browser) Version() string {
	ctx, cancel := context.WithTimeout(b.background, b.opt.StartTimeout)
	defer cancel()

	inst, err := b.current(ctx)
	if err != nil {
		return "chromium"
	}

	return inst.version
}

// counters are the counts of Stats.
type counters struct {
	prints, cutOff, launches, recycles, crashes, tabsLost atomic.Int64
}

// Stats are counts since New, and the present state.
type Stats struct {
	// Prints are successful prints. CutOff are prints whose context ended.
	Prints, CutOff int64
	// Launches are browsers started. Recycles are launches that replaced a browser for its
	// age, its prints or its memory.
	Launches, Recycles int64
	// Crashes are browsers that died. TabsLost are tabs whose renderer died or whose page
	// navigated away during a print.
	Crashes, TabsLost int64
	// Busy is the number of prints at work, Waiting of those that wait for a slot.
	Busy, Waiting int
	// MemoryBytes is the memory of all browser processes (PSS); Linux only.
	MemoryBytes int64
	// Tabs is the number of tabs of the current browser, as it reported at the last check.
	// Checks are five seconds apart.
	Tabs int
	// Started is the start time of the oldest running browser; zero if none is running.
	Started time.Time
}

// Idle returns the number of prints that could begin now without waiting.
func (b *Browser) Idle() int { return max(cap(b.slots)-int(b.inside.Load()), 0) }

// Stats returns the counters. It takes a few milliseconds to read the memory. The memory of
// a browser at rest may be a minute old.
func (b *Browser) Stats() Stats {
	busy := b.busy.Load()

	s := Stats{
		Prints: b.count.prints.Load(), CutOff: b.count.cutOff.Load(),
		Launches: b.count.launches.Load(), Recycles: b.count.recycles.Load(),
		Crashes: b.count.crashes.Load(), TabsLost: b.count.tabsLost.Load(),
		Busy: int(busy), Waiting: int(max(b.inside.Load()-busy, 0)),
	}
	if inst := b.running(); inst != nil {
		s.Tabs = int(inst.tabCount.Load())
	}
	b.mu.Lock()

	live := slices.Collect(maps.Keys(b.live))
	for _, inst := range live {
		if s.Started.IsZero() || inst.started.Before(s.Started) {
			s.Started = inst.started
		}
	}
	b.mu.Unlock()

	for _, inst := range live {
		s.MemoryBytes += inst.memory()
	}

	return s
}
