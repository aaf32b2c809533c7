package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/storage/retention"
)

// sharedMetrics returns the metrics that both roles read from their parts at a scrape.
func sharedMetrics(skew func() time.Duration, counts func() retention.Counts) []prometheus.Collector {
	counter := func(name, help, label, value string, of func(retention.Counts) int64) prometheus.Collector {
		opts := prometheus.CounterOpts{Name: name, Help: help, ConstLabels: prometheus.Labels{label: value}}
		return prometheus.NewCounterFunc(opts, func() float64 { return float64(of(counts())) })
	}
	const (
		sweeps      = "presswork_store_sweeps_total"
		sweepsHelp  = "Sweeps of the store by this process, by result: done or failed."
		deleted     = "presswork_store_deleted_total"
		deletedHelp = "Objects that sweeps of this process deleted, by reason: retention or cap."
	)

	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "presswork_clock_skew_seconds",
			Help: "How far this machine's clock is ahead of Redis'.",
		}, func() float64 { return skew().Seconds() }),
		counter(sweeps, sweepsHelp, "result", "done", func(c retention.Counts) int64 { return c.Sweeps }),
		counter(sweeps, sweepsHelp, "result", "failed", func(c retention.Counts) int64 { return c.Failed }),
		counter(deleted, deletedHelp, "reason", "retention", func(c retention.Counts) int64 { return c.Expired }),
		counter(deleted, deletedHelp, "reason", "cap", func(c retention.Counts) int64 { return c.Shrunk }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "presswork_store_skipped_total",
			Help: "How often sweeps of this process skipped an object: its key is not allowed, " +
				"or the store does not read or delete it.",
		}, func() float64 { return float64(counts().Skipped) }),
	}
}
