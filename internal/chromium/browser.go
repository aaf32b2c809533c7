// Package chromium prints pages with a headless Chromium that it starts, confines,
// watches and replaces.
//
// Browser prints composed pages in warm tabs with scripts off. Its browser reaches no
// network and does not run as root. Exporter opens pages of other people in a second
// browser, whose only way to the network is the guard's filtering proxy.
//
// At any time one instance takes new prints. An instance that is old, large, dead or hung
// is replaced. The prints on a replaced instance finish; those on a dead one are tried
// once more.
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

// Browser prints pages. It satisfies document.Printer. All its methods may be called
// concurrently.
type Browser struct {
	opt   Options
	log   *slog.Logger
	slots chan struct{} // one token for each print at work, and sometimes one for the janitor
	// inside is the number of prints that are at work or wait for a slot, busy that of those at work.
	inside, busy atomic.Int64
	count        counters
	health       healthState // for Health

	background context.Context // ends with Stop
	stop       context.CancelCauseFunc
	work       sync.WaitGroup // launches, the janitor and awaitEnd of each instance

	mu        sync.Mutex
	started   bool
	live      map[*instance]bool
	cur       *instance
	launching *launching // the launch of the instance that replaces cur
	failures  int        // consecutive launches that failed or ended without a print
	notBefore time.Time  // time of the next launch
	lastErr   error      // error of the last launch
}

// launching is a launch in progress. inst and err are set when done is closed.
type launching struct {
	done chan struct{}
	inst *instance
	err  error
}

var (
	errNotStarted = errors.New("it has not been started")
	errStopped    = errors.New("it has been stopped")
)

// New returns a Browser. The caller must call Start before it prints, and Stop at the end.
func New(opt Options) *Browser {
	opt = opt.withDefaults()
	b := &Browser{opt: opt, log: opt.Log, slots: make(chan struct{}, max(opt.Tabs, 1)), live: map[*instance]bool{}}
	b.background, b.stop = context.WithCancelCause(context.Background())

	return b
}

// Start deletes the profiles of earlier processes and starts the browser in the
// background. A failed launch is logged, and the next print retries it. The error names
// invalid options. ctx is not used after Start has returned.
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

	if !b.opt.foreign { // the first export starts that browser
		b.beginLaunch()
	}
	b.work.Go(b.janitor)

	return nil
}

// Stop rejects new prints, lets the prints at work finish until ctx ends, and kills the
// browser. It returns when no process and no profile of the browser is left. The error
// means that prints were cut off.
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

// Kill ends the browser at once, for a program that is about to exit. When it returns, the
// profiles are deleted and every process has been sent SIGKILL. Prints at work fail.
//
// Unlike Stop, Kill does not wait until the processes have ended. That wait is a tenth of
// the time of a short document.
func (b *Browser) Kill() error {
	b.stop(errStopped)
	b.mu.Lock()
	if l := b.launching; l != nil {
		b.mu.Unlock()
		<-l.done // runLaunch retires the instance that it has started
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

// Print returns the page's PDF. Errors:
//   - RenderTimeout when ctx's deadline or Options.PrintTimeout has passed,
//   - RenderFailed when this page cannot be printed: its renderer crashed twice, it
//     navigates away, the PDF is too large, or Chromium rejects it,
//   - InvalidOption for page ranges that Chromium rejects,
//   - BrowserUnavailable when a retry may succeed,
//   - the cause of ctx if it was cancelled.
func (b *Browser) Print(ctx context.Context, page printable.Page) ([]byte, error) {
	return b.withTab(ctx, page, func(ctx context.Context, t *tab) ([]byte, error) {
		return t.print(ctx, page, b.opt.MaxPDFBytes)
	})
}

// withTab runs work with a tab. It retries once when the tab is lost, and once when the browser is lost. Errors: those
// of Print.
func (b *Browser) withTab(ctx context.Context, page printable.Page,
	work func(context.Context, *tab) ([]byte, error),
) ([]byte, error) {
	if err := b.acquireSlot(ctx); err != nil {
		return nil, err
	}
	defer b.releaseSlot()
	// The time limit starts here: the wait for a slot does not count.
	ctx, cancel := context.WithTimeoutCause(ctx, b.opt.PrintTimeout,
		fault.Errorf(fault.RenderTimeout, "the document took longer than %s to print", b.opt.PrintTimeout))
	defer cancel()

	// Another page can cause the loss of a tab or a browser, for example the tab's last
	// page by a delayed navigation. So each loss is retried once.
	var tabs, browsers int

	for next := b.current; ; {
		result, err := b.tryPrint(ctx, next, page, work)
		again := false

		switch {
		case err == nil:
			b.count.prints.Add(1)
			return result, nil
		case ctx.Err() != nil:
			b.count.cutOff.Add(1)
		case errors.Is(err, errRetired):
			again = true
		case errors.Is(err, errTabCrashed), errors.Is(err, errTabNavigated), errors.Is(err, errNoFrame):
			tabs++
			again = tabs < 2
			b.count.tabsLost.Add(1)
		case errors.Is(err, errConnClosed):
			browsers++
			again, next = browsers < 2, b.currentAfterLoss
		}

		if !again {
			return nil, b.publicError(ctx, err)
		}
		b.log.DebugContext(ctx, "printing again", "error", err)
	}
}

// acquireSlot waits for a slot, which releaseSlot returns. Errors: BrowserUnavailable when
// too many prints wait or the browser is stopped, RenderTimeout, the cause of ctx.
func (b *Browser) acquireSlot(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			b.inside.Add(-1)
		} else {
			b.busy.Add(1)
		}
	}()
	// Count the prints, not the slots: the janitor may hold a slot for a moment.
	if b.inside.Add(1) > int64(cap(b.slots)+b.opt.QueueLimit) {
		return fault.Errorf(fault.BrowserUnavailable, "the browser is busy and %d prints are already waiting",
			b.opt.QueueLimit)
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
		return contextError(ctx)
	}
}

// releaseSlot returns the slot. It updates the counters first: otherwise the next print
// could finish, and others begin, while this one is still counted.
func (b *Browser) releaseSlot() {
	b.inside.Add(-1)
	b.busy.Add(-1)
	<-b.slots
}

// tryPrint runs work once, with a tab of the instance that next returns.
func (b *Browser) tryPrint(ctx context.Context, next func(context.Context) (*instance, error), page printable.Page,
	work func(context.Context, *tab) ([]byte, error),
) ([]byte, error) {
	inst, err := next(ctx)
	if err != nil {
		return nil, err
	}

	t, err := inst.takeTab(ctx)
	if err != nil {
		return nil, err
	}
	result, err := work(ctx, t)
	err = t.refusalCause(ctx, err)
	_, refused := errors.AsType[*cdp.Error](err)
	// A tab that held a large document is closed: its renderer keeps the memory.
	inst.releaseTab(t, (err == nil || refused) && len(page.HTML) < streamFrom)

	if err != nil {
		return nil, err
	}
	b.clearFailures()

	if inst.countPrint() >= b.opt.RecycleAfter {
		b.replace(inst, "it has printed enough")
	}

	return result, nil
}

// launchError returns the error of a print for which no browser started. ErrUnfit in its
// chain says that the page is not the cause.
func launchError(err error) error { return unavailable(fmt.Errorf("%w: %w", fault.ErrUnfit, err)) }

// unavailable returns a BrowserUnavailable error with err as its cause.
func unavailable(err error) error {
	return fault.Errorf(fault.BrowserUnavailable, "the browser is not available").WithCause(err)
}
