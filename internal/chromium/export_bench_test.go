package chromium_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/export"
	"presswork/internal/guard"
)

// BenchmarkExportAgainstFloor exports a page of 20 resources alternately through Exporter and by bare commands, because
// the speed of a machine drifts. Each round then exports eight pages, two at a time.
func BenchmarkExportAgainstFloor(b *testing.B) {
	site := pages{"/style.css": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		fmt.Fprint(w, "body{font:14px/1.5 sans-serif}img{width:90px}")
	}, "/app.js": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, "document.body.append('scripted')")
	}}
	var body strings.Builder
	body.WriteString("<link rel=stylesheet href=/style.css><script defer src=/app.js></script>")

	for n := range 18 {
		path := fmt.Sprintf("/%d.svg", n)
		site[path] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/svg+xml")
			fmt.Fprint(w, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'><circle cx=4 cy=4 r=4 /></svg>")
		}
		fmt.Fprintf(&body, "<h2>Part %d</h2><img src=%s><p>%s</p>", n, path,
			strings.Repeat("Some words of a paragraph. ", 20))
	}
	site["/"] = body.String()
	url := "http://127.0.0.1:" + serve(b, site)
	e := startExporter(b, chromium.ExporterOptions{}, guard.Options{Allow: strings.TrimPrefix(url, "http://")})
	ours := func() error {
		_, err := e.PDF(b.Context(), chromium.Visit{URL: url}, export.PDFOptions{})
		return err
	}
	floor := func() error {
		_, err := e.RawExport(b.Context(), url)
		return err
	}
	measure := func(f func() error) time.Duration {
		begun := time.Now()

		if err := f(); err != nil {
			b.Fatal(err)
		}

		return time.Since(begun)
	}
	measure(ours)
	measure(floor)
	var oursTime, floorTime, parallelTime time.Duration
	rounds := 0

	for b.Loop() {
		for range 5 {
			oursTime += measure(ours)
			floorTime += measure(floor)
		}
		parallelTime += block(b, 8, func(_, _ int) error { return ours() })
		rounds++
	}
	n := float64(rounds)
	b.ReportMetric(oursTime.Seconds()*1000/(5*n), "ms")
	b.ReportMetric(floorTime.Seconds()*1000/(5*n), "floor-ms")
	b.ReportMetric(oursTime.Seconds()/floorTime.Seconds(), "ratio")
	b.ReportMetric(8*n/parallelTime.Seconds(), "pages/s")
}
