package document

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync/atomic"
	"time"

	"presswork/internal/markdown"
)

const (
	// composedBytes bounds the composed pages that a Converter remembers, and rememberedBytes the source of one of
	// them. Retries and schedules send the same small document again. If its print is in the render cache, composing it
	// takes most of the time.
	composedBytes   = 8 << 20
	rememberedBytes = 128 << 10
)

// Compose builds the HTML and everything that the printer needs. It remembers recent documents that depend only on
// themselves. Errors: those of Check and CheckOutput, ContentTooComplex, ThemeNotFound, StrictFindings (with the
// Warnings), StoreUnavailable (from Asset), BrowserUnavailable (for diagrams), and the cause of ctx.
func (c *Converter) Compose(ctx context.Context, d Document) (Composed, error) {
	if len(d.Content) > rememberedBytes || len(d.Parts) > 0 {
		return c.compose(ctx, d)
	}

	key := c.documentKey(d)
	if composed, ok := c.composed.Get(key); ok {
		return composed, nil
	}
	d.external = new(atomic.Bool)

	composed, err := c.compose(ctx, d)
	if err == nil && !d.external.Load() {
		size := len(d.Content) + len(composed.Page.HTML)
		if p, ok := composed.plan.(bookPlan); ok {
			size += len(p.book.Body) + len(p.book.CSS)
		}
		c.composed.Put(key, composed, size)
	}

	return composed, err
}

// documentKey returns a digest of all input of a page, except for the input that d.external tracks. It has today's
// date, because pages show it, and the browser's version, because Composed.Key has it.
func (c *Converter) documentKey(d Document) string {
	version := ""
	if c.printer != nil {
		version = c.printer.Version()
	}
	// The owner is part of the key, so that response times reveal nothing about documents of others.
	h := sha256.New()
	// Encoding plain strings, numbers and booleans cannot fail.
	_ = json.NewEncoder(h).Encode([]any{
		version, c.themes.Edition(), c.now().Format(time.DateOnly),
		d.Owner, d.Theme, d.Output, d.Options, d.Filename, d.Path, d.Folder, d.Warnings, d.SourceLines,
		d.Asset == nil, d.Include == nil, d.Place == nil, d.Page == nil,
	})
	h.Write(d.Content)

	return string(h.Sum(nil))
}

// watched returns settings that set d.external when the document reads other data: files, remote images, pages next to
// it, or diagrams that a browser draws.
func (d Document) watched(o markdown.Options) markdown.Options {
	asset, include, fetch, diagrams, pages := o.Asset, o.Include, o.Fetch, o.Diagrams, o.Pages
	if asset != nil {
		o.Asset = func(name string) ([]byte, error) {
			d.external.Store(true)
			return asset(name)
		}
	}

	if pages != nil {
		o.Pages = func(destination string) (string, bool) {
			d.external.Store(true)
			return pages(destination)
		}
	}

	if include != nil {
		o.Include = func(name string) ([]byte, error) {
			d.external.Store(true)
			return include(name)
		}
	}

	if fetch != nil {
		o.Fetch = func(ctx context.Context, url string) ([]byte, string, error) {
			d.external.Store(true)
			return fetch(ctx, url)
		}
	}

	if diagrams != nil {
		o.Diagrams = func(ctx context.Context, sources []markdown.DiagramSource) ([]markdown.Diagram, error) {
			d.external.Store(true)
			return diagrams(ctx, sources)
		}
	}

	return o
}
