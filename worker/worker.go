// Package worker has a handler for each kind of task. A handler takes a typed task, reports each step of the job,
// and stores the result. It depends neither on HTTP routes nor on Asynq.
//
//   - Worker handles the jobs: Convert, Choose, Export, EditPDF and Transcribe. It also answers the calls Preview and
//     Draw.
//   - Completions answers the calls of the inference API, and child package tools those of built-in tools.
//   - Webhooks delivers the ends of jobs.
//   - Ops is the listener for operators: health, readiness and metrics.
//
// A task may run twice, on two machines. The key of its result is derived from the job id, and only one run
// completes the job. A handler returns the error of the job:
//   - A final public error, such as InvalidOption, fails the job.
//   - After StoreUnavailable, StoreFull or QueueUnavailable, the task is retried for a day.
//   - After BrowserUnavailable or an error without a code, it is retried as often as the
//     Retries of the kind allow.
//   - tasks.ErrCancelled ends a run whose job was cancelled.
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

// Options configure a Worker.
type Options struct {
	// Store holds sources, artifacts and the render cache. Mandatory.
	Store storage.Store
	// Keeper counts the stored objects, for retention and the size cap. Mandatory.
	Keeper *retention.Keeper
	// Converter renders documents. Mandatory.
	Converter *document.Converter
	// Picture takes a PNG of a page's first sheet. Mandatory for Preview.
	Picture func(ctx context.Context, page printable.Page) ([]byte, error)
	// Diagrams draws diagrams. Mandatory for Draw.
	Diagrams *diagram.Renderer
	// Themes are the themes that Recommender chooses from, and that an export may apply to a page.
	// Mandatory.
	Themes *themes.Catalogue
	// Exporter opens foreign pages. Mandatory for Export.
	Exporter *chromium.Exporter
	// Recommender chooses the theme of a document with the theme "auto". Default: a recommender
	// without a cache.
	Recommender *recommend.Recommender
	// Models returns the current models, Gateway runs them, and Meter records their usage.
	// Mandatory for Transcribe, like Recordings and Download.
	Models  func() *inference.Catalogue
	Gateway *gateway.Gateway
	Meter   *meter.Meter
	// Recordings reads recordings.
	Recordings *audio.Reader
	// Download writes the recording at an address to w, through the guard and up to a limit.
	Download func(ctx context.Context, url string, w io.Writer) error
	// RenderTimeout bounds the steps before printing, and separately each try to store the result. The browser has
	// its own limit for printing. Default 120 s.
	RenderTimeout time.Duration
	// SharedRenders lets all keys share the render cache. A caller can then tell from a cached or
	// fast answer that another key has printed the same text. Default: a cache for each key.
	SharedRenders bool
	// Retention is how long an artifact is kept. Default 30 days.
	Retention time.Duration
	// Metrics registers the worker's metrics. Default: they are not exported.
	Metrics prometheus.Registerer
	// Tracer makes a span for each run, below the span of its submission, and for each stage of the
	// run. Default: no spans.
	Tracer trace.TracerProvider
	// Log receives failures that are not the caller's. Default: discarded.
	Log *slog.Logger
}

// Worker holds the handlers of the task kinds. Its methods are safe for concurrent use.
type Worker struct {
	Options
	metrics metrics
	tracer  trace.Tracer
	// pace estimates the time of prints, for progress reports.
	pace pace
}

// New returns a Worker with defaults for unset options. It starts nothing. Register its methods with tasks.Handle.
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
