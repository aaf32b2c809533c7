// Package chromium runs and supervises the browser: it finds, starts, confines,
// watches and replaces a headless Chromium, and prints our own pages with it.
//
// Pages are printed in warm tabs with scripts off, in a browser that can reach
// no network and does not run as root. At any time one instance takes new
// prints; one that is old, large, dead or hung is replaced, and the prints it
// still has are let finish, or tried again once.
package chromium

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-rod/rod/lib/cdp"

	"presswork/internal/chromium/printable"
	"presswork/internal/chromium/process"
	"presswork/internal/fault"
)

// Browser prints pages. It satisfies document.Printer.
type Browser struct {
	opt   Options
	log   *slog.Logger
	slots chan struct{} // one per print at work, and the janitor's
	// inside counts the prints at work or waiting for a slot, busy those at work.
	inside, busy atomic.Int64
	count        counters
	pulse        pulse // for Health

	background context.Context // ends with Stop
	stop       context.CancelCauseFunc
	work       sync.WaitGroup // launches, the janitor, and every instance's life

	mu        sync.Mutex
	started   bool
	live      map[*instance]bool
	cur       *instance
	launching *launching // what will replace cur
	failures  int        // launches failed, or dead without one print, in a row
	notBefore time.Time  // of the next launch
	lastErr   error      // of the last launch
}

// launching is a launch under way, or its outcome once done is closed.
type launching struct {
	done chan struct{}
	inst *instance
	err  error
}

var (
	errNotStarted = errors.New("it has not been started")
	errStopped    = errors.New("it has been stopped")
)

// New returns a browser that Start must begin.
func New(opt Options) *Browser {
	opt = opt.withDefaults()
	b := &Browser{opt: opt, log: opt.Log, slots: make(chan struct{}, max(opt.Tabs, 1)), live: map[*instance]bool{}}
	b.background, b.stop = context.WithCancelCause(context.Background())

	return b
}

