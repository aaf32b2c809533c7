package worker

import (
	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/chromium"
	"presswork/internal/guard"
)

// exporterCollector turns the counts of the browser for foreign pages, and of
// its guard, into metrics at each scrape.
type exporterCollector struct {
	stats    func() chromium.Stats
	refusals func() map[guard.Reason]int64

	launches, restarts, tabsLost, tabs, busy, waiting, memory, refused *prometheus.Desc
}

// ExporterMetrics exports what an exporter's Stats and Refusals methods return.
func ExporterMetrics(stats func() chromium.Stats, refusals func() map[guard.Reason]int64) prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}

	return exporterCollector{
		stats:    stats,
		refusals: refusals,
		launches: desc(
			"presswork_export_browser_launches_total",
			"Starts of the browser for foreign pages; it ends when it is idle.",
		),
		restarts: desc(
			"presswork_export_browser_restarts_total",
			"Browsers replaced, by reason: recycle (age, count or memory) or crash.",
			"reason",
		),
		tabsLost: desc("presswork_export_browser_tabs_lost_total", "Pages whose renderer died."),
		tabs: desc(
			"presswork_export_browser_tabs",
			"Pages that the browser for foreign pages has by its own count, of the last five seconds: one at most while nothing is exported.",
		),
		busy:    desc("presswork_export_browser_busy", "Exports at work."),
		waiting: desc("presswork_export_browser_waiting", "Exports waiting for a tab."),
		memory: desc(
			"presswork_export_browser_memory_bytes",
			"Memory of all processes of the browser for foreign pages; Linux only.",
		),
		refused: desc(
			"presswork_guard_refusals_total",
			"Connections of foreign pages that were refused, by reason: not_public, never (no setting opens it), port, host (the operator's lists) or own.",
			"reason",
		),
	}
}

// Describe implements prometheus.Collector.
func (c exporterCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.launches, c.restarts, c.tabsLost, c.tabs, c.busy, c.waiting, c.memory, c.refused} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c exporterCollector) Collect(ch chan<- prometheus.Metric) {
	s, refusals := c.stats(), c.refusals()
	send := func(d *prometheus.Desc, kind prometheus.ValueType, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, float64(n), labels...)
	}
	send(c.launches, prometheus.CounterValue, s.Launches)
	send(c.restarts, prometheus.CounterValue, s.Recycles, "recycle")
	send(c.restarts, prometheus.CounterValue, s.Crashes, "crash")
	send(c.tabsLost, prometheus.CounterValue, s.TabsLost)
	send(c.tabs, prometheus.GaugeValue, int64(s.Tabs))
	send(c.busy, prometheus.GaugeValue, int64(s.Busy))
	send(c.waiting, prometheus.GaugeValue, int64(s.Waiting))
	send(c.memory, prometheus.GaugeValue, s.MemoryBytes)

	for _, reason := range guard.Reasons() {
		send(c.refused, prometheus.CounterValue, refusals[reason], string(reason))
	}
}
