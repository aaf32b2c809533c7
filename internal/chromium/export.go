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

// ExporterOptions are the settings of an Exporter.
type ExporterOptions struct {
	// Browser are the settings of its browser. Tabs is how many pages are open at a time.
	// The defaults differ: UID is 60911 and MaxPDFBytes 128 MiB. A picture is at most
	// 48 MiB. MaxMemory also limits each single renderer. PrintTimeout has no effect.
	Browser Options
	// IdleAfter is the time without an export after which the browser ends. The next
	// export starts it again. Default 5 min.
	IdleAfter time.Duration
	// Policy decides which addresses pages may reach. Required.
	Policy *guard.Policy
	// Limits are the limits on what one page may load.
	Limits guard.ProxyOptions
}

// Exporter opens pages of other people and produces PDFs, pictures and HTML of them. It has
// a browser of its own, which the first export starts. Each page gets a browser context of
// its own, without data of other pages, and reaches the network through a guard session of
// its own. All methods may be called concurrently.
type Exporter struct {
	browser *Browser
	policy  *guard.Policy
	proxy   *guard.Proxy
}

// Visit is a page to export.
type Visit struct {
	// URL is http or https.
	URL string
	// ThemeCSS is the stylesheet of VisitOptions.Theme, which is added to the page.
	// Default: none.
	ThemeCSS string
	// Loaded, if set, is called when the page is loaded, before its output begins.
	Loaded func()
}

// Exported is the result of a visit.
type Exported struct {
	// Data is a PDF, a picture or HTML of the media type ContentType.
	Data        []byte
	ContentType string
	// URL is the address of the page after all redirects and navigations. Title is its
	// title, at most 1000 characters.
	URL, Title string
	// Usage is what the page has loaded.
	Usage guard.Usage
}

// NewExporter returns an Exporter. The caller must call Start before the first export, and
// Stop at the end.
func NewExporter(o ExporterOptions) *Exporter {
	b := o.Browser
	b.foreign = true
	b.UID = cmp.Or(b.UID, foreignUID)
	b.MaxPDFBytes = cmp.Or(b.MaxPDFBytes, 128<<20)
	b.idleAfter = cmp.Or(o.IdleAfter, 5*time.Minute)

	return &Exporter{browser: New(b), policy: o.Policy, proxy: guard.NewProxy(o.Policy, o.Limits)}
}

// Under returns an Exporter with another policy and other limits. It uses the browser, the tabs and the Stats of e, and
// counts refusals of its own. The caller starts and stops only e.
func (e *Exporter) Under(policy *guard.Policy, limits guard.ProxyOptions) *Exporter {
	return &Exporter{browser: e.browser, policy: policy, proxy: guard.NewProxy(policy, limits)}
}

// Start prepares the Exporter. The first export starts the browser. The error names invalid
// options.
func (e *Exporter) Start(ctx context.Context) error { return e.browser.Start(ctx) }

// Stop lets the exports at work finish until ctx ends, and kills the browser; see Browser.Stop. The error means that
// exports were cut off.
func (e *Exporter) Stop(ctx context.Context) error { return e.browser.Stop(ctx) }

// Kill ends the browser at once, for a program that is about to exit; see Browser.Kill. Errors: those of deleting the
// profile.
func (e *Exporter) Kill() error { return e.browser.Kill() }

// Stats returns the counters. Exports count as prints.
func (e *Exporter) Stats() Stats { return e.browser.Stats() }

// Refusals returns the number of refused connections of pages, by reason.
func (e *Exporter) Refusals() map[guard.Reason]int64 { return e.proxy.Refusals() }

// Running reports whether the browser is running. If the last launch failed, err is
// BrowserUnavailable with the reason.
func (e *Exporter) Running() (running bool, err error) {
	b := e.browser
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.cur == nil && b.lastErr != nil {
		return false, unavailable(b.lastErr)
	}

	return b.cur != nil && b.cur.usable(), nil
}

// Sandbox reports whether Chromium's own sandbox confines the running browser. reason says
// why not.
func (e *Exporter) Sandbox() (on bool, reason string) { return e.browser.Sandbox() }