// Start deletes what an earlier process left behind, and starts the browser in
// the background: a launch that fails is logged and tried again with the next
// print. The error names wrong options. ctx is only for the start.
func (b *Browser) Start(ctx context.Context) error {
	if err := b.opt.validate(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.background.Err() != nil {
		return errStopped
	}

	if b.started {
		return nil
	}
	b.started = true
	process.Sweep(b.opt.Dir, b.log)

	if !b.opt.foreign { // that one is started when it is needed
		b.launch()
	}
	b.work.Go(b.janitor)

	return nil
}

// Stop lets the prints at work finish until ctx ends, kills the browser and
// returns when no process and no profile of it is left. New prints are refused
// at once.
func (b *Browser) Stop(ctx context.Context) error {
	b.stop(errStopped)
	b.mu.Lock()
	if b.cur != nil {
		b.cur.retire()
	}
	b.mu.Unlock()

	idle := make(chan struct{})

	go func() {
		b.work.Wait()
		close(idle)
	}()

	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	for inst := range b.live {
		inst.proc.Kill()
	}
	b.mu.Unlock()
	<-idle

	return fmt.Errorf("prints were cut off: %w", context.Cause(ctx))
}

// Kill ends the browser at once, for a program that ends as well. When it returns, no
// profile is left and every process has its SIGKILL; it does not wait, as Stop does,
// until the kernel has taken them apart, which is a tenth of what a short document
// takes. Prints at work fail.
func (b *Browser) Kill() error {
	b.stop(errStopped)
	b.mu.Lock()
	if l := b.launching; l != nil {
		b.mu.Unlock()
		<-l.done // it ends what it started, now that nobody wants it
		b.mu.Lock()
	}
	defer b.mu.Unlock()
	var errs []error

	for inst := range b.live {
		inst.retire()
		errs = append(errs, inst.proc.Discard())
	}

	return errors.Join(errs...)
}

// Print returns the page's PDF. Errors: RenderTimeout when ctx's deadline or
// PrintTimeout passed, RenderFailed when this page cannot be printed (its renderer crashed
// twice, it navigates away, the PDF is too large, Chromium refused), InvalidOption for page ranges
// that Chromium refuses, BrowserUnavailable when another try may heal it, ctx's
// own cause otherwise.
func (b *Browser) Print(ctx context.Context, page printable.Page) ([]byte, error) {
	return b.visit(ctx, page, func(ctx context.Context, t *tab) ([]byte, error) {
		return t.print(ctx, page, b.opt.MaxPDFBytes)
	})
}

// visit has work do something with page in a tab, and forgives the loss of one.
func (b *Browser) visit(
	ctx context.Context,
	page printable.Page,
	work func(context.Context, *tab) ([]byte, error),
) ([]byte, error) {
	if err := b.enter(ctx); err != nil {
		return nil, err
	}
	defer b.leave()
	// From here: a page must not pay for those that were before it.
	ctx, cancel := context.WithTimeoutCause(ctx, b.opt.PrintTimeout,
		fault.Errorf(fault.RenderTimeout, "the document took longer than %s to print", b.opt.PrintTimeout))
	defer cancel()

	// A tab or a browser may be lost through another page's fault (the last
	// one's delayed navigation, for example), so either loss is forgiven once.
	var tabs, browsers int

	for next := b.current; ; {
		result, err := b.try(ctx, next, page, work)
		again := false

		switch {
		case err == nil:
			b.count.prints.Add(1)
			return result, nil
		case ctx.Err() != nil:
			b.count.cutOff.Add(1)
		case errors.Is(err, errRetired):
			again = true
		case errors.Is(err, errTabCrashed), errors.Is(err, errTabStrayed):
			tabs++
			again = tabs < 2
			b.count.tabsLost.Add(1)
		case errors.Is(err, errConnClosed):
			browsers++
			again, next = browsers < 2, b.another
		}

		if !again {
			return nil, b.coin(ctx, err)
		}
		b.log.DebugContext(ctx, "printing again", "error", err)
	}
}

// enter waits for a slot. It is paired with leave.
func (b *Browser) enter(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			b.inside.Add(-1)
		} else {
			b.busy.Add(1)
		}
	}()
	// By the prints, not by the slots, of which the janitor may have one for a moment.
	if b.inside.Add(1) > int64(cap(b.slots)+b.opt.QueueLimit) {
		return fault.Errorf(
			fault.BrowserUnavailable,
			"the browser is busy and %d prints are already waiting",
			b.opt.QueueLimit,
		)
	}

	select {
	case b.slots <- struct{}{}:
		return nil
	default:
	}

	select {
	case b.slots <- struct{}{}:
		return nil
	case <-b.background.Done():
		return unavailable(errStopped)
	case <-ctx.Done():
		b.count.cutOff.Add(1)
		return ended(ctx)
	}
}

// leave gives the slot back, last: who gets it may have left, and others have come, before
// this one had counted itself out.
func (b *Browser) leave() {
	b.inside.Add(-1)
	b.busy.Add(-1)
	<-b.slots
}

// try works once.
func (b *Browser) try(
	ctx context.Context,
	next func(context.Context) (*instance, error),
	page printable.Page,
	work func(context.Context, *tab) ([]byte, error),
) ([]byte, error) {
	inst, err := next(ctx)
	if err != nil {
		return nil, err
	}

	t, err := inst.take(ctx)
	if err != nil {
		return nil, err
	}
	result, err := work(ctx, t)
	err = t.verdict(ctx, err)
	_, refused := errors.AsType[*cdp.Error](err)
	// A renderer keeps the memory that a large document took.
	inst.release(t, (err == nil || refused) && len(page.HTML) < streamFrom)

	if err != nil {
		return nil, err
	}
	b.proven()

	if inst.finished() >= b.opt.RecycleAfter {
		b.replace(inst, "it has printed enough")
	}

	return result, nil
}

// unfit is unavailable where the browser did not start: that says nothing of the page.
func unfit(err error) error { return unavailable(fmt.Errorf("%w: %w", fault.ErrUnfit, err)) }

func unavailable(err error) error {
	return fault.Errorf(fault.BrowserUnavailable, "the browser is not available").WithCause(err)
}
