package worker_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/chromium"
	"presswork/internal/guard"
	"presswork/worker"
)

func TestBrowserMetricsShowTheStatsOfTheBrowser(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(worker.BrowserMetrics(func() chromium.Stats {
		return chromium.Stats{
			Prints: 9, Recycles: 2, Crashes: 1, TabsLost: 3, Tabs: 10, Busy: 4, Waiting: 5, MemoryBytes: 6,
		}
	}))
	reg.MustRegister(worker.ExporterMetrics(func() chromium.Stats {
		return chromium.Stats{
			Launches: 7, Recycles: 2, Crashes: 1, TabsLost: 3, Tabs: 11, Busy: 4, Waiting: 5, MemoryBytes: 6,
		}
	}, func() map[guard.Reason]int64 { return map[guard.Reason]int64{guard.Port: 8} }))

	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder

	for _, f := range families {
		for _, m := range f.GetMetric() {
			got.WriteString(f.GetName() + " " + m.String() + "\n")
		}
	}

	for _, want := range []string{
		"presswork_browser_prints_total counter:{value:9", `label:{name:"reason" value:"crash"} counter:{value:1`, `label:{name:"reason" value:"recycle"} counter:{value:2`,
		"presswork_browser_tabs_lost_total counter:{value:3", "presswork_browser_busy gauge:{value:4", "presswork_browser_waiting gauge:{value:5", "presswork_browser_memory_bytes gauge:{value:6",
		"presswork_browser_tabs gauge:{value:10", "presswork_export_browser_tabs gauge:{value:11",
		"presswork_export_browser_launches_total counter:{value:7", "presswork_export_browser_memory_bytes gauge:{value:6",
		`presswork_guard_refusals_total label:{name:"reason" value:"port"} counter:{value:8`, `presswork_guard_refusals_total label:{name:"reason" value:"own"} counter:{value:0`,
	} {
		if !strings.Contains(strings.ReplaceAll(got.String(), "  ", " "), want) {
			t.Errorf("got\n%s\nwant %s in it", got.String(), want)
		}
	}
}
