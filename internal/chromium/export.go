package chromium

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"time"

	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/guard"
)

// ExporterOptions are an Exporter's settings.
type ExporterOptions struct {
	// Browser are the settings of its browser, with other defaults for UID
	// (60911), MaxMemory (2 GiB for the browser, and for one renderer as well)
	// and MaxPDFBytes (128 MiB, of a PDF; a picture is at most 48 MiB). Tabs is
	// how many pages are open at a time; PrintTimeout is not used.
	Browser Options
	// IdleAfter is the time without an export after which the browser ends, until
	// the next one. Default 5 min.
	IdleAfter time.Duration
	// Policy decides which addresses pages may reach. Mandatory.
	Policy *guard.Policy
	// Limits are what one page may load.
	Limits guard.ProxyOptions
}

// Exporter opens other people's pages and makes PDFs and pictures of them. It
// has a browser of its own, started with the first export. Each page gets a
// context of its own, without a trace of the ones before, and reaches the
// network through a guard session of its own.
type Exporter struct {
	browser *Browser
	policy  *guard.Policy
	proxy   *guard.Proxy
}

// Visit is a page to export.
type Visit struct {
	// URL is http or https.
	URL string
	// ThemeCSS is the stylesheet of VisitOptions.Theme, added to the page; empty
	// for none.
	ThemeCSS string
	// Loaded, if set, is called when the page is loaded and its output begins.
	Loaded func()
}

// Exported is what came of a visit.
type Exported struct {
	// Data is a PDF, a picture or HTML; ContentType is which.
	Data        []byte
	ContentType string
	// URL is where the page was in the end, Title what it is called.
	URL, Title string
	// Usage is what it loaded.
	Usage guard.Usage
}

// NewExporter returns an Exporter that Start must begin.
func NewExporter(o ExporterOptions) *Exporter {
	b := o.Browser
	b.foreign = true
	b.UID = cmp.Or(b.UID, foreignUID)
	b.MaxPDFBytes = cmp.Or(b.MaxPDFBytes, 128<<20)
	b.idleAfter = cmp.Or(o.IdleAfter, 5*time.Minute)

	return &Exporter{browser: New(b), policy: o.Policy, proxy: guard.NewProxy(o.Policy, o.Limits)}
}

// Under returns an Exporter that shares the browser of e, with its life, its tabs
// and its counters, for pages that another policy governs.
func (e *Exporter) Under(policy *guard.Policy, limits guard.ProxyOptions) *Exporter {
	return &Exporter{browser: e.browser, policy: policy, proxy: guard.NewProxy(policy, limits)}
}

// Start makes it ready; its browser starts with the first export. The error
// names wrong options.
func (e *Exporter) Start(ctx context.Context) error { return e.browser.Start(ctx) }

// Stop lets the exports at work finish until ctx ends, and kills the browser.
func (e *Exporter) Stop(ctx context.Context) error { return e.browser.Stop(ctx) }

// Kill ends the browser at once, for a program that ends as well; see Browser.Kill.
func (e *Exporter) Kill() error { return e.browser.Kill() }

// Stats counts exports as prints.
func (e *Exporter) Stats() Stats { return e.browser.Stats() }

// Refusals is how many connections of pages were refused, by reason.
func (e *Exporter) Refusals() map[guard.Reason]int64 { return e.proxy.Refusals() }

// Running reports whether the browser runs; when it does not because it did not
// start the last time, err is BrowserUnavailable with the reason.
func (e *Exporter) Running() (running bool, err error) {
	b := e.browser
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.cur == nil && b.lastErr != nil {
		return false, unavailable(b.lastErr)
	}

	return b.cur != nil && b.cur.usable(), nil
}

// Sandbox reports whether Chromium's own sandbox confines the running browser, and
// if not, why.
func (e *Exporter) Sandbox() (on bool, reason string) { return e.browser.Sandbox() }

// PDF prints the page. Errors: InvalidURL and AddressNotAllowed for its address
// or one it leads to, InvalidOption, PageUnreachable (name, connection, TLS),
// PageError (its status, a fail condition, a limit, a crash), PageTimeout,
// RenderFailed when the PDF is too large, BrowserUnavailable when another try
// may heal it, ctx's own cause otherwise.
func (e *Exporter) PDF(ctx context.Context, v Visit, o export.PDFOptions) (Exported, error) {
	loaded, told := false, v.Loaded
	v.Loaded = func() {
		if loaded = true; told != nil {
			told()
		}
	}

	exported, err := e.export(ctx, v, o.VisitOptions, func(page *url.URL) error { return export.CheckPDF(page, o) },
		func(v *visit) ([]byte, string, error) { return v.pdf(o, e.browser.opt.MaxPDFBytes) })
	if loaded {
		err = nameTemplates(err, o)
	}

	return exported, err
}

