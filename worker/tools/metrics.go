package tools

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/inference"
)

// metrics are the metrics of sessions with built-in tools, and of the calls in them.
type metrics struct {
	calls   *prometheus.HistogramVec
	wait    prometheus.Histogram
	running prometheus.Gauge
}

// newMetrics creates the metrics of built-in tools and registers them, if reg is not nil.
func newMetrics(reg prometheus.Registerer) metrics {
	seconds := prometheus.ExponentialBuckets(0.005, 2, 16)

	m := metrics{
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_tool_call_seconds",
			Help:    "Time of calls of built-in tools; outcome is ok, failed (reported to the model) or error.",
			Buckets: seconds,
		}, []string{"function", "outcome"}),
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "presswork_tool_wait_seconds",
			Help:    "Time that sessions with built-in tools waited for a worker.",
			Buckets: seconds,
		}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "presswork_tool_sessions", Help: "Open sessions with built-in tools in this process.",
		}),
	}
	if reg != nil {
		reg.MustRegister(m.calls, m.wait, m.running)
	}

	return m
}

// session counts a session that has waited for a worker. end ends the session.
func (m metrics) session(waited time.Duration) (end func()) {
	m.wait.Observe(waited.Seconds())
	m.running.Inc()

	return m.running.Dec
}

// call records the duration of a call. An unknown function has the label "unknown", because a model may
// invent any name.
func (m metrics) call(function string, took time.Duration, failed bool, err error) {
	switch function {
	case inference.PythonFunction, inference.SearchFunction, inference.OpenFunction, inference.FindFunction:
	default:
		function = "unknown"
	}
	outcome := "ok"

	switch {
	case err != nil:
		outcome = "error"
	case failed:
		outcome = "failed"
	}
	m.calls.WithLabelValues(function, outcome).Observe(took.Seconds())
}
