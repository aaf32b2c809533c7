package runlog

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

// The size of a chart, and of the area for its points, in pixels.
const (
	ChartWidth  = 880
	ChartHeight = 440

	plotLeft, plotRight = 76, ChartWidth - 28
	plotTop, plotBottom = 76, ChartHeight - 56
)

//go:embed chart.svg
var chartSVG string

//go:embed chart.html
var chartHTML string

// drawing is the data for the templates.
type drawing struct {
	Title, Subtitle string
	Name            string
	Empty           string // the text of a chart without points
	Width, Height   int
	Left, Right     int
	Bottom          int
	Lines           []gridLine
	Dots            []dot
	// Median is the path of the medians of neighbouring runs, Area the area below it.
	Median, Area template.HTMLAttr
	P95          gridLine // the line of the 95th percentile
	Ticks        []tick
	Facts        []fact
}

// gridLine is a horizontal line with its value.
type gridLine struct {
	Y     float64
	Label string
}

// dot is the point of a run.
type dot struct {
	X, Y, Radius float64
	Label        string
}

// tick is a label of the time axis. Anchor is its text-anchor.
type tick struct {
	X      float64
	Label  string
	Anchor string
}

// fact is a line of the chart's legend.
type fact struct{ Name, Value string }

// WriteSVG draws a metric as a self-contained picture. Errors: those of w.
func WriteSVG(w io.Writer, m Metric, runs []Run) error { return draw(w, m, runs, false) }

// WriteHTML draws a metric as a self-contained page. Errors: those of w.
func WriteHTML(w io.Writer, m Metric, runs []Run) error { return draw(w, m, runs, true) }

// draw writes the chart as SVG, or as an HTML page around it.
func draw(w io.Writer, m Metric, runs []Run, page bool) error {
	t, err := template.New("svg").Parse(chartSVG)
	if err == nil && page {
		t, err = t.New("page").Parse(chartHTML)
	}

	if err != nil {
		return fmt.Errorf("the chart's template: %w", err)
	}

	return t.Execute(w, newDrawing(m, runs))
}

// newDrawing computes the coordinates and labels of a chart.
func newDrawing(m Metric, runs []Run) drawing {
	points := m.Points(runs)

	d := drawing{
		Title:  m.Title,
		Name:   m.Name,
		Width:  ChartWidth,
		Height: ChartHeight,
		Left:   plotLeft,
		Right:  plotRight,
		Bottom: plotBottom,
	}
	if len(points) == 0 {
		d.Empty = "no run has a value yet"
		return d
	}
	s := m.Summarize(runs)
	d.Subtitle = Span(points[0].At, points[len(points)-1].At, "2 January 2006")

	d.Facts = []fact{{"runs", fmt.Sprint(s.Runs)}, {"median", m.Format(s.P50)}, {"95 % below", m.Format(s.P95)}}
	if trend := TrendText(s); trend != "" {
		d.Facts = append(d.Facts, fact{"newer half", trend})
	}
	axis := newScale(values(points), m.counts())
	y := func(v float64) float64 { return tenth(plotBottom - (plotBottom-plotTop)*v/axis.top) }
	x := func(i, n int) float64 {
		if n == 1 {
			return (plotLeft + plotRight) / 2
		}

		return tenth(plotLeft + 10 + (plotRight-plotLeft-20)*float64(i)/float64(n-1))
	}

	// The factor allows for rounding, so that the top line is drawn.
	for v := 0.0; v <= axis.top*1.001; v += axis.step {
		d.Lines = append(d.Lines, gridLine{y(v), m.Format(v)})
	}
	d.P95 = gridLine{y(s.P95), "p95"}
	d.dots(m, points, x, y)
	d.path(points, x, y)

	return d
}

// maxDots bounds the dots, so that a picture of very many runs stays small.
const maxDots = 1500

// dots adds a point for each run, but at most maxDots, and up to three labels of the time axis.
func (d *drawing) dots(m Metric, points []Point, x func(i, n int) float64, y func(float64) float64) {
	every := (len(points) + maxDots - 1) / maxDots

	radius := 3.5
	if len(points) > 150 {
		radius = 2
	}

	for i := 0; i < len(points); i += every {
		p := points[i]
		d.Dots = append(d.Dots, dot{
			x(i, len(points)),
			y(p.Value),
			radius,
			p.At.Local().Format("2 Jan 2006 15:04") + ": " + m.Format(p.Value),
		})
	}
	last := len(points) - 1

	d.Ticks = append(d.Ticks, tick{x(0, len(points)), points[0].At.Local().Format("2 Jan 15:04"), "start"})
	if len(points) > 2 {
		d.Ticks = append(d.Ticks,
			tick{x(last/2, len(points)), points[last/2].At.Local().Format("2 Jan 15:04"), "middle"})
	}

	if len(points) > 1 {
		d.Ticks = append(d.Ticks, tick{x(last, len(points)), points[last].At.Local().Format("2 Jan 15:04"), "end"})
	}
}

// path draws the medians of up to two dozen groups of neighbouring runs.
func (d *drawing) path(points []Point, x func(i, n int) float64, y func(float64) float64) {
	groups := medians(points, 24)
	if len(groups) < 2 {
		return
	}

	var line strings.Builder
	for i, v := range groups {
		fmt.Fprintf(&line, "%c%g %g", "ML"[min(i, 1)], x(i, len(groups)), y(v))
	}
	area := fmt.Sprintf("%sL%g %dL%g %dZ", line.String(), x(1, 2), plotBottom, x(0, 2), plotBottom)
	d.Median, d.Area = template.HTMLAttr(`d="`+line.String()+`"`), template.HTMLAttr(`d="`+area+`"`)
}

// tenth rounds a coordinate to a tenth of a pixel.
func tenth(v float64) float64 { return float64(int(v*10+0.5)) / 10 }
