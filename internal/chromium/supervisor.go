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

// current returns the instance that takes new prints. If there is none, it starts one and
// waits for it. During the back-off after a failed launch it returns that launch's error at
// once, as a backoffError.
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
	l, err, left := b.beginLaunch(), b.lastErr, time.Until(b.notBefore)
	b.mu.Unlock()

	if l == nil {
		return nil, &backoffError{launchError(err), left}
	}

	select {
	case <-l.done:
		if l.err != nil {
			return nil, launchError(l.err)
		}

		return l.inst, nil
	case <-ctx.Done():
		return nil, contextError(ctx)
	}
}

// backoffError is the error of the last launch, which failed. The next launch is possible after left.
type backoffError struct {
	error
	left time.Duration
}

// Unwrap returns the error of the launch.
func (e *backoffError) Unwrap() error { return e.error }

// currentAfterLoss is current for a caller whose browser died. It waits for the end of a
// back-off, which the death of a young browser begins. A caller whose deadline is earlier
// gets the error of the back-off at once.
func (b *Browser) currentAfterLoss(ctx context.Context) (*instance, error) {
	for {
		inst, err := b.current(ctx)

		backoff, isBackoff := errors.AsType[*backoffError](err)
		if end, bounded := ctx.Deadline(); !isBackoff || bounded && time.Until(end) <= backoff.left {
			return inst, err
		}

		select {
		case <-time.After(backoff.left):
		case <-b.background.Done():
		case <-ctx.Done():
			return nil, contextError(ctx)
		}
	}
}

// beginLaunch begins a launch or returns the one in progress. It returns nil during a
// back-off. The caller holds the lock.
func (b *Browser) beginLaunch() *launching {
	if b.launching != nil || b.background.Err() != nil || time.Now().Before(b.notBefore) {
		return b.launching
	}
	b.launching = &launching{done: make(chan struct{})}
	b.work.Go(b.runLaunch)

	return b.launching
}

// runLaunch starts an instance, which replaces the current one.
func (b *Browser) runLaunch() {
	ctx, cancel := context.WithTimeoutCause(b.background, b.opt.StartTimeout,
		fmt.Errorf("the browser did not start within %s", b.opt.StartTimeout))
	defer cancel()
	began := time.Now()
	inst, err := launch(ctx, b.opt)

	b.mu.Lock()
	l, old := b.launching, b.cur
	b.launching = nil

	l.inst, l.err = inst, err
	if err == nil {
		b.count.launches.Add(1) // before waiting prints begin
	}
	close(l.done)

	if err != nil {
		b.recordFailure(err)
		b.mu.Unlock()

		if b.background.Err() == nil {
			b.log.Error("browser not started", "error", err)
		}

		return
	}
	b.lastErr = nil
	b.cur = inst
	b.live[inst] = true
	b.work.Go(func() { b.awaitEnd(inst) })

	if b.background.Err() != nil {
		inst.retire()
	}
	b.mu.Unlock()

	b.log.Info("browser started", "pid", inst.proc.PID, "version", inst.version,
		"sandbox", inst.noSandbox == "", "network_isolated", inst.isolated, "ms", time.Since(began).Milliseconds())

	// The old instance ends after its last print. Until then two browsers take memory.
	if old != nil && old.usable() { // awaitEnd counts an instance that died
		old.retire()
	}
	inst.openTabs(ctx)
}

// recordFailure delays the next launch by 250 ms, doubled for each consecutive failure, at
// most 10 s. The caller holds the lock.
func (b *Browser) recordFailure(err error) {
	b.lastErr = err
	b.notBefore = time.Now().Add(min(250*time.Millisecond<<min(b.failures, 6), 10*time.Second))
	b.failures++
}

// clearFailures ends the series of failures after a successful print.
func (b *Browser) clearFailures() {
	b.mu.Lock()
	b.failures = 0
	b.mu.Unlock()
}

// awaitEnd waits until an instance has ended. If it died, awaitEnd records that and begins
// the next launch.
func (b *Browser) awaitEnd(inst *instance) {
	select {
	case <-inst.conn.done:
		inst.proc.Kill() // it cannot be used without a connection
	case <-inst.proc.Exited:
	}
	<-inst.proc.Exited
	inst.conn.close(errConnClosed)

	inst.mu.Lock()
	retired, prints := inst.retired, inst.prints // an instance that was not retired has died
	inst.retired = true
	inst.mu.Unlock()
	inst.dropSpare()
	b.mu.Lock()
	delete(b.live, inst)

	if !retired && prints == 0 {
		b.recordFailure(fmt.Errorf("the last browser died before its first print: %w; its stderr: %q",
			inst.conn.cause(), inst.proc.StderrEnd()))
	}

	if !retired {
		b.count.crashes.Add(1)
	}

	// The browser for documents must be ready before the next job. That for foreign pages starts when a page needs it.
	if b.cur == inst {
		b.cur = nil
		if !b.opt.foreign {
			b.beginLaunch()
		}
	}
	b.mu.Unlock()

	if !retired {
		b.log.Error("browser died", "pid", inst.proc.PID, "prints", prints,
			"error", inst.conn.cause(), "stderr", inst.proc.StderrEnd())

		return
	}
	b.log.Info("browser ended", "pid", inst.proc.PID, "prints", prints)
}

