package worker

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks"
)

// metrics are the metrics of the runs of jobs.
type metrics struct {
	jobs   *prometheus.CounterVec
	stages *prometheus.HistogramVec
	visits *prometheus.HistogramVec
	waits  *prometheus.HistogramVec
	runs   *prometheus.HistogramVec
}

// newMetrics creates the metrics of jobs and registers them, if reg is not nil.
func newMetrics(reg prometheus.Registerer) metrics {
	m := metrics{
		jobs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "presswork_runs_total",
			Help: "Runs of a job that ended here, by kind and result: completed, cached, or an error code.",
		}, []string{"kind", "result"}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_stage_seconds",
			Help:    "Time spent in a stage of a job.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 16), // 2 ms to 66 s
		}, []string{"stage"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_job_wait_seconds",
			Help:    "Time from a job's submission to its first run.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 20), // 2 ms to 17 min
		}, []string{"kind"}),
		runs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_run_seconds",
			Help:    "Time of a run of a job.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 18), // 2 ms to 4 min
		}, []string{"kind"}),
		visits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_export_visit_seconds",
			Help:    "Time that a foreign page was open, by output and by result: completed, or an error code.",
			Buckets: prometheus.ExponentialBuckets(0.05, 2, 12), // 50 ms to 102 s
		}, []string{"output", "result"}),
	}
	m.jobs, m.stages, m.visits = registerOnce(reg, m.jobs), registerOnce(reg, m.stages), registerOnce(reg, m.visits)
	m.waits, m.runs = registerOnce(reg, m.waits), registerOnce(reg, m.runs)

	return m
}

// observe records a duration, with the trace of ctx as its exemplar.
func observe(ctx context.Context, o prometheus.Observer, took time.Duration) {
	span := trace.SpanContextFromContext(ctx)
	if exemplars, ok := o.(prometheus.ExemplarObserver); ok && span.IsSampled() {
		exemplars.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": span.TraceID().String()})
		return
	}
	o.Observe(took.Seconds())
}

// SlotMetrics returns collectors of the numbers that tasks.Server.Slots returns. They call slots at each scrape.
func SlotMetrics(slots func() (used, total int)) []prometheus.Collector {
	gauge := func(name, help string, of func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return float64(of()) })
	}

	return []prometheus.Collector{
		gauge("presswork_slots_used", "Jobs of the printing queues that run in this process.",
			func() int { used, _ := slots(); return used }),
		gauge(
			"presswork_slots",
			"Most jobs that may run at once: those that print, and those before or after their print.",
			func() int { _, total := slots(); return total },
		),
	}
}

// registerOnce registers a collector, or returns the collector of the same name that another Worker of the
// process has registered.
func registerOnce[C prometheus.Collector](reg prometheus.Registerer, c C) C {
	if reg == nil {
		return c
	}

	err := reg.Register(c)
	if before, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, same := before.ExistingCollector.(C); same {
			return existing
		}
	}

	if err != nil {
		panic(err) // only an error in the names of this package
	}

	return c
}

// countRun counts a run by its result: the code of err, "cached" or "completed".
func (m metrics) countRun(kind presswork.Kind, cached bool, err error) {
	result := "completed"

	switch {
	case err != nil:
		result = string(fault.CodeOf(err))
	case cached:
		result = "cached"
	}
	m.jobs.WithLabelValues(string(kind), result).Inc()
}

// recordVisit records that a foreign page was open since began.
func (m metrics) recordVisit(output string, began time.Time, err error) {
	result := "completed"
	if err != nil {
		result = string(fault.CodeOf(err))
	}
	m.visits.WithLabelValues(output, result).Observe(time.Since(began).Seconds())
}

// observeRun begins the span of a run, below the span of its submission. The returned function ends the span and
// counts the run.
func (w *Worker) observeRun(ctx context.Context, run *tasks.Run) (context.Context, func(cached bool, err error)) {
	kind, began := run.Record.Kind, time.Now()
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": run.Record.TraceParent})

	ctx, span := w.tracer.Start(ctx, string(kind), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("presswork.job_id", run.ID), attribute.Int("presswork.attempt", run.Attempt)))
	// Later attempts have also waited for a retry.
	if started := run.Record.StartedAt; run.Attempt == 1 && started != nil {
		waited := max(0, started.Sub(run.Record.CreatedAt))
		span.SetAttributes(attribute.Float64("presswork.wait_seconds", waited.Seconds()))
		observe(ctx, w.metrics.waits.WithLabelValues(string(kind)), waited)
	}

	return ctx, func(cached bool, err error) {
		w.metrics.countRun(kind, cached, err)
		observe(ctx, w.metrics.runs.WithLabelValues(string(kind)), time.Since(began))
		span.SetAttributes(attribute.Bool("presswork.cached", cached))

		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, string(fault.CodeOf(err)))
		}
		span.End()
	}
}

// stage begins a stage's span. The returned function ends the span and records its duration.
func (w *Worker) stage(ctx context.Context, stage presswork.Stage) (context.Context, func()) {
	began := time.Now()
	ctx, span := w.tracer.Start(ctx, string(stage))

	return ctx, func() {
		observe(ctx, w.metrics.stages.WithLabelValues(string(stage)), time.Since(began))
		span.End()
	}
}
