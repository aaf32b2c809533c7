package runlog

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"presswork/internal/input"
)

// Metric is a number of a run. Some runs do not have it.
type Metric struct {
	Name string
	// Title is its display name.
	Title string
	// Unit is ms, %, bytes or "".
	Unit string
	of   func(Run) (value float64, ok bool)
}

// Metrics returns all metrics.
func Metrics() []Metric {
	// A run that converted nothing has no time and size.
	converted := func(f func(Run) float64) func(Run) (float64, bool) {
		return func(r Run) (float64, bool) { return f(r), r.Failures < r.Documents }
	}
	positive := func(f func(Run) float64) func(Run) (float64, bool) {
		return func(r Run) (float64, bool) { return f(r), f(r) > 0 && r.Failures < r.Documents }
	}

	return []Metric{
		{"hit_rate", "Answers from the analysis cache", "%", func(r Run) (float64, bool) {
			return 100 * float64(r.Hits) / float64(max(r.Lookups, 1)), r.Lookups > 0
		}},
		{"total_ms", "Time per document", "ms", converted(func(r Run) float64 { return r.TotalMS })},
		{"analyze_ms", "Choice of a theme, per document", "ms", positive(func(r Run) float64 { return r.AnalyzeMS })},
		{"render_ms", "Markdown to HTML, per document", "ms", positive(func(r Run) float64 { return r.RenderMS })},
		{"print_ms", "Printing, per document", "ms", positive(func(r Run) float64 { return r.PrintMS })},
		{"pages", "Pages per run", "", converted(func(r Run) float64 { return float64(r.Pages) })},
		{"bytes", "Bytes written per run", "bytes", converted(func(r Run) float64 { return float64(r.Bytes) })},
		{
			"failures",
			"Documents that failed, per run",
			"",
			func(r Run) (float64, bool) { return float64(r.Failures), true },
		},
	}
}

// MetricOf returns the metric with a name. The error lists the names.
func MetricOf(name string) (Metric, error) {
	var names []string

	for _, m := range Metrics() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}

	return Metric{}, fmt.Errorf("%.40q is not a metric%s; allowed: %s", name, input.DidYouMean(name, names),
		strings.Join(names, ", "))
}

// Point is a metric's value in one run.
type Point struct {
	At    time.Time
	Value float64
}

// Points returns the values of the runs that have one, in the order of the runs.
func (m Metric) Points(runs []Run) []Point {
	var points []Point

	for _, r := range runs {
		if v, ok := m.of(r); ok {
			points = append(points, Point{r.At, v})
		}
	}

	return points
}

// Format returns a value with its unit, for display.
func (m Metric) Format(v float64) string {
	switch {
	case m.Unit == "%":
		return fmt.Sprintf("%.0f %%", v)
	case m.Unit == "bytes" && v >= 1e6:
		return fmt.Sprintf("%.1f MB", v/1e6)
	case m.Unit == "bytes" && v >= 1e3:
		return fmt.Sprintf("%.0f KB", v/1e3)
	case m.Unit == "ms" && v >= 10_000:
		return fmt.Sprintf("%.1f s", v/1e3)
	case m.Unit == "ms" && v > 0 && v < 10:
		return fmt.Sprintf("%.1f ms", v)
	case m.Unit == "ms":
		return fmt.Sprintf("%.0f ms", v)
	case v == math.Trunc(v):
		return strings.TrimSpace(fmt.Sprintf("%.0f %s", v, m.Unit))
	}

	return strings.TrimSpace(fmt.Sprintf("%.1f %s", v, m.Unit))
}

// counts reports whether the values are whole numbers.
func (m Metric) counts() bool { return m.Unit == "" }

// Span returns the days from one time to another in a layout. One day is written once.
func Span(from, to time.Time, layout string) string {
	first, last := from.Local().Format(layout), to.Local().Format(layout)
	if first == last {
		return first
	}

	return first + " to " + last
}

// Summary is a metric over all runs.
type Summary struct {
	Metric string `json:"metric"`
	// Runs counts the runs with a value. Without any, the other fields are 0.
	Runs int     `json:"runs"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	// Trend is the change of the median from the older half of the runs to the newer half, in percent. It is null
	// for fewer than eight runs or a median of 0.
	Trend *float64 `json:"trend_percent"`
}

// trendFrom is the least number of runs for a trend.
const trendFrom = 8

// Summarize returns the summary of a metric.
func (m Metric) Summarize(runs []Run) Summary {
	list := values(m.Points(runs))

	s := Summary{
		Metric: m.Name,
		Runs:   len(list),
		P50:    thousandth(quantile(list, 0.5)),
		P95:    thousandth(quantile(list, 0.95)),
	}
	if half := len(list) / 2; len(list) >= trendFrom {
		older, newer := quantile(list[:half], 0.5), quantile(list[half:], 0.5)
		if older > 0 {
			s.Trend = new(math.Round(1000*(newer-older)/older) / 10)
		}
	}

	return s
}

// quantile returns the value below which this share of the values lies, interpolated between neighbours. It does not
// change values.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := share * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)

	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// thousandth rounds a value to three decimals.
func thousandth(v float64) float64 { return math.Round(1000*v) / 1000 }

// Report has all metrics over all runs.
type Report struct {
	Runs      int       `json:"runs"`
	Documents int       `json:"documents"`
	Failures  int       `json:"failures"`
	From      time.Time `json:"from,omitzero"`
	To        time.Time `json:"to,omitzero"`
	// HitRate is the share of successful cache lookups, 0 to 1.
	HitRate float64   `json:"hit_rate"`
	Metrics []Summary `json:"metrics"`
	// Skipped counts damaged lines.
	Skipped int `json:"skipped"`
}

// NewReport returns the report on runs, which begin with the oldest.
func NewReport(runs []Run, skipped int) Report {
	r := Report{Runs: len(runs), Skipped: skipped}
	lookups, hits := 0, 0

	for _, run := range runs {
		r.Documents += run.Documents
		r.Failures += run.Failures
		lookups += run.Lookups
		hits += run.Hits
	}

	if lookups > 0 {
		r.HitRate = thousandth(float64(hits) / float64(lookups))
	}

	if len(runs) > 0 {
		r.From, r.To = runs[0].At, runs[len(runs)-1].At
	}

	for _, m := range Metrics() {
		r.Metrics = append(r.Metrics, m.Summarize(runs))
	}

	return r
}
