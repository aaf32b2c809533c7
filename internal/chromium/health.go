package chromium

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The health check's patience: a success holds for a while, and one failure in
// a row is forgiven.
const (
	healthyFor    = 2 * time.Second
	toleratedMiss = 1
)

type pulse struct {
	mu     sync.Mutex
	good   time.Time // last success
	misses int       // failures since
}

// Health reports whether the browser can print: nil, or BrowserUnavailable with
// the reason. It starts the browser if need be.
func (b *Browser) Health(ctx context.Context) error {
	inst, err := b.current(ctx)
	if err != nil {
		return err
	}
	p := &b.pulse
	p.mu.Lock()
	defer p.mu.Unlock()

	if time.Since(p.good) < healthyFor {
		return nil
	}

	if err := inst.ping(ctx); err != nil {
		p.misses++
		if p.misses <= toleratedMiss {
			return nil
		}

		return unavailable(err)
	}
	p.good, p.misses = time.Now(), 0

	return nil
}

// Sandbox reports whether Chromium's own sandbox confines the running browser, and
// if not, why.
func (b *Browser) Sandbox() (on bool, reason string) {
	inst := b.peek()
	if inst == nil {
		return false, "no browser is running"
	}

	return inst.noSandbox == "", inst.noSandbox
}

// NetworkIsolated reports whether the running browser has an empty network
// namespace: none of its processes reaches anything, this machine included.
func (b *Browser) NetworkIsolated() bool {
	inst := b.peek()
	return inst != nil && inst.isolated
}

// Version names the engine, such as "HeadlessChrome/156.0.7300.12". It starts the
// browser if need be, and is "chromium" when that fails.
func (b *Browser) Version() string {
	ctx, cancel := context.WithTimeout(b.background, b.opt.StartTimeout)
	defer cancel()

	inst, err := b.current(ctx)
	if err != nil {
		return "chromium"
	}

	return inst.version
}

type counters struct {
	prints, cutOff, launches, recycles, crashes, tabsLost atomic.Int64
}

// Stats is a count of what happened since New, and the present state.
type Stats struct {
	// Prints are PDFs returned; CutOff are prints that their context ended.
	Prints, CutOff int64
	// Launches of a browser; Recycles are those that replaced one for its age,
	// count or memory.
	Launches, Recycles int64
	// Crashes are browsers that died; TabsLost are tabs whose renderer died, or
	// whose page left, under a print.
	Crashes, TabsLost int64
	// Busy prints are at work, Waiting ones wait for a tab.
	Busy, Waiting int
	// MemoryBytes is the memory of all browser processes (PSS); Linux only.
	MemoryBytes int64
	// Tabs are those that the browser which takes prints had, by its own count, when it
	// was last asked, which is every five seconds.
	Tabs int
	// Started is when the oldest browser that runs was started; zero for none.
	Started time.Time
}

// Idle reports how many more pages could be printed at once.
func (b *Browser) Idle() int { return max(cap(b.slots)-int(b.inside.Load()), 0) }

// Stats returns the counters. Reading the memory takes some milliseconds; that of a browser
// at rest may be a minute old.
func (b *Browser) Stats() Stats {
	busy := b.busy.Load()

	s := Stats{
		Prints: b.count.prints.Load(), CutOff: b.count.cutOff.Load(),
		Launches: b.count.launches.Load(), Recycles: b.count.recycles.Load(),
		Crashes: b.count.crashes.Load(), TabsLost: b.count.tabsLost.Load(),
		Busy: int(busy), Waiting: int(max(b.inside.Load()-busy, 0)),
	}
	if inst := b.peek(); inst != nil {
		s.Tabs = int(inst.pages.Load())
	}
	b.mu.Lock()

	live := slices.Collect(maps.Keys(b.live))
	for _, inst := range live {
		if s.Started.IsZero() || inst.born.Before(s.Started) {
			s.Started = inst.born
		}
	}
	b.mu.Unlock()

	for _, inst := range live {
		s.MemoryBytes += inst.memory()
	}

	return s
}
