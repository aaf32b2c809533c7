package chromium

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// current returns the browser that takes prints, and waits for one to start if
// there is none. A launch that failed is not repeated before its back-off is
// over: until then its error is returned at once.
func (b *Browser) current(ctx context.Context) (*instance, error) {
	b.mu.Lock()
	switch {
	case b.background.Err() != nil:
		b.mu.Unlock()
		return nil, unavailable(errStopped)
	case !b.started:
		b.mu.Unlock()
		return nil, unavailable(errNotStarted)
	case b.cur != nil && b.cur.usable():
		defer b.mu.Unlock()
		return b.cur, nil
	}
	l, err, early := b.launch(), b.lastErr, time.Until(b.notBefore)
	b.mu.Unlock()

	if l == nil {
		return nil, &tooEarly{unfit(err), early}
	}

	select {
	case <-l.done:
		if l.err != nil {
			return nil, unfit(l.err)
		}

		return l.inst, nil
	case <-ctx.Done():
		return nil, ended(ctx)
	}
}

// tooEarly is the error of a launch whose back-off lasts for left.
type tooEarly struct {
	error
	left time.Duration
}

func (e *tooEarly) Unwrap() error { return e.error }

// another is current for who has lost a browser, and is to have one more try: a
// browser that was young begins a back-off with its end, perhaps before its loss is
// noticed here. Who has no time for it is not to pay for the browser.
func (b *Browser) another(ctx context.Context) (*instance, error) {
	for {
		inst, err := b.current(ctx)

		early, ok := errors.AsType[*tooEarly](err)
		if end, bounded := ctx.Deadline(); !ok || bounded && time.Until(end) <= early.left {
			return inst, err
		}

		select {
		case <-time.After(early.left):
		case <-b.background.Done():
		case <-ctx.Done():
			return nil, ended(ctx)
		}
	}
}

// launch begins a launch, or joins the one under way; nil means that it is too
// early for one. The lock is held.
func (b *Browser) launch() *launching {
	if b.launching != nil || b.background.Err() != nil || time.Now().Before(b.notBefore) {
		return b.launching
	}
	b.launching = &launching{done: make(chan struct{})}
	b.work.Go(b.bringUp)

	return b.launching
}

// bringUp starts a browser and lets it take over from the present one.
func (b *Browser) bringUp() {
	ctx, cancel := context.WithTimeoutCause(b.background, b.opt.StartTimeout,
		fmt.Errorf("not up within %s", b.opt.StartTimeout))
	defer cancel()
	begun := time.Now()
	inst, err := launch(ctx, b.opt)

	b.mu.Lock()
	l, old := b.launching, b.cur
	b.launching = nil

	l.inst, l.err = inst, err
	if err == nil {
		b.count.launches.Add(1) // before who waits for it prints
	}
	close(l.done)

	if err != nil {
		b.failed(err)
		b.mu.Unlock()

		if b.background.Err() == nil {
			b.log.Error("browser not started", "error", err)
		}

		return
	}
	b.lastErr = nil
	b.cur = inst
	b.live[inst] = true
	b.work.Go(func() { b.attend(inst) })

	if b.background.Err() != nil {
		inst.retire()
	}
	b.mu.Unlock()

	b.log.Info("browser started", "pid", inst.proc.PID, "version", inst.version,
		"sandbox", inst.noSandbox == "", "network_isolated", inst.isolated, "ms", time.Since(begun).Milliseconds())

	if old != nil && old.usable() { // one that died is counted as such
		old.retire()
	}
	inst.warm(ctx)
}

// failed puts the next launch off: 250 ms, doubled each time, at most 10 s. The
// lock is held.
func (b *Browser) failed(err error) {
	b.lastErr = err
	b.notBefore = time.Now().Add(min(250*time.Millisecond<<min(b.failures, 6), 10*time.Second))
	b.failures++
}

// proven forgets the failures: the browser prints.
func (b *Browser) proven() {
	b.mu.Lock()
	b.failures = 0
	b.mu.Unlock()
}

// attend sees a browser to its end.
func (b *Browser) attend(inst *instance) {
	select {
	case <-inst.conn.done:
		inst.proc.Kill() // without a connection it is of no use
	case <-inst.proc.Exited:
	}
	<-inst.proc.Exited
	inst.conn.close(errConnClosed)

	inst.mu.Lock()
	wanted, prints := inst.retired, inst.prints
	inst.retired = true
	inst.mu.Unlock()
	inst.dropSpare()
	b.mu.Lock()
	delete(b.live, inst)

	if !wanted && prints == 0 {
		b.failed(
			fmt.Errorf("the last browser died at once: %w; it said: %q", inst.conn.cause(), inst.proc.LastWords()),
		)
	}

	if !wanted {
		b.count.crashes.Add(1)
	}

	if b.cur == inst {
		b.cur = nil
		if !b.opt.foreign {
			b.launch()
		}
	}
	b.mu.Unlock()

	if !wanted {
		b.log.Error(
			"browser died",
			"pid",
			inst.proc.PID,
			"prints",
			prints,
			"error",
			inst.conn.cause(),
			"stderr",
			inst.proc.LastWords(),
		)

		return
	}
	b.log.Info("browser ended", "pid", inst.proc.PID, "prints", prints)
}

