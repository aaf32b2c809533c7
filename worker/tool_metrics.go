package worker

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/inference"
)

// toolMetrics are of the sessions of built-in tools and of what is called in them.
type toolMetrics struct {
	calls   *prometheus.HistogramVec
	wait    prometheus.Histogram
	running prometheus.Gauge
}

func newToolMetrics(reg prometheus.Registerer) toolMetrics {
	seconds := prometheus.ExponentialBuckets(0.005, 2, 16)

	m := toolMetrics{
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_tool_call_seconds",
			Help:    "How long calls of built-in tools took; outcome is ok, failed (the model was told so) or error.",
			Buckets: seconds,
		}, []string{"function", "outcome"}),
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "presswork_tool_wait_seconds",
			Help:    "How long sessions of built-in tools waited for a worker.",
			Buckets: seconds,
		}),
		running: prometheus.NewGauge(
			prometheus.GaugeOpts{
				Name: "presswork_tool_sessions",
				Help: "Sessions of built-in tools that are open here.",
			},
		),
	}
	if reg != nil {
		reg.MustRegister(m.calls, m.wait, m.running)
	}

	return m
}

// session counts a session that waited so long, until end.
func (m toolMetrics) session(waited time.Duration) (end func()) {
	m.wait.Observe(waited.Seconds())
	m.running.Inc()

	return m.running.Dec
}

// call times a call; a label is what models cannot invent.
func (m toolMetrics) call(function string, took time.Duration, failed bool, err error) {
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
