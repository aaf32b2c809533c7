package worker

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"presswork"
	"presswork/internal/fault"
)

type metrics struct {
	jobs   *prometheus.CounterVec
	stages *prometheus.HistogramVec
	visits *prometheus.HistogramVec
	waits  *prometheus.HistogramVec
	runs   *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) metrics {
	m := metrics{
		jobs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "presswork_runs_total",
			Help: "Runs of a job that ended here, by kind and result: completed, cached, or an error code.",
		}, []string{"kind", "result"}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_stage_seconds",
			Help:    "Time spent in a stage of a job.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 16),
		}, []string{"stage"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_job_wait_seconds",
			Help:    "Time from a job's submission to its first run.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 20),
		}, []string{"kind"}),
		runs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_run_seconds",
			Help:    "Time of a run of a job.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 18),
		}, []string{"kind"}),
		visits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_export_visit_seconds",
			Help:    "Time a foreign page was open for its export, by what was made of it and by result: completed, or an error code.",
			Buckets: prometheus.ExponentialBuckets(0.05, 2, 12),
		}, []string{"output", "result"}),
	}
	m.jobs, m.stages, m.visits = registered(reg, m.jobs), registered(reg, m.stages), registered(reg, m.visits)
	m.waits, m.runs = registered(reg, m.waits), registered(reg, m.runs)

	return m
}

// observe notes a time, with the trace that it is part of.
func observe(ctx context.Context, o prometheus.Observer, took time.Duration) {
	span := trace.SpanContextFromContext(ctx)
	if exemplars, ok := o.(prometheus.ExemplarObserver); ok && span.IsSampled() {
		exemplars.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": span.TraceID().String()})
		return
	}
	o.Observe(took.Seconds())
}

// SlotMetrics exports what tasks.Server's Slots method returns.
func SlotMetrics(slots func() (used, total int)) []prometheus.Collector {
	gauge := func(name, help string, of func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return float64(of()) },
		)
	}

	return []prometheus.Collector{
		gauge(
			"presswork_slots_used",
			"Jobs of the queues that print that are at work here.",
			func() int { used, _ := slots(); return used },
		),
		gauge(
			"presswork_slots",
			"How many of them are taken at most: those being printed, and those before and after.",
			func() int { _, total := slots(); return total },
		),
	}
}

// registered registers a collector, or gives the one that another Worker has
// registered before: the kinds of a process share them.
func registered[C prometheus.Collector](reg prometheus.Registerer, c C) C {
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
		panic(err) // the names are this package's own
	}

	return c
}

// done counts a run by how it ended.
func (m metrics) done(kind presswork.Kind, cached bool, err error) {
	result := "completed"

	switch {
	case err != nil:
		result = string(fault.CodeOf(err))
	case cached:
		result = "cached"
	}
	m.jobs.WithLabelValues(string(kind), result).Inc()
}

// visited notes that a foreign page was open since began.
func (m metrics) visited(output string, began time.Time, err error) {
	result := "completed"
	if err != nil {
		result = string(fault.CodeOf(err))
	}
	m.visits.WithLabelValues(output, result).Observe(time.Since(began).Seconds())
}
