package chromium_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
	"presswork/internal/test/browsertest"
)

// sample returns a small composed document: about two pages with 20 KB of style.
func sample(n int) printable.Page {
	var s strings.Builder
	s.WriteString(
		"<!doctype html><html lang=en><head><title>Sample</title><style>@page{size:A4;margin:20mm}body{font:11pt/1.5 sans-serif}table{border-collapse:collapse}td,th{border:1px solid #999;padding:4px}",
	)

	for i := range 400 {
		fmt.Fprintf(&s, ".token-%d{color:oklch(%d%% .1 %d);font-weight:600}\n", i, i%100, i%360)
	}
	s.WriteString("</style></head><body>")

	for i := range 6 {
		fmt.Fprintf(
			&s,
			"<h2 id=s%d>Section %d of %d</h2><p>%s</p><ul><li>first <b>item</b></li><li>second</li></ul><table><tr><th>Name<th>Value</tr><tr><td>a<td>%d</tr></table><pre><code><span class=token-3>func</span> main() {}</code></pre>",
			i,
			i,
			n,
			strings.Repeat("Lorem ipsum dolor sit amet, consectetur adipiscing elit. ", 6),
			n,
		)
	}

	return printable.Page{HTML: s.String(), Sheet: printable.Sheet{Tagged: true, Outline: true}}
}

// tabs is the number of tabs of the browser in benchmarks.
const tabs = 2

// block calls print for count documents, in one worker for each tab, and returns how long that took.
func block(b *testing.B, count int, print func(worker, n int) error) time.Duration {
	begun := time.Now()
	var next atomic.Int64

	var wg sync.WaitGroup
	for w := range tabs {
		wg.Go(func() {
			for n := int(next.Add(1)); n <= count; n = int(next.Add(1)) {
				if err := print(w, n); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()

	return time.Since(begun)
}

// BenchmarkPrintAgainstFloor prints the same documents through Print and by bare commands in warm tabs of the same
// browser. Blocks alternate, because the speed of a machine drifts.
func BenchmarkPrintAgainstFloor(b *testing.B) {
	br := browsertest.Start(b, chromium.Options{Tabs: tabs, RecycleAfter: 1 << 30})

	raw, err := br.Raw(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var rawTabs []*chromium.RawTab

	for range tabs {
		t, err := raw.Tab(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		rawTabs = append(rawTabs, t)
	}
	ours := func(_, n int) error {
		_, err := br.Print(b.Context(), sample(n))
		return err
	}
	floor := func(w, n int) error {
		_, err := rawTabs[w].Print(b.Context(), sample(n))
		return err
	}
	const size = 60
	block(b, size, ours)
	block(b, size, floor)
	var oursTime, floorTime time.Duration
	blocks := 0

	for b.Loop() {
		oursTime += block(b, size, ours)
		floorTime += block(b, size, floor)
		blocks++
	}
	docs := float64(blocks * size)
	b.ReportMetric(docs/oursTime.Seconds(), "docs/s")
	b.ReportMetric(docs/floorTime.Seconds(), "floor-docs/s")
	b.ReportMetric(floorTime.Seconds()/oursTime.Seconds(), "ratio")
	b.ReportMetric(float64(br.Stats().MemoryBytes>>20), "MiB-PSS")
}

// BenchmarkLaunch measures the time from Start to the first PDF.
func BenchmarkLaunch(b *testing.B) {
	for b.Loop() {
		br := browsertest.Start(b, chromium.Options{Tabs: 1})
		mustPrint(b, br, page("<p>x"))

		if err := br.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTabsThatStay prints documents with different texts and styles in tabs that are never replaced. It
// reports the CPU time of a document and the memory of the browser in each fifth of the documents. `-benchtime
// 20000x` prints 20 000. CPU time drifts less than the clock time of a machine.
func BenchmarkTabsThatStay(b *testing.B) {
	br := browsertest.Start(b, chromium.Options{Tabs: tabs, RecycleAfter: 1 << 30})

	raw, err := br.Raw(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var printed atomic.Int64
	print := func(_, _ int) error {
		n := int(printed.Add(1))
		page := sample(n)
		page.HTML = strings.Replace(page.HTML, ".token-0{", fmt.Sprintf(".document-%d{", n), 1)
		_, err := br.Print(b.Context(), page)

		return err
	}
	block(b, 20*tabs, print)
	const fifths = 5
	b.ResetTimer()

	for fifth := range fifths {
		before, count := raw.CPU(), max(b.N/fifths, 1)
		took := block(b, count, print)
		b.ReportMetric(float64((raw.CPU()-before).Milliseconds())/float64(count), fmt.Sprintf("cpu-ms/doc-%d", fifth+1))
		b.ReportMetric(float64(count)/took.Seconds(), fmt.Sprintf("docs/s-%d", fifth+1))
		b.ReportMetric(float64(br.Stats().MemoryBytes>>20), fmt.Sprintf("MiB-PSS-%d", fifth+1))
	}
}
