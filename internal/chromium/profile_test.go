package chromium_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/chromium/fonts"
	"presswork/internal/document"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/documents"
	"presswork/themes"
)

// BenchmarkProfile prints tables of the time that each stage of a document takes. The documents are those of the speed
// measurements, or the file in PRESSWORK_PROFILE (`make profile DOC=file.md`).
func BenchmarkProfile(b *testing.B) {
	config, err := fonts.Install("")
	if err != nil {
		b.Fatal(err)
	}
	catalogue := themes.Open(themes.Options{})
	p := profiler{browser: browsertest.Start(b, chromium.Options{Tabs: 1, FontConfig: config, RecycleAfter: 1 << 30})}

	p.converter = document.New(document.Options{Printer: p.browser, Themes: catalogue})
	if p.raw, err = p.browser.Raw(b.Context()); err != nil {
		b.Fatal(err)
	}
	kinds := documents.All()

	if path := os.Getenv("PRESSWORK_PROFILE"); path != "" {
		content, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		kinds = []documents.Document{
			{Name: filepath.Base(path), Markdown: func(n int) string { return fmt.Sprintf("%s\n\n%d\n", content, n) }},
		}
	}

	for _, kind := range kinds {
		b.Run(kind.Name, func(b *testing.B) {
			for b.Loop() {
				p.profile(b, kind)
			}
		})
	}
}

// profiler prints documents with the stages of the service one by one.
type profiler struct {
	browser   *chromium.Browser
	raw       *chromium.Raw
	converter *document.Converter
	documents int // the number of documents so far, which makes each different
}

// stage is one line of a profile: the average time of a document in one stage.
type stage struct {
	name      string
	wall, cpu time.Duration
	calls     float64
}

// profile prints a document several times without tracing, for the stages, and several times with tracing, for the
// browser's threads.
func (p *profiler) profile(b *testing.B, kind documents.Document) {
	prints, warmup := 60, 20

	const long = 100 << 10 // bytes; 60 prints of a longer document would take many minutes
	if len(kind.Markdown(0)) > long {
		prints, warmup = 2, 1
	}
	p.print(b, kind, warmup, nil)
	var composed, printed, packed stage
	cpu := p.raw.CPU()
	var pages int
	p.print(b, kind, prints, func(n int) {
		var d document.Composed
		composed.measure(func() (err error) {
			d, err = p.converter.Compose(
				b.Context(),
				document.Document{Content: []byte(kind.Markdown(n)), Theme: os.Getenv("PRESSWORK_PROFILE_THEME")},
			)

			return err
		}, b)
		var out []byte
		printed.measure(func() (err error) {
			out, err = p.browser.Print(b.Context(), d.Page)
			return err
		}, b)
		packed.measure(func() error {
			r, err := p.converter.Pack(b.Context(), out, d.Meta.Title, nil)
			pages = r.Pages

			return err
		}, b)
	})

	cpu = (p.raw.CPU() - cpu) / time.Duration(prints)
	for _, s := range []*stage{&composed, &printed, &packed} {
		s.wall, s.cpu, s.calls = s.wall/time.Duration(prints), s.cpu/time.Duration(prints), 1
	}
	composed.name, printed.name, packed.name = "compose (Markdown, theme, tables)", "print (sent, parsed, printed, read)", "pack (title, streams)"
	own := composed.cpu + printed.cpu + packed.cpu
	printed.cpu = cpu // of the browser; own has the time of this process

	events, err := p.raw.Trace(b.Context(), func() error {
		p.print(b, kind, prints, nil)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	fmt.Fprintf(os.Stdout, "\n%s: %d pages, %.1f ms of CPU time, %.1f in the browser and %.1f in this process\n\n",
		kind.Name, pages, ms(own+cpu), ms(cpu), ms(own))
	table(b, own+cpu, []stage{composed, printed, packed})
	fmt.Fprintf(os.Stdout, "\nthe browser's threads, traced, which itself takes some time:\n\n")
	table(b, cpu, stagesOf(events, prints))
}

// print prints count documents with different texts, or calls each with their numbers if it is not nil.
func (p *profiler) print(b *testing.B, kind documents.Document, count int, each func(n int)) {
	for range count {
		p.documents++
		if each != nil {
			each(p.documents)
			continue
		}

		d, err := p.converter.Compose(
			b.Context(),
			document.Document{Content: []byte(kind.Markdown(p.documents)), Theme: os.Getenv("PRESSWORK_PROFILE_THEME")},
		)
		if err != nil {
			b.Fatal(err)
		}

		if _, err := p.browser.Print(b.Context(), d.Page); err != nil {
			b.Fatal(err)
		}
	}
}

// measure adds the clock time of work and the CPU time of this process.
func (s *stage) measure(work func() error, b *testing.B) {
	b.Helper()

	began, used := time.Now(), ownCPU(b)
	if err := work(); err != nil {
		b.Fatal(err)
	}
	s.wall, s.cpu = s.wall+time.Since(began), s.cpu+ownCPU(b)-used
}

// ownCPU returns the CPU time that this process has used.
func ownCPU(b *testing.B) time.Duration {
	b.Helper()

	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}

	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// table prints stages with their share of whole. It omits the smallest ones.
func table(b *testing.B, whole time.Duration, stages []stage) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "CPU ms\tshare\ttimes\twall ms\t   stage")

	for _, s := range stages {
		if s.cpu < whole/200 {
			continue
		}
		fmt.Fprintf(w, "%.2f\t%.0f %%\t%.1f\t%.2f\t   %s\n", ms(s.cpu), 100*float64(s.cpu)/float64(whole),
			s.calls, ms(s.wall), s.name)
	}

	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}

