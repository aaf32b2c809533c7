package chromium_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
	"presswork/internal/fault"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

func TestKilledBrowserCostsOneRetry(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 2, Dir: dir})
	mustPrint(t, b, page("x"))

	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := b.Print(t.Context(), slow); err != nil {
				t.Errorf("Print: %v", err)
			}
		})
	}
	wait.Until(t, "two prints are running or all are done",
		func() bool { s := b.Stats(); return s.Busy == 2 || s.Prints == 5 })

	for _, pid := range pids(t, dir, "browser") {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	wg.Wait()
	// The counters may change only after the prints. A print may end just before the kill. It may also use the next
	// browser before the crash is counted.
	wait.Until(
		t,
		"another browser is running",
		func() bool { s := b.Stats(); return s.Launches == 2 && s.Crashes == 1 },
	)

	if s := b.Stats(); s.Crashes != 1 || s.Prints != 5 {
		t.Errorf("stats %+v, want one crash and 5 prints", s)
	}
}

func TestBrowserThatDiesTwiceIsUnavailable(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: dir})
	mustPrint(t, b, page("x"))
	done := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
				for _, pid := range pids(t, dir, "browser") {
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		}
	})
	_, err := b.Print(t.Context(), endless)
	close(done)
	killer.Wait()
	wantCode(t, err, fault.BrowserUnavailable)
	wait.Until(t, "the browser prints again", func() bool {
		_, err := b.Print(t.Context(), page("x"))
		return err == nil
	})
}

func TestCrashedRendererCostsAtMostItsPrint(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: dir})
	mustPrint(t, b, page("x"))
	kill := func() {
		for _, pid := range pids(t, dir, "renderer") {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}

	// One crash: the print is retried.
	done := startPrint(t.Context(), t, b, slowText)
	kill()

	if err := <-done; err != nil {
		t.Errorf("error %v after one crash, want nil", err)
	}

	// A crash on each try: the error is about the page.
	done = startPrint(t.Context(), t, b, endlessText)
	var err error
	wait.Until(t, "the print ends", func() bool {
		kill()

		select {
		case err = <-done:
			return true
		default:
			return false
		}
	})
	wantCode(t, err, fault.RenderFailed)

	// A crash of an idle tab: the next print gets another renderer.
	mustPrint(t, b, page("x"))
	kill()
	mustPrint(t, b, page("x"))

	// About once in 100 runs Chromium itself ends when all of its renderers are killed.
	// A browser that is restarted for each renderer would be launched four times.
	if s := b.Stats(); s.Launches > 2 || s.Crashes != s.Launches-1 {
		t.Errorf("stats %+v, want at most one other browser after crashes of renderers", s)
	}
}

func TestHungRendererIsReplacedAfterTheTimeLimit(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: dir})
	mustPrint(t, b, page("x"))

	for name, p := range map[string]printable.Page{
		"spans": endless,
		"line":  page("<p style='overflow-wrap:anywhere'>" + strings.Repeat("x", 5<<20)),
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 1)

			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := b.Print(ctx, p)
				ended <- err
			}()
			// Without the time limit of the context, the print would take two minutes.
			wantCode(t, wait.Receive(t, "the end of the print", ended), fault.RenderTimeout)

			hung := pids(t, dir, "renderer")
			if got := text(t, mustPrint(t, b, page("next"))); got != "next" {
				t.Errorf("text of the next print %q, want next", got)
			}
			wait.Until(t, "the hung renderer is gone", func() bool { return !slices.ContainsFunc(hung, busy) })
		})
	}
}

// busy reports whether the process is running and has used more than half a second of CPU time.
func busy(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	f := strings.Fields(string(stat))
	ticks, err := strconv.Atoi(f[13])

	return err == nil && f[2] != "Z" && ticks > 50
}

func TestRendererWithTooMuchMemoryFailsItsPrint(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 1, MaxMemory: 150 << 20, PrintTimeout: time.Hour})
	_, err := b.Print(t.Context(), endless)
	wantCode(t, err, fault.RenderFailed)
	mustPrint(t, b, page("x"))

	if s := b.Stats(); s.Crashes != 0 {
		t.Errorf("stats %+v, want no crash", s)
	}
}

func TestIdleTabReturnsItsMemory(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: dir})
	// pages returns the memory pages of the renderer, without shared ones, which change with other browsers.
	pages := func() (private int) {
		for _, pid := range pids(t, dir, "renderer") {
			var size, resident, shared int
			if statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)); err == nil {
				fmt.Sscan(string(statm), &size, &resident, &shared)
			}
			private += resident - shared
		}

		return private
	}
	full := 0

	for range 6 {
		_, err := b.PrintRevised(t.Context(), slow, func([]byte) ([]string, error) {
			full = pages() // while the tab still holds the document
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wait.Until(t, "the idle renderer uses less memory", func() bool { return pages() < full*2/3 })
}

func TestFrozenBrowserIsReplaced(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: dir})
	mustPrint(t, b, page("x"))

	if err := b.Health(t.Context()); err != nil {
		t.Errorf("Health: %v, want nil", err)
	}

	frozen := pids(t, dir, "browser")
	for _, pid := range frozen {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	wait.Until(t, "the browser is unhealthy", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()

		return b.Health(ctx) != nil
	})
	wait.Until(t, "another browser is running", func() bool { return b.Stats().Launches == 2 })
	mustPrint(t, b, page("x"))
}
