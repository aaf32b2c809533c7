package chromium_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/fault"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// slow keeps a renderer busy for about 300 ms.
var slow = page(strings.Repeat("<table><tr><td>some<td>cells<td>1234</tr></table><p>and text", 1500))

// endless keeps a renderer busy for minutes.
var endless = page("<p>" + strings.Repeat("<span>x</span>", 5<<17))

// wantCode checks the code of an error.
func wantCode(t *testing.T, err error, want fault.Code) {
	t.Helper()

	if got := fault.CodeOf(err); got != want {
		t.Errorf("error %v, want code %s", err, want)
	}
}

// pids returns the processes of one kind of the browsers with a profile below dir.
func pids(t testing.TB, dir, kind string) []int {
	var pids []int

	for _, p := range processes(t, dir) {
		if p.kind() == kind {
			pids = append(pids, p.pid)
		}
	}

	return pids
}

func TestCancelledPrintReturnsTheCause(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 1})
	mustPrint(t, b, page("x"))
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the job was cancelled")
	done := startPrint(ctx, t, b, endlessText)
	cancel(cause)
	// Without the cancellation the print would end with its time limit, two minutes later.
	if err := wait.Receive(t, "the cancelled print's end", done); !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
	mustPrint(t, b, page("y"))
	wait.Until(t, "the tab of the cancelled print is closed",
		func() bool { return b.Health(t.Context()) == nil && b.Stats().Tabs == 1 })
}

func TestPrintsBeyondTheQueueLimitAreRejected(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 1, QueueLimit: 1})
	mustPrint(t, b, page("x"))
	ctx, cancel := context.WithCancel(t.Context())

	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()

	for range 2 {
		wg.Go(func() { b.Print(ctx, endless) })
	}
	wait.Until(t, "one print is running and one is waiting", func() bool {
		s := b.Stats()
		return s.Busy == 1 && s.Waiting == 1
	})
	_, err := b.Print(t.Context(), page("x"))
	wantCode(t, err, fault.BrowserUnavailable)

	// After the cancellation the queue is empty again.
	cancel()
	wg.Wait()
	mustPrint(t, b, page("x"))
}

func TestBrowserIsReplacedByCountAgeOrMemory(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		opt          chromium.Options
		printers     int // goroutines that print
		replacements int
	}{
		"count":  {chromium.Options{RecycleAfter: 5}, 2, 2},
		"age":    {chromium.Options{RecycleAge: time.Millisecond}, 2, 2},
		"memory": {chromium.Options{MaxMemory: 100 << 20}, 1, 1}, // the memory is measured every few seconds
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := c.opt
			opt.Tabs, opt.Dir = 2, public.Dir(t)
			b := browsertest.Start(t, opt)
			stop := make(chan struct{})

			var wg sync.WaitGroup
			for range c.printers {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}

						if _, err := b.Print(t.Context(), page("<p>x")); err != nil {
							t.Errorf("a print during a replacement: error %v, want nil", err)
							return
						}
					}
				})
			}
			wait.Until(t, "the replacements", func() bool { return b.Stats().Recycles >= int64(c.replacements) })
			close(stop)
			wg.Wait()
			wait.Until(t, "one browser is left", func() bool { return len(pids(t, opt.Dir, "browser")) == 1 })

			if s := b.Stats(); s.Crashes != 0 {
				t.Errorf("stats %+v, want no crash", s)
			}
		})
	}
}

func TestStopLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 2, Dir: dir})
	mustPrint(t, b, page("x"))

	if len(processes(t, dir)) == 0 {
		t.Fatal("no browser is running, want one")
	}

	printed := startPrint(t.Context(), t, b, slowText)
	if err := b.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}

	if err := <-printed; err != nil {
		t.Errorf("error %v of the print that was running, want nil", err)
	}
	wantEmpty(t, dir)
	_, err := b.Print(t.Context(), page("x"))
	wantCode(t, err, fault.BrowserUnavailable)

	if err := b.Stop(t.Context()); err != nil {
		t.Errorf("second Stop: %v", err)
	}

	if err := b.Start(t.Context()); err == nil {
		t.Error("Start after Stop: got no error, want one")
	}
}

func TestStopEndsPrintsWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: dir})
	mustPrint(t, b, page("x"))
	printed := startPrint(t.Context(), t, b, endlessText)

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()

	if err := b.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Stop: error %v, want %v", err, context.DeadlineExceeded)
	}
	wantCode(t, <-printed, fault.BrowserUnavailable)
	wantEmpty(t, dir)
}

func TestKillEndsRunningPrints(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: dir})
	mustPrint(t, b, page("x"))
	printed := startPrint(t.Context(), t, b, endlessText)
	running := processes(t, dir)

	for range 2 { // a second Kill does nothing
		if err := b.Kill(); err != nil {
			t.Errorf("Kill: %v", err)
		}
	}
	wantNoFiles(t, dir)
	wait.Until(t, "no process is left", func() bool {
		return !slices.ContainsFunc(running, func(p proc) bool {
			cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid)) // empty once it has ended
			return string(cmdline) == p.cmdline
		})
	})
	wantCode(t, <-printed, fault.BrowserUnavailable)
}

func TestKillDuringTheLaunchLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}
	t.Parallel()
	dir := public.Dir(t)

	b := chromium.New(chromium.Options{Tabs: 1, Dir: dir})
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	if err := b.Kill(); err != nil {
		t.Errorf("Kill: %v", err)
	}
	wantNoFiles(t, dir)
	wait.Until(t, "no process is left",
		func() bool { return len(processes(t, dir)) == 0 }) // Kill does not wait for the processes
}

// slowText and endlessText keep a renderer busy while it prints: for about 300 ms, and for minutes.
var slowText, endlessText = strings.Repeat("some text ", 20_000), strings.Repeat("x", 5<<20)

// startPrint begins a print of a text and returns when the text is in its tab. The channel delivers the error of the
// print. A print that only has its slot has no browser yet, so waiting for the slot is not enough.
func startPrint(ctx context.Context, t *testing.T, b *chromium.Browser, text string) <-chan error {
	t.Helper()
	printed, atWork := make(chan error, 1), make(chan struct{}, 9) // a print may be tried again

	go func() {
		_, err := b.PrintRevised(
			ctx,
			page("<p style='overflow-wrap:anywhere' data-fill>"),
			func([]byte) ([]string, error) {
				atWork <- struct{}{}
				return []string{text}, nil
			},
		)
		printed <- err
	}()
	wait.Receive(t, "the print is at work", atWork)

	return printed
}

// wantEmpty checks that no browser process and no file is left in dir.
func wantEmpty(t *testing.T, dir string) {
	t.Helper()

	if left := processes(t, dir); len(left) > 0 {
		t.Errorf("processes left: %+v, want none", left)
	}
	wantNoFiles(t, dir)
}

// wantNoFiles checks that dir is empty.
func wantNoFiles(t *testing.T, dir string) {
	t.Helper()

	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("files left: %v, want none", left)
	}
}

func TestMissingBrowserFailsPrintsAndHealth(t *testing.T) {
	t.Parallel()

	b := chromium.New(chromium.Options{Path: "/nonexistent/chromium", Log: slog.New(slog.DiscardHandler)})
	if _, err := b.Print(t.Context(), page("x")); fault.CodeOf(err) != fault.BrowserUnavailable {
		t.Errorf("Print before Start: error %v, want browser_unavailable", err)
	}

	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer b.Stop(t.Context())
	_, err := b.Print(t.Context(), page("x"))
	wantCode(t, err, fault.BrowserUnavailable)

	if !errors.Is(err, chromium.ErrNotFound) || !errors.Is(err, fault.ErrUnfit) ||
		!strings.Contains(err.Error(), "make setup") {
		t.Errorf("error %v, want ErrNotFound with `make setup`", err)
	}

	if err := b.Health(t.Context()); !errors.Is(err, chromium.ErrNotFound) {
		t.Errorf("Health: error %v, want %v", err, chromium.ErrNotFound)
	}

	if v := b.Version(); v != "chromium" {
		t.Errorf("Version() = %q, want chromium", v)
	}

	err = chromium.New(chromium.Options{Tabs: -1}).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "Tabs") {
		t.Errorf("invalid options: error %v, want one about Tabs", err)
	}
}