// ms returns d in milliseconds.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// stagesOf sums a trace by thread and span, the longest first. The time of a span excludes the spans within it.
func stagesOf(events []chromium.TraceEvent, prints int) []stage {
	type thread struct{ pid, tid int }
	processes, threads := map[int]string{}, map[thread]string{}
	spans := map[thread][]chromium.TraceEvent{}

	for _, e := range events {
		at := thread{e.PID, e.TID}
		switch {
		case e.Name == "process_name":
			processes[e.PID] = e.Args.Name
		case e.Name == "thread_name":
			threads[at] = e.Args.Name
		case e.Phase == "X":
			spans[at] = append(spans[at], e)
		}
	}
	sums := map[string]*stage{}

	for at, list := range spans {
		slices.SortStableFunc(list, func(a, b chromium.TraceEvent) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Wall, a.Wall))
		})
		where := processes[at.pid] + ", " + strings.TrimPrefix(threads[at], "Cr")

		var open []chromium.TraceEvent
		for _, e := range list {
			for len(open) > 0 && open[len(open)-1].Start+open[len(open)-1].Wall <= e.Start {
				open = open[:len(open)-1]
			}
			add(sums, where+": "+e.Name, 1, e)

			if len(open) > 0 {
				add(sums, where+": "+open[len(open)-1].Name, -1, e)
			}
			open = append(open, e)
		}
	}

	for _, s := range sums {
		s.wall, s.cpu, s.calls = s.wall/time.Duration(prints), s.cpu/time.Duration(prints), s.calls/float64(prints)
	}
	all := slices.SortedFunc(maps.Values(sums), func(a, b *stage) int {
		return cmp.Or(cmp.Compare(b.cpu, a.cpu), cmp.Compare(a.name, b.name))
	})

	stages := make([]stage, len(all))
	for i, s := range all {
		stages[i] = *s
	}

	return stages
}

// add adds a span's time to a stage. A sign of -1 subtracts it.
func add(sums map[string]*stage, name string, sign int, e chromium.TraceEvent) {
	s := sums[name]
	if s == nil {
		s = &stage{name: name}
		sums[name] = s
	}
	s.wall += time.Duration(float64(sign) * e.Wall * float64(time.Microsecond))

	s.cpu += time.Duration(float64(sign) * e.CPU * float64(time.Microsecond))
	if sign > 0 {
		s.calls++
	}
}
