// Package worker is what to do for each kind of task. A worker takes a typed
// task from the queue, reports every step on the job, and leaves the result in
// the store; it knows neither HTTP routes nor Asynq.
//
// Handlers may run twice for one task, on two machines: what they store has a key
// made from the job, and only one of them completes it. They return the error of
// the job: a coined one that is final, such as InvalidOption, fails it; after
// StoreUnavailable, StoreFull or QueueUnavailable the task is tried again for a
// day, and after BrowserUnavailable or an un-coined error as often as the kind's
// Retries allow. tasks.ErrCancelled ends a run whose job has been cancelled.
package worker

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"presswork/internal/analysis/recommend"
	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
	"presswork/internal/document"
	"presswork/internal/inference"
	"presswork/internal/inference/audio"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/meter"
	"presswork/internal/markdown/diagram"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/themes"
)

// Options wire a Worker.
type Options struct {
	// Store holds sources, artifacts and the render cache. Mandatory.
	Store storage.Store
	// Keeper counts what is stored, for retention and the size cap. Mandatory.
	Keeper *retention.Keeper
	// Converter makes PDFs. Mandatory.
	Converter *document.Converter
	// Picture takes a PNG of a page's first sheet. Mandatory for Preview.
	Picture func(ctx context.Context, page printable.Page) ([]byte, error)
	// Diagrams draws. Mandatory for Draw.
	Diagrams *diagram.Renderer
	// Themes are what Recommender chooses from, and what gives foreign pages our
	// variables. Mandatory.
	Themes *themes.Catalogue
	// Exporter opens foreign pages. Mandatory for Export.
	Exporter *chromium.Exporter
	// Recommender chooses the theme of a document that wants one chosen. Default: one
	// that remembers nothing.
	Recommender *recommend.Recommender
	// Models gives the models as they are now, Gateway runs them, Meter records what
	// they used. Mandatory for Transcribe, as Recordings and Download are.
	Models  func() *inference.Catalogue
	Gateway *gateway.Gateway
	Meter   *meter.Meter
	// Recordings reads recordings.
	Recordings *audio.Reader
	// Download gets the recording at an address, through the guard, and bounds it.
	Download func(ctx context.Context, url string, w io.Writer) error
	// RenderTimeout bounds what comes before the printing, and what comes after;
	// the printing is bounded by the browser's own limit. Default 120 s.
	RenderTimeout time.Duration
	// SharedRenders gives every key the prints of the others. That a document
	// comes from the cache, or comes quickly, then shows that somebody else had
	// the same text printed. Default: each key has those of its own.
	SharedRenders bool
	// Retention is how long an artifact is kept. Default 30 days.
	Retention time.Duration
	// Metrics is where the worker's metrics are registered. Default: nowhere.
	Metrics prometheus.Registerer
	// Tracer makes a span of every run, below the span of its submission, and of
	// the run's stages. Default: none is made.
	Tracer trace.TracerProvider
	// Log gets what is no failure of the caller. Default: discard.
	Log *slog.Logger
}

// Worker holds the handlers of the task kinds.
type Worker struct {
	Options
	metrics metrics
	tracer  trace.Tracer
	pace    pace
}

// New wires a Worker.
func New(o Options) *Worker {
	if o.RenderTimeout == 0 {
		o.RenderTimeout = 120 * time.Second
	}

	if o.Retention == 0 {
		o.Retention = 30 * 24 * time.Hour
	}

	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.Recommender == nil {
		o.Recommender = recommend.New(recommend.Options{Log: o.Log})
	}

	if o.Tracer == nil {
		o.Tracer = noop.NewTracerProvider()
	}

	return &Worker{Options: o, metrics: newMetrics(o.Metrics), tracer: o.Tracer.Tracer("presswork/worker")}
}
