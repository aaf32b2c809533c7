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

	for name, slow := range map[string]string{"while it requests the page": "/", "while it waits for a picture": "/part.png"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requested := make(chan struct{}, 9)
			hold := func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == slow {
					requested <- struct{}{}

					if len(requested) == 1 {
						<-r.Context().Done()
					}
				}
				fmt.Fprint(w, `<!doctype html>page<img src="/part.png">`)
			}
			port := serve(t, pages{"/": hold, "/part.png": hold})
			dir := public.Dir(t)

			e := startExporter(t, chromium.ExporterOptions{Browser: chromium.Options{Dir: dir}},
				guard.Options{Allow: "127.0.0.1:" + port})
			if len(processes(t, dir)) != 0 {
				t.Error("the browser runs before the first export, want none")
			}
			done := make(chan error, 1)

			go func() {
				_, err := e.PDF(t.Context(), chromium.Visit{URL: "http://127.0.0.1:" + port}, export.PDFOptions{})
				done <- err
			}()
			wait.Until(t, "the page is requested", func() bool { return len(requested) == 1 })

			for _, pid := range pids(t, dir, "browser") {
				syscall.Kill(pid, syscall.SIGKILL)
			}

			if err := <-done; err != nil {
				t.Errorf("export: error %v, want nil after a retry", err)
			}
			wait.Until(t, "the crash is counted",
				func() bool { return e.Stats().Crashes == 1 }) // the retry may be faster than the count

			if s := e.Stats(); s.Launches != 2 || s.Crashes != 1 || s.Prints != 1 {
				t.Errorf("stats %+v, want 2 launches, one crash and one print", s)
			}
		})
	}
}

func TestIdleExportBrowserEnds(t *testing.T) {
	t.Parallel()
	var e *chromium.Exporter
	port := serve(t, pages{"/": func(w http.ResponseWriter, _ *http.Request) {
		if running, err := e.Running(); !running || err != nil {
			t.Errorf("during an export: Running() = %v, %v; want true", running, err)
		}
		fmt.Fprint(w, "<p>page")
	}})
	dir := public.Dir(t)

	e = startExporter(t,
		chromium.ExporterOptions{Browser: chromium.Options{Dir: dir}, IdleAfter: 100 * time.Millisecond},
		guard.Options{Allow: "127.0.0.1:" + port})
	for range 2 {
		mustExport(t, e, "http://127.0.0.1:"+port, export.PDFOptions{})
		wait.Until(t, "the browser is gone", func() bool { return len(processes(t, dir)) == 0 })
	}

	if running, err := e.Running(); running || err != nil {
		t.Errorf("idle: Running() = %v, %v; want false", running, err)
	}
	// On a busy machine the browser may have become idle for too long before its page loaded.
	if s := e.Stats(); s.Launches < 2 || s.Crashes != 0 || s.Recycles != 0 {
		t.Errorf("stats %+v, want at least 2 launches, no crash and no recycling", s)
	}
}

func TestKilledExporterLeavesNothing(t *testing.T) {
	t.Parallel()
	port := serve(t, pages{"/": "<p>page"})
	dir := public.Dir(t)
	e := startExporter(t, chromium.ExporterOptions{Browser: chromium.Options{Dir: dir}},
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

	e := startExporter(t, chromium.ExporterOptions{Browser: chromium.Options{Path: "/bin/false"}}, guard.Options{})
	if running, err := e.Running(); running || err != nil {
		t.Errorf("before the first export: Running() = %v, %v; want false", running, err)
	}
	_, err := e.PDF(t.Context(), chromium.Visit{URL: "http://example.com"}, export.PDFOptions{})
	wantCodeFor(t, "export", err, fault.BrowserUnavailable)

	running, err := e.Running()
	if running {
		t.Error("Running() = true after the start has failed, want false")
	}
	wantCodeFor(t, "afterwards", err, fault.BrowserUnavailable)
}

func TestCancelledExportLeavesNothing(t *testing.T) {
	t.Parallel()
	requested, disconnected := make(chan struct{}), make(chan struct{})
	port := serve(t, pages{
		"/": func(_ http.ResponseWriter, r *http.Request) {
			close(requested)
			<-r.Context().Done()
			close(disconnected)
		},
		"/ok": "<p>next",
	})
	dir := public.Dir(t)
	e := startExporter(t, chromium.ExporterOptions{Browser: chromium.Options{Dir: dir}},
		guard.Options{Allow: "127.0.0.1:" + port})
	mustExport(t, e, "http://127.0.0.1:"+port+"/ok", export.PDFOptions{})
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the client left")

	go func() {
		<-requested
		cancel(cause)
	}()

	_, err := e.PDF(ctx, chromium.Visit{URL: "http://127.0.0.1:" + port}, export.PDFOptions{})
	if !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
	wait.Receive(t, "the request of the page is closed", disconnected)
	// The context for the next page was created ahead for this export, so it is also closed.
	wait.Until(t, "every renderer is gone", func() bool { return len(pids(t, dir, "renderer")) == 0 })
}

func TestContextOfTheNextExportIsCreatedAhead(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	var during []int  // the renderers while a page is open: that of the page and that of the next one
	var discarded int // a renderer of the wrong window size, which is about to end
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
	e := startExporter(t, chromium.ExporterOptions{Browser: chromium.Options{Dir: dir}},
		guard.Options{Allow: "127.0.0.1:" + port})
	// visit exports a page and returns the renderer that remains.
	visit := func(size *export.Viewport) int {
		t.Helper()
		mustExport(t, e, "http://127.0.0.1:"+port, export.PDFOptions{
			VisitOptions: export.VisitOptions{
				Viewport:          size,
				WaitForExpression: "fetch('/look').then(r=>r.text())",
			},
		})
		var after []int
		wait.Until(t, "one renderer is left", func() bool { after = pids(t, dir, "renderer"); return len(after) == 1 })

		return after[0]
	}
	first := visit(nil)

	second := visit(nil)
	if !slices.Contains(during, first) || first == second {
		t.Errorf("renderers %v during the second export, want %d among them; afterwards %d, want another one",
			during, first, second)
	}
	// Exports also succeed if the waiting context has crashed or has the wrong size.
	syscall.Kill(second, syscall.SIGKILL)
	discarded = visit(nil)
	visit(&export.Viewport{Width: 300, Height: 300})
}