// replace starts a new instance that takes over from inst, which prints until the new one is
// ready. It does nothing if inst is no longer the current one. reason is for the log.
func (b *Browser) replace(inst *instance, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.cur != inst || b.launching != nil || b.beginLaunch() == nil {
		return
	}
	b.count.recycles.Add(1)
	b.log.Info("replacing the browser", "pid", inst.proc.PID, "why", reason)
}

// Intervals and limits of the janitor.
const (
	cleanEvery = time.Second
	// clearAfter is the idle time after which a tab's document is dropped. Under load the
	// next document replaces it sooner, at no cost.
	clearAfter     = time.Second
	checkEvery     = 5 * time.Second
	pingTimeout    = 5 * time.Second
	maxMissedPings = 2
	// memorySettles is how long after its last work a browser's memory may still change.
	// memoryValidFor is how long the reading for a browser at rest is used. Reading goes
	// through all processes of the machine and all memory pages of the browser.
	memorySettles  = 10 * time.Second
	memoryValidFor = time.Minute
)

// janitor clears idle tabs. It replaces the browser for its age or its memory, and kills it
// when it no longer answers.
func (b *Browser) janitor() {
	clean, check := time.NewTicker(cleanEvery), time.NewTicker(checkEvery)
	defer clean.Stop()
	defer check.Stop()
	misses := 0
	var pinged *instance // the instance that misses belongs to

	for {
		select {
		case <-b.background.Done():
			return
		case <-clean.C:
			b.killLargeRenderers()

			if inst := b.running(); inst != nil {
				b.clearIdleTabs(inst)

				if inst.printCount() > 0 && time.Since(inst.started) >= b.opt.RecycleAge {
					b.replace(inst, "it is old")
				}

				if b.opt.foreign {
					inst.retireIdle(time.Now().Add(-b.opt.idleAfter))
				}
			}
		case <-check.C:
			inst := b.running()
			if inst != pinged {
				pinged, misses = inst, 0
			}

			if inst == nil {
				continue
			}
			var memory int64
			// A large renderer that was just killed no longer counts: the other pages must
			// not suffer for it. The bound saves the exact reading, which takes milliseconds.
			if !b.killLargeRenderers() && inst.proc.MemoryBound() > b.opt.MaxMemory {
				memory = inst.memory()
			}

			switch {
			case b.opt.foreign && memory > foreignMemory*b.opt.MaxMemory:
				b.log.Error("killing the browser: it takes too much memory", "pid", inst.proc.PID, "mib", memory>>20)
				inst.proc.Kill()
			case memory > b.opt.MaxMemory:
				b.replace(inst, fmt.Sprintf("its memory is %d MiB", memory>>20))
			}

			if inst.ping(b.background) == nil || b.background.Err() != nil {
				misses = 0
			} else if misses++; misses == maxMissedPings {
				b.log.Error("killing the browser: it does not answer", "pid", inst.proc.PID)
				inst.proc.Kill()
				misses = 0
			}
		}
	}
}

// running returns the current instance if it takes prints, or nil. It starts none.
func (b *Browser) running() *instance {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.cur == nil || !b.cur.usable() {
		return nil
	}

	return b.cur
}

// killLargeRenderers kills renderers that exceed rendererLimit, also those of retired
// instances. Otherwise one could take the whole machine's memory before its print's
// deadline. It reports whether it has killed one.
func (b *Browser) killLargeRenderers() (found bool) {
	b.mu.Lock()
	live := slices.Collect(maps.Keys(b.live))
	b.mu.Unlock()

	for _, inst := range live {
		if !inst.memoryMayHaveChanged(time.Now().Add(-memorySettles)) {
			continue
		}

		if pid := inst.proc.KillRenderer(b.opt.rendererLimit()); pid != 0 {
			b.log.Warn("killed a renderer for its memory", "pid", inst.proc.PID, "renderer", pid)
			found = true
		}
	}

	return found
}

// clearIdleTabs drops the documents of idle tabs. It stops when prints need all slots.
func (b *Browser) clearIdleTabs(inst *instance) {
	for {
		select {
		case b.slots <- struct{}{}:
		default:
			return
		}

		t := inst.takeDirty(time.Now().Add(-clearAfter))
		if t == nil {
			<-b.slots
			return
		}
		ctx, cancel := context.WithTimeout(b.background, closeTimeout)
		inst.releaseTab(t, t.clear(ctx) == nil)
		cancel()
		<-b.slots
	}
}

// ping checks that the browser answers, and reads how many tabs it has.
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
	i.tabCount.Store(int64(n))

	return nil
}
