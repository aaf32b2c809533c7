package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/storage/retention"
)

// collected are the metrics that both roles read from their parts at a scrape.
func collected(skew func() time.Duration, swept func() retention.Counts) []prometheus.Collector {
	counter := func(name, help, label, value string, of func(retention.Counts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: prometheus.Labels{label: value}},
			func() float64 { return float64(of(swept())) })
	}
	const (
		sweeps, sweepsHelp   = "presswork_store_sweeps_total", "Sweeps of the store by this process, by result: done or failed."
		deleted, deletedHelp = "presswork_store_deleted_total", "Objects that sweeps of this process deleted, by reason: retention or cap."
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
	}
}
