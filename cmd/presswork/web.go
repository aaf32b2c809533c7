package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/config"
	"presswork/internal/export"
	"presswork/internal/guard"
	"presswork/internal/inference/browse"
	"presswork/internal/inference/sandbox"
)

// webOptions wire what searches and reads the web for models.
type webOptions struct {
	policy *guard.Policy
	// exporter shows pages that need their scripts, box reads PDFs; without one, or
	// the other, such pages are not read.
	exporter *chromium.Exporter
	box      func() (*sandbox.Box, error)
	log      *slog.Logger
}

// newWeb makes the browser of models. The error names the setting that is wrong.
func newWeb(cfg config.Config, o webOptions) (*browse.Browser, error) {
	agent := "Presswork/" + version()
	searcher, err := browse.NewSearcher(browse.SearchOptions{
		SearXNG: cfg.SearXNGURL, URL: cfg.SearchURL, Fields: cfg.SearchFields, Header: cfg.SearchHeader, Policy: o.policy, UserAgent: agent,
	})
	if err != nil {
		return nil, usageError{err}
	}
	options := browse.Options{Policy: o.policy, Searcher: searcher, UserAgent: agent, Log: o.log}
	if o.exporter != nil {
		options.Render = rendered(o.exporter.Under(o.policy, guard.ProxyOptions{MaxBytes: 64 << 20, MaxRequests: 1000}))
	}
	if o.box != nil {
		options.PDFText = pdfText(o.box)
	}
	return browse.New(options), nil
}

// renderTimeout bounds a page that is shown to a model, in milliseconds.
const renderTimeout = 15_000

// rendered is a page as its scripts make it: what it loads after it has loaded
// belongs to it.
func rendered(e *chromium.Exporter) func(context.Context, string) (html, final string, err error) {
	return func(ctx context.Context, address string) (string, string, error) {
		out, err := e.HTML(ctx, chromium.Visit{URL: address}, export.VisitOptions{WaitUntil: "networkidle2", Timeout: new(renderTimeout)})
		return string(out.Data), out.URL, err
	}
}

// maxPDFText is how much text of a PDF is taken, in bytes.
const maxPDFText = 1 << 20

// pdfText reads PDFs by poppler's pdftotext, in the order they are read.
func pdfText(box func() (*sandbox.Box, error)) func(context.Context, []byte) (string, error) {
	return func(ctx context.Context, pdf []byte) (string, error) {
		b, err := box()
		if err != nil {
			return "", err
		}
		out, err := b.Run(ctx, sandbox.Command{
			Program: "pdftotext", Args: []string{"-q", "-enc", "UTF-8", "-", "-"}, Stdin: bytes.NewReader(pdf),
			Limits: sandbox.Limits{CPU: 10 * time.Second, Wall: 15 * time.Second, Output: maxPDFText},
		})
		if limit, ok := errors.AsType[*sandbox.LimitError](err); ok && limit.Limit == "output" {
			err = nil // the beginning is there
		}
		if err == nil && out.ExitCode != 0 && len(out.Stdout) == 0 {
			err = fmt.Errorf("pdftotext: exit status %d: %.200s", out.ExitCode, out.Stderr)
		}
		return string(out.Stdout), err
	}
}