// PDF prints the page. Errors:
//   - InvalidURL and AddressNotAllowed for its address or one that it leads to,
//   - InvalidOption,
//   - PageUnreachable for its name, its connection or TLS,
//   - PageError for its status, a fail condition, a limit or a crash,
//   - PageTimeout,
//   - RenderFailed when the PDF is too large,
//   - BrowserUnavailable when a retry may succeed,
//   - the cause of ctx if it was cancelled.
func (e *Exporter) PDF(ctx context.Context, v Visit, o export.PDFOptions) (Exported, error) {
	loaded, onLoaded := false, v.Loaded
	v.Loaded = func() {
		if loaded = true; onLoaded != nil {
			onLoaded()
		}
	}

	exported, err := e.export(ctx, v, o.VisitOptions, func(page *url.URL) error { return export.CheckPDF(page, o) },
		func(v *visit) ([]byte, string, error) { return v.pdf(o, e.browser.opt.MaxPDFBytes) })
	if loaded {
		// After loading, the templates of header and footer may be what takes too long or crashes: name them.
		err = nameTemplates(err, o)
	}

	return exported, err
}

// Screenshot returns a picture of the page. Errors: those of PDF.
func (e *Exporter) Screenshot(ctx context.Context, v Visit, o export.ScreenshotOptions) (Exported, error) {
	return e.export(ctx, v, o.VisitOptions, func(page *url.URL) error { return export.CheckScreenshot(page, o) },
		func(v *visit) ([]byte, string, error) { return v.picture(o) })
}

// maxHTML limits the HTML of a page, in UTF-16 units, as JavaScript counts them.
const maxHTML = 4 << 20

// HTML returns the page's document, as its scripts have changed it, in UTF-8. It cuts the
// document off after maxHTML. Errors: those of PDF.
func (e *Exporter) HTML(ctx context.Context, v Visit, o export.VisitOptions) (Exported, error) {
	// With only VisitOptions set, CheckPDF checks just those.
	check := func(page *url.URL) error { return export.CheckPDF(page, export.PDFOptions{VisitOptions: o}) }

	return e.export(ctx, v, o, check, func(v *visit) ([]byte, string, error) {
		source, err := v.source()
		return []byte(source), "text/html; charset=utf-8", err
	})
}

// producer makes the output of a loaded page.
type producer func(*visit) (data []byte, contentType string, err error)

// export checks the options, opens the page and runs produce on it. It retries when another page may be the cause of
// the failure. Errors: those of PDF.
func (e *Exporter) export(ctx context.Context, v Visit, o export.VisitOptions, check func(*url.URL) error,
	produce producer,
) (Exported, error) {
	page, err := e.policy.CheckURL(v.URL)
	if err != nil {
		return Exported{}, err
	}

	if err := check(page); err != nil {
		return Exported{}, err
	}

	b := e.browser
	if err := b.acquireSlot(ctx); err != nil {
		return Exported{}, err
	}
	defer b.releaseSlot()
	limit := export.TimeoutOf(o)

	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		fault.Errorf(fault.PageTimeout, "the page was not exported within %s", limit))
	defer cancel()

	next := b.current
	for lost := false; ; {
		out, err := e.tryExport(ctx, next, v, page, o, produce)
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
		case errors.Is(err, errConnClosed) && !lost: // another page may have crashed the browser
			lost, next = true, b.currentAfterLoss
			continue
		}

		return Exported{}, e.publicError(ctx, err)
	}
}

// tryExport exports once, on the instance that next returns.
func (e *Exporter) tryExport(ctx context.Context, next func(context.Context) (*instance, error), want Visit,
	page *url.URL, o export.VisitOptions, produce producer,
) (out Exported, err error) {
	inst, err := next(ctx)
	if err != nil {
		return out, err
	}

	v, err := inst.openVisit(ctx, e.proxy, page, o)
	if err != nil {
		return out, err
	}
	defer v.release()
	defer func() {
		if inst.countPrint() >= e.browser.opt.RecycleAfter {
			e.browser.replace(inst, "it has exported enough")
		}
	}()

	if err := v.load(); err != nil {
		return out, v.endCause(err)
	}
	// Create the context of the next page now, because loading a page leaves the machine idle at times.
	inst.makeSpare(e.proxy, export.ViewportOf(o))

	if err := v.finishLoading(want.ThemeCSS); err != nil {
		return out, v.endCause(err)
	}

	if want.Loaded != nil {
		want.Loaded()
	}

	if out.Data, out.ContentType, err = v.produce(produce); err != nil {
		return out, v.endCause(v.tab.refusalCause(ctx, err))
	}
	out.URL, out.Title, out.Usage = v.currentURL(), v.title, v.guardSession.Usage()
	e.browser.clearFailures()

	return out, nil
}

// hostPort returns the host and port of a URL, in the form that guard.Session uses.
func hostPort(raw string) string {
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

// remaining returns the time until ctx's deadline, which export has set.
func remaining(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline()
	return time.Until(deadline)
}
