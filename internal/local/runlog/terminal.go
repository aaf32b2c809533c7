package runlog

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// The size of a terminal chart.
const (
	chartRows   = 12 // three and four steps divide it
	minColumns  = 30
	margin      = 8 // columns for a value such as "123.4 MB"
	labelMargin = 2 // columns between the value and the bars
)

// Terminal draws a metric as columns of at most width characters, the oldest runs to the left. If there are more
// runs than columns, each column is the median of several runs. color adds escape sequences.
func Terminal(m Metric, runs []Run, width int, color bool) string {
	points := m.Points(runs)
	if len(points) == 0 {
		return noRuns(m) + "\n"
	}
	columns := max(width, minColumns) - margin - labelMargin
	bars := medians(points, columns)
	axis := newScale(bars, m.counts())

	wide, gap := 1, 0
	if room := columns / len(bars); room >= 3 {
		wide, gap = min(room-1, 4), 1
	}

	paint, plain := "", ""
	if color {
		paint, plain = "\x1b[38;5;69m", "\x1b[0m"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", heading(m, points))
	steps := int(math.Round(axis.top / axis.step))

	for row := range chartRows {
		label, rule := "", "│"
		if left := chartRows - row; left*steps%chartRows == 0 {
			label, rule = m.Format(axis.step*float64(left*steps/chartRows)), "┤"
		}
		fmt.Fprintf(&b, "%s%s %s%s", strings.Repeat(" ", max(margin-utf8.RuneCountInString(label), 0)), label, rule,
			paint)
		var line strings.Builder

		for _, v := range bars {
			// The height of the bar in this row, counted from the row's lower edge.
			block := eighths(v/axis.top*chartRows - float64(chartRows-1-row))
			line.WriteString(strings.Repeat(block, wide) + strings.Repeat(" ", gap))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + plain + "\n")
	}
	from, to := points[0].At.Local().Format("2 Jan 15:04"), points[len(points)-1].At.Local().Format("2 Jan 15:04")
	used := len(bars) * (wide + gap)
	fmt.Fprintf(&b, "%s0 └%s\n%s  %s", strings.Repeat(" ", margin-1), strings.Repeat("─", used),
		strings.Repeat(" ", margin), from)

	if between := used - len(from) - len(to); between > 0 {
		b.WriteString(strings.Repeat(" ", between) + to)
	}
	s := m.Summarize(runs)
	fmt.Fprintf(&b, "\n\n%s  p50 %s   p95 %s%s\n", strings.Repeat(" ", margin), m.Format(s.P50), m.Format(s.P95),
		trendPhrase(s))

	return b.String()
}

// noRuns returns the text of a chart without points.
func noRuns(m Metric) string { return fmt.Sprintf("%s: no run has a value yet", m.Title) }

// heading returns the title of a chart with the number of runs.
func heading(m Metric, points []Point) string {
	noun := "runs"
	if len(points) == 1 {
		noun = "run"
	}

	return fmt.Sprintf("%s (%s), %d %s", m.Title, m.Name, len(points), noun)
}

// trendPhrase returns "   newer half −12 %", or "" without a trend.
func trendPhrase(s Summary) string {
	if s.Trend == nil {
		return ""
	}

	return "   newer half " + TrendText(s)
}

// TrendText returns a trend: "+12 %", "−3 %", "steady" within two percent, "" for none.
func TrendText(s Summary) string {
	switch {
	case s.Trend == nil:
		return ""
	case math.Abs(*s.Trend) < 2:
		return "steady"
	case *s.Trend < 0:
		return fmt.Sprintf("−%.0f %%", -*s.Trend)
	}

	return fmt.Sprintf("+%.0f %%", *s.Trend)
}

// eighths returns a cell that is filled from below to a share, 0 to 1, in eighths.
func eighths(share float64) string {
	blocks := []string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
	return blocks[int(math.Round(min(max(share, 0), 1)*8))]
}

// medians groups neighbouring points into at most n groups and returns their medians.
func medians(points []Point, n int) []float64 {
	n = min(n, len(points))

	out := make([]float64, n)
	for i := range out {
		bucket := points[i*len(points)/n : (i+1)*len(points)/n]
		out[i] = quantile(values(bucket), 0.5)
	}

	return out
}

// values returns the values of the points.
func values(points []Point) []float64 {
	list := make([]float64, 0, len(points))
	for _, p := range points {
		list = append(list, p.Value)
	}

	return list
}

// scale is a vertical axis from 0 to top, with a line every step.
type scale struct{ top, step float64 }

// newScale returns a scale that ends at a round number above the largest value.
func newScale(values []float64, counted bool) scale {
	largest := slices.Max(values)
	if largest == 0 {
		return scale{1, 1}
	}
	// Four steps reach the largest value: look for the smallest round step that does.
	magnitude := math.Pow(10, math.Floor(math.Log10(largest/4)))

	step := magnitude
	for _, nice := range []float64{1, 2, 2.5, 5, 10} {
		if step = nice * magnitude; counted {
			step = max(1, math.Ceil(step))
		}

		if largest <= 4*step {
			break
		}
	}

	return scale{step * math.Ceil(largest/step), step}
}
