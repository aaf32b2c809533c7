package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// results collects what the benchmarks of this run measured; `make bench`
// prints them into docs/benchmarks.md.
var results struct {
	sync.Mutex
	rows []string
}

// report adds a line to the table.
func report(b *testing.B, what, measured, target string) {
	b.Helper()
	b.Logf("%s: %s (target %s)", what, measured, target)
	results.Lock()
	defer results.Unlock()
	row := fmt.Sprintf("| %s | %s | %s |", what, measured, target)
	results.rows = append(slices.DeleteFunc(results.rows, func(r string) bool { return strings.HasPrefix(r, "| "+what+" |") }), row)
}

func TestMain(m *testing.M) {
	if address := os.Getenv(machineRedis); address != "" {
		if err := machine(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if path := os.Getenv("PRESSWORK_BENCH_TABLE"); path != "" && code == 0 {
		if err := os.WriteFile(path, []byte(page()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func page() string {
	return fmt.Sprintf(`# Benchmarks

Printed by `+"`make bench`"+` on %s, on %d CPU cores with %s of memory that other programs shared, %s, %s.
Every line is one run; ratios are against the named thing in the same run, in blocks that alternate with ours, because a
shared machine's speed drifts. Absolute figures are this machine's. The raw browser is the same program driven over bare
DevTools protocol, without its sandbox. Redis syncs every write to disk.

| what | measured | target |
|---|---|---|
%s

## What options cost

Composing and printing a text of three chapters (12 pages) with an option, as a multiple of the same text without any, in turn: `+"`go test -run '^$'\n-bench 'Options$' -benchtime 12x ./internal/pdf`"+`. What needs page numbers or running heads is printed twice; `+"`as: book`"+` has heads, white
pages and right-hand chapters for the one more print. Footnotes have a benchmark of their own (`+"`-bench Footnotes`"+`: 2.6 of the same notes at the
end). Times within 0.1 of one are noise on a machine that others use.

| option | times as long |
|---|---:|
| `+"`as: book`"+` | 2.2 |
| `+"`toc`"+` | 2.2 |
| `+"`header_text: \"{chapter}\"`"+` | 2.1 |
| `+"`chapter_start: right`"+` | 1.8 |
| `+"`numbered_headings`"+`, `+"`ink_saver`"+` | 1.3, 1.2 |
| `+"`cover`"+`, `+"`header_text: \"{title}\"`"+`, `+"`pdf_ua`"+` | 1.2 |
| `+"`pdf_a`"+` | 1.1 |
| `+"`binding`"+`, `+"`crop_marks`"+`, `+"`chapter_start: page`"+`, `+"`tagged: false`"+` | 1.0 |

## Where a page's milliseconds go

`+"`make profile`"+` prints it for the documents that the speed is measured on, `+"`make profile DOC=file.md THEME=nord`"+` for one of yours.
Each has a table of our stages and one of what the browser's threads did for them, by its own trace. Read the CPU time: it changes
little with what else the machine does, the time on the clock does much. A span's time is without that of the spans within it.

| span of the renderer's main thread | what it is | grows with |
|---|---|---|
| Receive mojo message | the print command: pages recorded, tags, fonts and streams written as PDF | pages, tagged elements, faces |
| LocalFrameView::performLayout, InlineNode::Shape… | boxes and lines, three times: parsed, printed, put back; the window of one pixel empties the first and the last | text, table cells |
| Document::recalcStyle, rebuildLayoutTree | which rules hold for which element | elements, rules that could match, custom properties |
| ParseHTML, Document::open | the page read, the page before it dropped | bytes, style sheets included |
| Paint, PrePaint, CompositingInputs | what is drawn, page by page | pages, boxes |

Highlighted code is the one document that costs more than its text with few rules: each run of one colour is a piece of text of its own,
in the page, in the tags and in the PDF. Eight short functions take 15 ms of the browser's CPU time in colours and 11 without. Laying
the colours over one text from a script (the CSS custom highlight API) took as long as the runs, since the script has to run in each page.
`, time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), memory(), runtime.Version(), browserVersion(), strings.Join(results.rows, "\n"))
}

func memory() string {
	b, err := os.ReadFile("/proc/meminfo")
	var kib int
	if err != nil {
		return "an unknown amount"
	}
	if _, err := fmt.Sscanf(string(b), "MemTotal: %d kB", &kib); err != nil {
		return "an unknown amount"
	}
	return fmt.Sprintf("%d GiB", (kib+(1<<19))>>20)
}

func browserVersion() string {
	out, err := exec.Command("chromium-headless-shell", "--version").Output()
	if err != nil {
		return "Chromium"
	}
	return strings.TrimSpace(string(out))
}

// quantile returns the q-quantile of durations, which it sorts.
func quantile(d []time.Duration, q float64) time.Duration {
	slices.Sort(d)
	return d[min(int(q*float64(len(d))), len(d)-1)]
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// treeMemory is the proportional memory of a process and all below it, in MiB.
func treeMemory(b *testing.B, pid int) float64 {
	b.Helper()
	out, err := exec.Command("ps", "-e", "-o", "pid=,ppid=").Output()
	if err != nil {
		b.Fatal(err)
	}
	children := map[int][]int{}
	for line := range strings.Lines(string(out)) {
		var id, parent int
		if n, _ := fmt.Sscan(line, &id, &parent); n == 2 {
			children[parent] = append(children[parent], id)
		}
	}
	total := 0.0
	for todo := []int{pid}; len(todo) > 0; {
		id := todo[0]
		todo = append(todo[1:], children[id]...)
		total += pss(id)
	}
	return total
}

func pss(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0 // ended meanwhile
	}
	for line := range strings.Lines(string(b)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "Pss: %f kB", &kib); n == 1 {
			return kib / 1024
		}
	}
	return 0
}
