package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/config"
	"presswork/internal/export"
	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/internal/inference/browse"
	"presswork/internal/inference/sandbox"
)

// webOptions configure the browser that searches and reads the web for models.
type webOptions struct {
	// policy decides which addresses may be dialled.
	policy *guard.Policy
	// exporter shows pages that need their scripts; without it such pages have no text.
	exporter *chromium.Exporter
	// box reads PDFs; without it PDFs are not read.
	box     func() (*sandbox.Box, error)
	version string
	log     *slog.Logger
}

// newWeb makes the browser of models. The error names the setting that is wrong.
func newWeb(cfg config.Config, o webOptions) (*browse.Browser, error) {
	searcher, err := browse.NewSearcher(browse.SearchOptions{
		SearXNG: cfg.SearXNGURL, URL: cfg.SearchURL, Fields: cfg.SearchFields, Header: cfg.SearchHeader,
		Policy: o.policy, UserAgent: agent(o.version),
	})
	if err != nil {
		return nil, UsageError{err}
	}

	options := browse.Options{Policy: o.policy, Searcher: searcher, UserAgent: agent(o.version), Log: o.log}
	if o.exporter != nil {
		// A page that a model opens may not load without end.
		limits := guard.ProxyOptions{MaxBytes: 64 << 20, MaxRequests: 1000}
		options.Render = renderHTML(o.exporter.Under(o.policy, limits))
	}

	if o.box != nil {
		options.PDFText = pdfText(o.box)
	}

	return browse.New(options), nil
}

// WebOptions configure OpenWeb.
type WebOptions struct {
	// Config names the search engine and the browser.
	Config config.Config
	// Allow lists addresses beyond the public internet that may be reached; Setting is its name in errors.
	Allow, Setting string
	// Scripts opens pages in a browser if they show no text without their scripts, and if this machine has a browser.
	Scripts bool
	// Version is the program's version, which requests name.
	Version string
	// Log receives warnings.
	Log *slog.Logger
}

// Web is the web as models see it, for one command.
type Web struct {
	browser *browse.Browser
	// stop ends the browser; it does nothing if none was started.
	stop func() error
}

// OpenWeb opens the web. The caller must call Stop. A wrong setting is a UsageError; a browser that does not start
// is another error.
func OpenWeb(ctx context.Context, o WebOptions) (*Web, error) {
	policy, err := guard.New(guard.Options{Allow: o.Allow, Setting: o.Setting})
	if err != nil {
		return nil, UsageError{fmt.Errorf("%s: %w", o.Setting, err)}
	}
	openBox := sync.OnceValues(func() (*sandbox.Box, error) { return sandbox.Open(ctx, sandbox.Options{}) })
	options := webOptions{policy: policy, box: openBox, version: o.Version, log: o.Log}

	stop := func() error { return nil }

	if _, missing := chromium.Find(o.Config.ChromiumPath); o.Scripts && missing == nil {
		exporter := chromium.NewExporter(chromium.ExporterOptions{
			Browser: chromium.Options{Path: o.Config.ChromiumPath, Tabs: 1}, Policy: policy,
		})
		if err := exporter.Start(ctx); err != nil {
			return nil, err
		}
		options.exporter, stop = exporter, exporter.Kill
	}

	browser, err := newWeb(o.Config, options)
	if err != nil {
		return nil, errors.Join(err, stop())
	}

	return &Web{browser: browser, stop: stop}, nil
}

// Stop ends the browser if one was started.
func (w *Web) Stop() error { return w.stop() }

// Available returns an error if no search engine is set.
func (w *Web) Available() error { return w.browser.Available() }

// CheckURL returns an error if a model may not name the address.
func (w *Web) CheckURL(address string) error { return w.browser.CheckURL(address) }

// Read returns a page with all of its text. Errors: the address is not allowed, or the page cannot be read.
func (w *Web) Read(ctx context.Context, address string) (browse.Page, error) {
	return w.browser.Read(ctx, address)
}

// Search returns the first n results of a search, as a model would get them. An error has the message for the
// model.
func (w *Web) Search(ctx context.Context, query string, n int) (inference.ToolResult, error) {
	return w.call(ctx, inference.SearchFunction, map[string]any{"query": query, "topn": n})
}

// Open returns a view of a page as a model would get it. It begins at line first; lines 0 is the usual length. An
// error has the message for the model.
func (w *Web) Open(ctx context.Context, address string, first, lines int) (inference.ToolResult, error) {
	return w.call(ctx, inference.OpenFunction, map[string]any{"id": address, "loc": first, "num_lines": lines})
}

// call calls a function of browser_search in a new session. A failed call is an error with the message that a model
// would read.
func (w *Web) call(ctx context.Context, function string, arguments map[string]any) (inference.ToolResult, error) {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return inference.ToolResult{}, err
	}

	result, err := w.browser.Session().Call(ctx, inference.BuiltinCall{Name: function, Arguments: string(raw)})
	if err == nil && result.Failed {
		err = errors.New(strings.TrimPrefix(result.Output, "Error: "))
	}

	return result, err
}

// renderTimeout bounds a page that is shown to a model, in milliseconds.
const renderTimeout = 15_000

// renderHTML returns a function that reads a page after its scripts have run and its later requests have ended.
func renderHTML(e *chromium.Exporter) func(context.Context, string) (html, final string, err error) {
	return func(ctx context.Context, address string) (string, string, error) {
		visit := export.VisitOptions{WaitUntil: "networkidle2", Timeout: new(renderTimeout)}
		out, err := e.HTML(ctx, chromium.Visit{URL: address}, visit)

		return string(out.Data), out.URL, err
	}
}

// maxPDFText is how much text of a PDF a model gets, in bytes.
const maxPDFText = 1 << 20

// pdfText returns a function that reads PDFs with poppler's pdftotext, in reading order.
func pdfText(box func() (*sandbox.Box, error)) func(context.Context, []byte) (string, error) {
	return func(ctx context.Context, pdf []byte) (string, error) {
		b, err := box()
		if err != nil {
			return "", err
		}

		out, err := b.Run(ctx, sandbox.Command{
			Program: "pdftotext",
			Args:    []string{"-q", "-enc", "UTF-8", "-", "-"},
			Stdin:   bytes.NewReader(pdf),
			Limits:  sandbox.Limits{CPU: 10 * time.Second, Wall: 15 * time.Second, Output: maxPDFText},
		})
		if limit, ok := errors.AsType[*sandbox.LimitError](err); ok && limit.Limit == "output" {
			err = nil // Stdout holds the beginning
		}

		if err == nil && out.ExitCode != 0 && len(out.Stdout) == 0 {
			err = fmt.Errorf("pdftotext: exit status %d: %.200s", out.ExitCode, out.Stderr)
		}

		return string(out.Stdout), err
	}
}
