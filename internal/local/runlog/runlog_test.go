package runlog_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/local/runlog"
	"presswork/internal/test/wait"
)

// runs returns n runs, one per hour. Run i takes i milliseconds.
func runs(n int) []runlog.Run {
	list := make([]runlog.Run, n)
	for i := range list {
		list[i] = runlog.Run{
			Version: 1, At: time.Date(2026, 11, 1, i, 0, 0, 0, time.UTC), Documents: 1, Pages: 2, Bytes: 20_000,
			TotalMS: float64(i), RenderMS: 3, PrintMS: float64(i) / 2, Lookups: 2, Hits: i % 3,
		}
	}

	return list
}

// addRuns adds runs to the run log in dir.
func addRuns(t *testing.T, dir string, list []runlog.Run) {
	t.Helper()

	d := runlog.Open(dir)
	for _, r := range list {
		if err := d.Add(r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheRunLogKeepsRuns(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state", "presswork")

	d := runlog.Open(dir)
	if got, _, err := d.Runs(); len(got) != 0 || err != nil {
		t.Errorf("a new run log: got %v, %v; want no runs", got, err)
	}
	addRuns(t, dir, runs(20))

	got, skipped, err := d.Runs()
	if diff := cmp.Diff(runs(20), got); diff != "" || skipped != 0 || err != nil {
		t.Errorf("got %d skipped lines, %v; runs (-want +got):\n%s", skipped, err, diff)
	}

	if info, err := os.Stat(filepath.Join(dir, "telemetry.jsonl")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v; want 600", info.Mode(), err)
	}

	if err := errors.Join(d.Clear(), d.Clear()); err != nil {
		t.Error(err)
	}

	if got, _, _ := d.Runs(); len(got) != 0 {
		t.Errorf("after Clear: got %d runs, want none", len(got))
	}
}

func TestDamagedLinesAreSkippedAndCounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addRuns(t, dir, runs(3))

	f, err := os.OpenFile(filepath.Join(dir, "telemetry.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}

	bad := []string{
		"",
		"{",
		`{"v":2}`,
		`{"v":1,"at":"2026-01-01T00:00:00Z","documents":1,"total_ms":-1}`,
		`{"v":1,"documents":1}`,
		`{"v":1,"at":"2026-01-01T00:00:00Z","documents":1,"lookups":1,"hits":2}`,
		`{"v":1,"at":"2026-01-01T00:00:00Z","documents":1,"total_ms":1e300}`,
		strings.Repeat("x", 1<<16),
		"\x00\xff",
		`{"v":1,"at":"20`,
	}
	if _, err := io.WriteString(f, strings.Join(bad, "\n")); err != nil {
		t.Fatal(err)
	}

	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	got, skipped, err := runlog.Open(dir).Runs()
	if len(got) != 3 || skipped != len(bad) || err != nil {
		t.Errorf("got %d runs, %d skipped lines, %v; want 3 and %d", len(got), skipped, err, len(bad))
	}
}

func TestTheRunLogIsBoundedAndSharedByManyWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := runs(1)[0]
	const writers, each = 8, 2500

	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			d := runlog.Open(dir)
			for range each {
				if err := d.Add(r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()

	got, skipped, err := runlog.Open(dir).Runs()
	if err != nil || skipped > 0 || len(got) < writers*each/4 || len(got) == writers*each {
		t.Errorf("got %d of %d runs, %d damaged lines, %v; want a quarter or more, but not all", len(got),
			writers*each, skipped, err)
	}
	size := int64(0)

	for _, name := range []string{"telemetry.jsonl", "telemetry.1.jsonl"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}

	if size > 2<<20+writers*400 {
		t.Errorf("the run log has %d bytes, want at most 2 MiB and a line per writer", size)
	}
}

// Another process was suspended while it held the lock to begin the next file.
func TestARunIsAddedWhileAnotherProgramHoldsTheLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	lock, err := os.Create(filepath.Join(dir, ".telemetry.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()

	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(filepath.Join(dir, "telemetry.jsonl"), bytes.Repeat([]byte("\n"), 1<<20),
		0o600); err != nil {
		t.Fatal(err)
	}

	added := make(chan error, 1)
	go func() { added <- runlog.Open(dir).Add(runs(1)[0]) }()

	if err := wait.Receive(t, "the run", added); err != nil {
		t.Fatal(err)
	}

	if got, _, err := runlog.Open(dir).Runs(); len(got) != 1 || err != nil {
		t.Errorf("got %d runs, %v; want one", len(got), err)
	}
}

func TestFolderIsInTheUsersStateFolderOrEmpty(t *testing.T) {
	t.Parallel()

	for want, env := range map[string]map[string]string{
		"/s/presswork":              {"XDG_STATE_HOME": "/s", "HOME": "/h"},
		"/h/.local/state/presswork": {"HOME": "/h", "XDG_STATE_HOME": "relative"},
		"":                          {"HOME": "/h", "PRESSWORK_TELEMETRY": "off"},
	} {
		t.Run(want, func(t *testing.T) {
			got, err := runlog.Folder(func(name string) string { return env[name] })
			if got != want || err != nil {
				t.Errorf("Folder with %v = %q, %v; want %q", env, got, err, want)
			}
		})
	}

	if dir, err := runlog.Folder(func(string) string { return "" }); dir != "" || err != nil {
		t.Errorf("Folder without HOME = %q, %v; want an empty path", dir, err)
	}

	_, err := runlog.Folder(func(string) string { return "no" })
	if err == nil || !strings.Contains(err.Error(), "on, off") {
		t.Errorf("got %v, want the allowed values", err)
	}
	// The path of the folder has a file in it.
	if err := runlog.Open("/dev/null/x").Add(runs(1)[0]); err == nil {
		t.Error("Add to an invalid folder: got nil, want an error")
	}
}

func TestReportSummarisesEachMetric(t *testing.T) {
	t.Parallel()
	r := runlog.NewReport(runs(101), 2)

	byName := map[string]runlog.Summary{}
	for _, s := range r.Metrics {
		byName[s.Metric] = s
	}

	total := byName["total_ms"]
	if total.P50 != 50 || total.P95 != 95 || total.Runs != 101 || total.Trend == nil || *total.Trend <= 200 {
		t.Errorf("got %+v, want percentiles 50 and 95 of 101 runs and a rising trend", total)
	}

	if s := byName["analyze_ms"]; s.Runs != 0 || s.P50 != 0 || s.Trend != nil {
		t.Errorf("without analyses: got %+v, want no runs", s)
	}

	if r.Runs != 101 || r.Documents != 101 || r.Skipped != 2 || r.HitRate < 0.49 || r.HitRate > 0.5 ||
		!r.To.After(r.From) {
		t.Errorf("got %+v, want 101 runs, 2 skipped and a hit rate just below 0.5", r)
	}
	// A run in which every document failed has no durations. It would look fast.
	failed := runlog.NewReport([]runlog.Run{{Version: 1, At: time.Now(), Documents: 2, Failures: 2}}, 0)
	for _, s := range failed.Metrics {
		if want := map[string]int{"failures": 1}[s.Metric]; s.Runs != want {
			t.Errorf("a failed run: got %+v, want %d runs", s, want)
		}
	}

	_, err := runlog.MetricOf("hit_rat")
	if err == nil || !strings.Contains(err.Error(), `did you mean "hit_rate"?`) ||
		!strings.Contains(err.Error(), "failures") {
		t.Errorf("got %v, want a suggestion and the metrics", err)
	}
}

func TestTerminalChartKeepsToItsWidth(t *testing.T) {
	t.Parallel()

	for _, n := range []int{0, 1, 7, 30, 500} {
		t.Run(fmt.Sprintf("%d runs", n), func(t *testing.T) {
			for _, width := range []int{1, 40, 80, 200} {
				t.Run(fmt.Sprintf("width %d", width), func(t *testing.T) {
					for _, m := range runlog.Metrics() {
						text := runlog.Terminal(m, runs(n), width, false)
						for i, line := range strings.Split(text, "\n") {
							// The headline may be longer; the chart may not.
							if got := utf8.RuneCountInString(line); i > 0 && i < 15 && got > max(width, 30) {
								t.Fatalf("%s: got a line of %d characters, want at most %d: %s", m.Name, got,
									max(width, 30), line)
							}
						}
					}
				})
			}
		})
	}

	m, _ := runlog.MetricOf("total_ms")

	text := runlog.Terminal(m, runs(101), 60, false)
	if !strings.Contains(text, "█") || strings.Contains(text, "\x1b") || !strings.Contains(text, "p95 95 ms") {
		t.Errorf("got %s, want bars and the percentile without terminal codes", text)
	}

	if text := runlog.Terminal(m, runs(20), 60, true); !strings.Contains(text, "\x1b[38;5;69m") {
		t.Errorf("got %s, want a colour", text)
	}
}

func TestChartsAreWellFormedForAnyNumberOfRuns(t *testing.T) {
	t.Parallel()

	for _, n := range []int{0, 1, 2, 40, 5000} {
		t.Run(fmt.Sprintf("%d runs", n), func(t *testing.T) {
			for _, m := range runlog.Metrics() {
				var svg, page bytes.Buffer

				err := errors.Join(runlog.WriteSVG(&svg, m, runs(n)), runlog.WriteHTML(&page, m, runs(n)))
				if err != nil {
					t.Fatal(err)
				}
				dec := xml.NewDecoder(&svg)
				size := svg.Len()

				for {
					if _, err := dec.Token(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatalf("%s, %d runs: %v", m.Name, n, err)
					}
				}

				if size > 300_000 || strings.Contains(page.String(), "NaN") ||
					!strings.Contains(page.String(), fmt.Sprintf("<title>%s</title>", m.Title)) {
					t.Errorf("%s of %d runs: got %d bytes; want at most 300000, a title and no NaN", m.Name, n, size)
				}
			}
		})
	}
}

func TestTheAxisOfACountHasWholeNumbers(t *testing.T) {
	t.Parallel()

	pages, err := runlog.MetricOf("pages")
	if err != nil {
		t.Fatal(err)
	}

	for _, most := range []int{1, 2, 3, 5, 7, 90} {
		chart := runlog.Terminal(pages, []runlog.Run{{At: time.Now(), Documents: 1, Pages: most}}, 80, false)
		for line := range strings.Lines(chart) {
			if label, _, axis := strings.Cut(line, "┤"); axis && strings.Contains(label, ".") {
				t.Errorf("the axis for %d pages has the label %q, want whole numbers", most, strings.TrimSpace(label))
			}
		}
	}
}