// Screenshot takes a picture of the page. Errors: those of PDF.
func (e *Exporter) Screenshot(ctx context.Context, v Visit, o export.ScreenshotOptions) (Exported, error) {
	return e.export(ctx, v, o.VisitOptions, func(page *url.URL) error { return export.CheckScreenshot(page, o) },
		func(v *visit) ([]byte, string, error) { return v.picture(o) })
}

// maxHTML is how much of a page HTML returns, in UTF-16 units.
const maxHTML = 4 << 20

// HTML returns the page's document as its scripts have made it, in UTF-8, what is
// beyond the first 4 million characters cut off. Errors: those of PDF.
func (e *Exporter) HTML(ctx context.Context, v Visit, o export.VisitOptions) (Exported, error) {
	return e.export(
		ctx,
		v,
		o,
		func(page *url.URL) error { return export.CheckPDF(page, export.PDFOptions{VisitOptions: o}) },
		func(v *visit) ([]byte, string, error) {
			source, err := v.source()
			return []byte(source), "text/html; charset=utf-8", err
		},
	)
}

// develop makes data of a loaded page.
type develop func(*visit) (data []byte, contentType string, err error)

func (e *Exporter) export(
	ctx context.Context,
	v Visit,
	o export.VisitOptions,
	check func(*url.URL) error,
	make develop,
) (Exported, error) {
	page, err := e.policy.CheckURL(v.URL)
	if err != nil {
		return Exported{}, err
	}

	if err := check(page); err != nil {
		return Exported{}, err
	}

	b := e.browser
	if err := b.enter(ctx); err != nil {
		return Exported{}, err
	}
	defer b.leave()
	limit := export.TimeoutOf(o)

	ctx, cancel := context.WithTimeoutCause(
		ctx,
		limit,
		fault.Errorf(fault.PageTimeout, "the page was not exported within %s", limit),
	)
	defer cancel()

	next := b.current
	for tries := 0; ; {
		out, err := e.try(ctx, next, v, page, o, make)
		switch {
		case err == nil:
			b.count.prints.Add(1)
			return out, nil
		case ctx.Err() != nil:
			b.count.cutOff.Add(1)
		case errors.Is(err, errTabCrashed):
			b.count.tabsLost.Add(1)
		case errors.Is(err, errRetired), errors.Is(err, errSpareLost):
			continue
		case errors.Is(err, errConnClosed) && tries == 0:
			// Another page may have taken the browser down.
			tries++
			next = b.another
			continue
		}

		return Exported{}, e.coin(ctx, err)
	}
}

// try exports once.
func (e *Exporter) try(
	ctx context.Context,
	next func(context.Context) (*instance, error),
	want Visit,
	page *url.URL,
	o export.VisitOptions,
	make develop,
) (out Exported, err error) {
	inst, err := next(ctx)
	if err != nil {
		return out, err
	}

	v, err := inst.openVisit(ctx, e.proxy, page, o)
	if err != nil {
		return out, err
	}
	defer v.leave()
	defer func() {
		if inst.finished() >= e.browser.opt.RecycleAfter {
			e.browser.replace(inst, "it has exported enough")
		}
	}()

	if err := v.goThere(); err != nil {
		return out, v.blame(err)
	}
	// From here on the page leaves the machine idle now and then.
	inst.makeSpare(e.proxy, export.ViewportOf(o))

	if err := v.finishLoading(want.ThemeCSS); err != nil {
		return out, v.blame(err)
	}

	if want.Loaded != nil {
		want.Loaded()
	}

	if out.Data, out.ContentType, err = v.develop(make); err != nil {
		return out, v.blame(v.tab.verdict(ctx, err))
	}
	out.URL, out.Title, out.Usage = v.place(), v.title, v.session.Usage()
	e.browser.proven()

	return out, nil
}

// hostport is the address of a URL as a guard session knows it.
func hostport(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}

	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}[u.Scheme]
	}

	return net.JoinHostPort(u.Hostname(), port)
}

// remaining is the time that is left to ctx.
func remaining(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline() // export sets one
	return time.Until(deadline)
}
