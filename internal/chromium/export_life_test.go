package chromium_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

func TestKilledExportBrowserCostsOneRetry(t *testing.T) {
	t.Parallel()

	for name, slow := range map[string]string{"as it asks for the page": "/", "as it waits for a part of it": "/part.png"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan struct{}, 9)
			hold := func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == slow {
					asked <- struct{}{}

					if len(asked) == 1 {
						<-r.Context().Done()
					}
				}
				fmt.Fprint(w, `<!doctype html>page<img src="/part.png">`)
			}
			port := serve(t, pages{"/": hold, "/part.png": hold})
			dir := public.Dir(t)

			e := exporter(t, chromium.ExporterOptions{Browser: chromium.Options{Dir: dir}},
				guard.Options{Allow: "127.0.0.1:" + port})
			if len(processes(t, dir)) != 0 {
				t.Error("the browser runs before it is needed")
			}
			done := make(chan error, 1)

			go func() {
				_, err := e.PDF(t.Context(), chromium.Visit{URL: "http://127.0.0.1:" + port}, export.PDFOptions{})
				done <- err
			}()
			wait.Until(t, "the page is asked for", func() bool { return len(asked) == 1 })

			for _, pid := range pids(t, dir, "browser") {
				syscall.Kill(pid, syscall.SIGKILL)
			}

			if err := <-done; err != nil {
				t.Errorf("export: %v", err)
			}
			wait.Until(t, "the crash is seen",
				func() bool { return e.Stats().Crashes == 1 }) // perhaps after its print had another browser

			if s := e.Stats(); s.Launches != 2 || s.Crashes != 1 || s.Prints != 1 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func TestTheExportBrowserEndsWhenIdle(t *testing.T) {
	t.Parallel()
	var e *chromium.Exporter
	port := serve(t, pages{"/": func(w http.ResponseWriter, _ *http.Request) {
		if running, err := e.Running(); !running || err != nil {
			t.Errorf("during an export: running %v, %v", running, err)
		}
		fmt.Fprint(w, "<p>page")
	}})
	dir := public.Dir(t)

	e = exporter(t,
		chromium.ExporterOptions{Browser: chromium.Options{Dir: dir}, IdleAfter: 100 * time.Millisecond},
		guard.Options{Allow: "127.0.0.1:" + port})
	for range 2 {
		mustExport(t, e, "http://127.0.0.1:"+port, export.PDFOptions{})
		wait.Until(t, "the browser is gone", func() bool { return len(processes(t, dir)) == 0 })
	}

	if running, err := e.Running(); running || err != nil {
		t.Errorf("idle: running %v, %v", running, err)
	}
	// On a busy machine the browser may have become idle for too long before its page loaded.
	if s := e.Stats(); s.Launches < 2 || s.Crashes != 0 || s.Recycles != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestAKilledExporterLeavesNothing(t *testing.T) {
	t.Parallel()
	port := serve(t, pages{"/": "<p>page"})
	dir := public.Dir(t)
	e := exporter(t, chromium.ExporterOptions{Browser: chromium.Options{Dir: dir}},
		guard.Options{Allow: "127.0.0.1:" + port})
	mustExport(t, e, "http://127.0.0.1:"+port, export.PDFOptions{})

	if err := e.Kill(); err != nil {
		t.Errorf("Kill: %v", err)
	}
	wantNoFiles(t, dir)
	wait.Until(t, "no process is left", func() bool { return len(processes(t, dir)) == 0 })
}

func TestFailedStartOfTheExportBrowserIsReported(t *testing.T) {
	t.Parallel()

	e := exporter(t, chromium.ExporterOptions{Browser: chromium.Options{Path: "/bin/false"}}, guard.Options{})
	if running, err := e.Running(); running || err != nil {
		t.Errorf("before the first: running %v, %v", running, err)
	}
	_, err := e.PDF(t.Context(), chromium.Visit{URL: "http://example.com"}, export.PDFOptions{})
	wantCodeFor(t, "export", err, fault.BrowserUnavailable)

	running, err := e.Running()
	if running {
		t.Error("it runs")
	}
	wantCodeFor(t, "afterwards", err, fault.BrowserUnavailable)
}

func TestCancelledExportLeavesNothing(t *testing.T) {
	t.Parallel()
	asked, gone := make(chan struct{}), make(chan struct{})
	port := serve(
		t,
		pages{
			"/":   func(_ http.ResponseWriter, r *http.Request) { close(asked); <-r.Context().Done(); close(gone) },
			"/ok": "<p>next",
		},
	)
	dir := public.Dir(t)
	e := exporter(t, chromium.ExporterOptions{Browser: chromium.Options{Dir: dir}},
		guard.Options{Allow: "127.0.0.1:" + port})
	mustExport(t, e, "http://127.0.0.1:"+port+"/ok", export.PDFOptions{})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the client left")

	go func() {
		<-asked
		cancel(why)
	}()

	_, err := e.PDF(ctx, chromium.Visit{URL: "http://127.0.0.1:" + port}, export.PDFOptions{})
	if !errors.Is(err, why) {
		t.Errorf("%v after the client left", err)
	}
	wait.Receive(t, "the page's server is left", gone)
	// The browser context that was created ahead belonged to this export.
	wait.Until(t, "every renderer is gone", func() bool { return len(pids(t, dir, "renderer")) == 0 })
}

func TestTheNextContextIsCreatedAhead(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	var during []int // the renderers while a page is open: its own, and the next one's
	var discarded int
	port := serve(t, pages{"/": "page", "/look": func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()

		for r.Context().Err() == nil {
			if during = pids(t, dir, "renderer"); len(during) == 2 && !slices.Contains(during, discarded) {
				break
			}
			<-tick.C
		}
		fmt.Fprint(w, "seen")
	}})
	e := exporter(t, chromium.ExporterOptions{Browser: chromium.Options{Dir: dir}},
		guard.Options{Allow: "127.0.0.1:" + port})
	// visit exports a page and returns the renderer that remains.
	visit := func(size *export.Viewport) int {
		t.Helper()
		mustExport(
			t,
			e,
			"http://127.0.0.1:"+port,
			export.PDFOptions{
				VisitOptions: export.VisitOptions{
					Viewport:          size,
					WaitForExpression: "fetch('/look').then(r=>r.text())",
				},
			},
		)
		var after []int
		wait.Until(t, "one renderer is left", func() bool { after = pids(t, dir, "renderer"); return len(after) == 1 })

		return after[0]
	}
	first := visit(nil)

	second := visit(nil)
	if !slices.Contains(during, first) || first == second {
		t.Errorf("renderer %d waited; the page was in one of %v, and then %d waited", first, during, second)
	}
	// The next export succeeds if that context dies, or has another size than it needs.
	syscall.Kill(second, syscall.SIGKILL)
	discarded = visit(nil)
	visit(&export.Viewport{Width: 300, Height: 300})
}
