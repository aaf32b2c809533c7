package worker

import (
	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/chromium"
	"presswork/internal/guard"
)

// browserCollector exports the counts of a browser at each scrape.
type browserCollector struct {
	stats  func() chromium.Stats
	series []browserSeries
}

// browserSeries is one time series. Series with the same description differ in their label.
type browserSeries struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(s chromium.Stats) int64
	// labels are the values of the labels of desc.
	labels []string
}

// BrowserMetrics returns a collector of the counts that a browser's Stats method returns.
func BrowserMetrics(stats func() chromium.Stats) prometheus.Collector {
	c := &browserCollector{stats: stats}
	c.counter("presswork_browser_prints_total", "PDFs the browser returned.",
		func(s chromium.Stats) int64 { return s.Prints })
	c.restarts("presswork_browser_restarts_total")
	c.counter("presswork_browser_tabs_lost_total", "Tabs that died, or left their page, while printing.",
		func(s chromium.Stats) int64 { return s.TabsLost })
	c.gauge("presswork_browser_tabs",
		"Tabs by the browser's own count, at most five seconds old; at most WORKERS while nothing is printed.",
		func(s chromium.Stats) int64 { return int64(s.Tabs) })
	c.gauge("presswork_browser_busy", "Prints that run.", func(s chromium.Stats) int64 { return int64(s.Busy) })
	c.gauge("presswork_browser_waiting", "Prints waiting for a tab.",
		func(s chromium.Stats) int64 { return int64(s.Waiting) })
	c.gauge("presswork_browser_memory_bytes", "Memory of all browser processes; Linux only.",
		func(s chromium.Stats) int64 { return s.MemoryBytes })

	return c
}

// ExporterMetrics returns a collector of the counts that an exporter's Stats and Refusals methods return. A reason that
// has not occurred is exported as 0.
func ExporterMetrics(stats func() chromium.Stats, refusals func() map[guard.Reason]int64) prometheus.Collector {
	c := &browserCollector{stats: stats}
	c.counter("presswork_export_browser_launches_total",
		"Starts of the browser for foreign pages, which stops when it is idle.",
		func(s chromium.Stats) int64 { return s.Launches })
	c.restarts("presswork_export_browser_restarts_total")
	c.counter("presswork_export_browser_tabs_lost_total", "Pages whose renderer died.",
		func(s chromium.Stats) int64 { return s.TabsLost })
	c.gauge("presswork_export_browser_tabs",
		"Pages by the browser's own count, at most five seconds old; at most one while nothing is exported.",
		func(s chromium.Stats) int64 { return int64(s.Tabs) })
	c.gauge("presswork_export_browser_busy", "Exports that run.", func(s chromium.Stats) int64 { return int64(s.Busy) })
	c.gauge("presswork_export_browser_waiting", "Exports waiting for a tab.",
		func(s chromium.Stats) int64 { return int64(s.Waiting) })
	c.gauge("presswork_export_browser_memory_bytes",
		"Memory of all processes of the browser for foreign pages; Linux only.",
		func(s chromium.Stats) int64 { return s.MemoryBytes })

	refused := prometheus.NewDesc("presswork_guard_refusals_total",
		"Refused connections of foreign pages, by reason: not_public, never (no setting allows it), port, "+
			"host (the operator's lists) or own.", []string{"reason"}, nil)
	for _, reason := range guard.Reasons() {
		c.add(
			refused,
			prometheus.CounterValue,
			func(chromium.Stats) int64 { return refusals()[reason] },
			string(reason),
		)
	}

	return c
}

// counter adds a counter without labels.
func (c *browserCollector) counter(name, help string, value func(s chromium.Stats) int64) {
	c.add(prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, value)
}

// gauge adds a gauge without labels.
func (c *browserCollector) gauge(name, help string, value func(s chromium.Stats) int64) {
	c.add(prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, value)
}

// restarts adds the counters of replaced browsers.
func (c *browserCollector) restarts(name string) {
	desc := prometheus.NewDesc(name, "Browsers replaced, by reason: recycle (age, count or memory) or crash.",
		[]string{"reason"}, nil)
	c.add(desc, prometheus.CounterValue, func(s chromium.Stats) int64 { return s.Recycles }, "recycle")
	c.add(desc, prometheus.CounterValue, func(s chromium.Stats) int64 { return s.Crashes }, "crash")
}

// add adds a series.
func (c *browserCollector) add(
	desc *prometheus.Desc, kind prometheus.ValueType, value func(s chromium.Stats) int64, labels ...string,
) {
	c.series = append(c.series, browserSeries{desc: desc, kind: kind, value: value, labels: labels})
}

// Describe implements prometheus.Collector. A registry accepts a description twice from the same collector.
func (c *browserCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, s := range c.series {
		ch <- s.desc
	}
}

// Collect implements prometheus.Collector.
func (c *browserCollector) Collect(ch chan<- prometheus.Metric) {
	stats := c.stats()
	for _, s := range c.series {
		ch <- prometheus.MustNewConstMetric(s.desc, s.kind, float64(s.value(stats)), s.labels...)
	}
}