// replace starts a new browser that takes over from inst.
func (b *Browser) replace(inst *instance, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.cur != inst || b.launching != nil || b.launch() == nil {
		return
	}
	b.count.recycles.Add(1)
	b.log.Info("replacing the browser", "pid", inst.proc.PID, "why", why)
}

// The janitor's intervals. A document is dropped once its tab has been idle for
// idleAfter: under load the next document drops it, at no cost.
const (
	cleanEvery  = time.Second
	idleAfter   = time.Second
	checkEvery  = 5 * time.Second
	pingTimeout = 5 * time.Second
	maxMisses   = 2
	// settled is how long after its last work a browser's memory may still change, and
	// memoryFor how long that of one at rest is taken for the same. Reading it goes through
	// all processes of the machine and all pages of the browser's.
	settled   = 10 * time.Second
	memoryFor = time.Minute
)

// janitor empties idle tabs, and replaces the browser for its age, its memory
// or its silence.
func (b *Browser) janitor() {
	clean, check := time.NewTicker(cleanEvery), time.NewTicker(checkEvery)
	defer clean.Stop()
	defer check.Stop()
	misses := 0
	var asked *instance // the one the misses are of

	for {
		select {
		case <-b.background.Done():
			return
		case <-clean.C:
			b.killHogs()

			if inst := b.peek(); inst != nil {
				b.empty(inst)

				if inst.printed() > 0 && time.Since(inst.born) >= b.opt.RecycleAge {
					b.replace(inst, "it is old")
				}

				if b.opt.foreign {
					inst.retireIdle(time.Now().Add(-b.opt.idleAfter))
				}
			}
		case <-check.C:
			inst := b.peek()
			if inst != asked {
				asked, misses = inst, 0
			}

			if inst == nil {
				continue
			}
			var memory int64
			// With a renderer that took too much the browser has it no more: the pages beside
			// that one are not to pay.
			if !b.killHogs() &&
				inst.proc.MemoryBound() > b.opt.MaxMemory { // else it need not be weighed, which takes milliseconds
				memory = inst.memory()
			}

			switch {
			case b.opt.foreign && memory > foreignMemory*b.opt.MaxMemory:
				b.log.Error("the browser takes too much memory; killing it", "pid", inst.proc.PID, "mib", memory>>20)
				inst.proc.Kill()
			case memory > b.opt.MaxMemory:
				b.replace(inst, fmt.Sprintf("it takes %d MiB", memory>>20))
			}

			if inst.ping(b.background) == nil || b.background.Err() != nil {
				misses = 0
			} else if misses++; misses == maxMisses {
				b.log.Error("the browser does not answer; killing it", "pid", inst.proc.PID)
				inst.proc.Kill()
				misses = 0
			}
		}
	}
}

// peek returns the current browser, or nil.
func (b *Browser) peek() *instance {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.cur == nil || !b.cur.usable() {
		return nil
	}

	return b.cur
}

// killHogs ends renderers, of retired browsers too, that would take the whole
// machine's memory before their print's deadline. It reports whether there was one.
func (b *Browser) killHogs() (found bool) {
	b.mu.Lock()
	live := slices.Collect(maps.Keys(b.live))
	b.mu.Unlock()

	for _, inst := range live {
		if !inst.grown(time.Now().Add(-settled)) {
			continue
		}

		if pid := inst.proc.KillRenderer(b.opt.rendererLimit()); pid != 0 {
			b.log.Warn("killed a renderer for its memory", "pid", inst.proc.PID, "renderer", pid)
			found = true
		}
	}

	return found
}

// empty drops the documents of idle tabs, as long as no print wants a slot.
func (b *Browser) empty(inst *instance) {
	for {
		select {
		case b.slots <- struct{}{}:
		default:
			return
		}

		t := inst.takeDirty(time.Now().Add(-idleAfter))
		if t == nil {
			<-b.slots
			return
		}
		ctx, cancel := context.WithTimeout(b.background, closeTimeout)
		inst.release(t, t.clear(ctx) == nil)
		cancel()
		<-b.slots
	}
}

// ping asks the browser whether it is there, and how many tabs it has.
func (i *instance) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()

	targets, err := proto.TargetGetTargets{}.Call(i.rod.Context(ctx))
	if err != nil {
		return err
	}
	n := 0

	for _, target := range targets.TargetInfos {
		if target.Type == proto.TargetTargetInfoTypePage {
			n++
		}
	}
	i.pages.Store(int64(n))

	return nil
}
