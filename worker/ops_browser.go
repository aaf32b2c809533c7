package worker

import (
	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/chromium"
)

// browserCollector turns the browser's own counts into metrics at each scrape.
type browserCollector struct {
	stats func() chromium.Stats

	prints, restarts, tabsLost, tabs, busy, waiting, memory *prometheus.Desc
}

// BrowserMetrics exports what a browser's Stats method returns.
func BrowserMetrics(stats func() chromium.Stats) prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}

	return browserCollector{
		stats:  stats,
		prints: desc("presswork_browser_prints_total", "PDFs the browser returned."),
		restarts: desc(
			"presswork_browser_restarts_total",
			"Browsers replaced, by reason: recycle (age, count or memory) or crash.",
			"reason",
		),
		tabsLost: desc("presswork_browser_tabs_lost_total", "Tabs that died, or left their page, while printing."),
		tabs: desc(
			"presswork_browser_tabs",
			"Tabs that the browser has by its own count, of the last five seconds: no more than WORKERS while nothing is printed.",
		),
		busy:    desc("presswork_browser_busy", "Prints at work."),
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
