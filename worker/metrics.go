package worker

import (
	"github.com/prometheus/client_golang/prometheus"

	"presswork"
)

type metrics struct {
	jobs   *prometheus.CounterVec
	stages *prometheus.HistogramVec
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
	}
	if reg != nil {
		reg.MustRegister(m.jobs, m.stages)
	}
	return m
}

// done counts a run by how it ended.
func (m metrics) done(kind presswork.Kind, cached bool, err error) {
	result := "completed"
	switch {
	case err != nil:
		result = string(presswork.CodeOf(err))
	case cached:
		result = "cached"
	}
	m.jobs.WithLabelValues(string(kind), result).Inc()
}
