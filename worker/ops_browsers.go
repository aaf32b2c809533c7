package worker

import (
	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/chromium"
	"presswork/internal/guard"
)

// browserCollector exports the counts of the browser for documents at each scrape.
type browserCollector struct {
	stats func() chromium.Stats

	prints, restarts, tabsLost, tabs, busy, waiting, memory *prometheus.Desc
}

// BrowserMetrics returns a collector of the counts that a browser's Stats method returns.
func BrowserMetrics(stats func() chromium.Stats) prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}

	return browserCollector{
		stats:  stats,
		prints: desc("presswork_browser_prints_total", "PDFs the browser returned."),
		restarts: desc("presswork_browser_restarts_total",
			"Browsers replaced, by reason: recycle (age, count or memory) or crash.", "reason"),
		tabsLost: desc("presswork_browser_tabs_lost_total", "Tabs that died, or left their page, while printing."),
		tabs: desc("presswork_browser_tabs",
			"Tabs by the browser's own count, at most five seconds old; at most WORKERS while nothing is printed."),
		busy:    desc("presswork_browser_busy", "Prints that run."),
		waiting: desc("presswork_browser_waiting", "Prints waiting for a tab."),
		memory:  desc("presswork_browser_memory_bytes", "Memory of all browser processes; Linux only."),
	}
}

// Describe implements prometheus.Collector.
func (c browserCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.prints, c.restarts, c.tabsLost, c.tabs, c.busy, c.waiting, c.memory} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c browserCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.stats()
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, n int64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n))
	}
	counter(c.prints, s.Prints)
	counter(c.restarts, s.Recycles, "recycle")
	counter(c.restarts, s.Crashes, "crash")
	counter(c.tabsLost, s.TabsLost)
	gauge(c.tabs, int64(s.Tabs))
	gauge(c.busy, int64(s.Busy))
	gauge(c.waiting, int64(s.Waiting))
	gauge(c.memory, s.MemoryBytes)
}

// exporterCollector exports the counts of the browser for foreign pages, and of its guard, at each scrape.
type exporterCollector struct {
	stats    func() chromium.Stats
	refusals func() map[guard.Reason]int64

	launches, restarts, tabsLost, tabs, busy, waiting, memory, refused *prometheus.Desc
}

// ExporterMetrics returns a collector of the counts that an exporter's Stats and Refusals methods return.
func ExporterMetrics(stats func() chromium.Stats, refusals func() map[guard.Reason]int64) prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}

	return exporterCollector{
		stats:    stats,
		refusals: refusals,
		launches: desc("presswork_export_browser_launches_total",
			"Starts of the browser for foreign pages, which stops when it is idle."),
		restarts: desc("presswork_export_browser_restarts_total",
			"Browsers replaced, by reason: recycle (age, count or memory) or crash.", "reason"),
		tabsLost: desc("presswork_export_browser_tabs_lost_total", "Pages whose renderer died."),
		tabs: desc("presswork_export_browser_tabs",
			"Pages by the browser's own count, at most five seconds old; at most one while nothing is exported."),
		busy:    desc("presswork_export_browser_busy", "Exports that run."),
		waiting: desc("presswork_export_browser_waiting", "Exports waiting for a tab."),
		memory: desc("presswork_export_browser_memory_bytes",
			"Memory of all processes of the browser for foreign pages; Linux only."),
		refused: desc("presswork_guard_refusals_total",
			"Refused connections of foreign pages, by reason: not_public, never (no setting allows it), port, "+
				"host (the operator's lists) or own.", "reason"),
	}
}

// Describe implements prometheus.Collector.
func (c exporterCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		c.launches, c.restarts, c.tabsLost, c.tabs, c.busy, c.waiting, c.memory, c.refused,
	} {
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
