package convert

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"presswork"
	"presswork/internal/analysis/finding"
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/internal/local/runlog"
	"presswork/internal/terminal"
)

// reporter prints one line per converted file, or JSON with --json. On a terminal it also keeps one updating line
// with the current step.
type reporter struct {
	out, err io.Writer
	json     bool
	quiet    bool
	// live is true if standard error is a terminal.
	live bool
	// alone is true if a single document is converted once. Its error becomes the program's error: run prints it, so
	// done must not.
	alone bool

	mu    sync.Mutex
	total int             // documents in this round
	taken int             // documents already started
	begun map[string]bool // inputs already started
	pages int             // pages printed so far
	since time.Time       // start of this round
	// step is the text of the updating line, or "" for none. stepped is the time when it was set.
	step    string
	stepped time.Time
}

// slowStep is the time after which the updating line shows how long the step has taken.
const slowStep = 2 * time.Second

func newReporter(m *md2pdf, total int) *reporter {
	return &reporter{
		out: m.Stdout, err: m.Stderr, json: m.json, quiet: m.quiet,
		live: !m.quiet && m.Live(m.Stderr), alone: total == 1 && !m.watch,
	}
}

// begin starts a round with this number of documents.
func (r *reporter) begin(total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total, r.taken, r.pages, r.since, r.begun = total, 0, 0, time.Now(), map[string]bool{}
}

// stage shows a step on the terminal. Conversions call it from several goroutines.
func (r *reporter) stage(input string, stage presswork.Stage) {
	if !r.live || stage == presswork.StageDone {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	if !r.begun[input] {
		r.begun[input] = true
		r.taken++
	}

	count := ""
	if r.total > 1 {
		count = fmt.Sprintf("[%d/%d] ", r.taken, r.total)
	}
	r.step, r.stepped = fmt.Sprintf("%s%s: %s", count, shorten(input), stage), time.Now()
	r.rewrite(r.step)
}

// watch updates the time of a slow step each second. The caller must call the returned function to stop it.
func (r *reporter) watch() (stop func()) {
	if !r.live {
		return func() {}
	}
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()

		for {
			select {
			case <-done:
				return
			case <-tick.C:
				r.mu.Lock()
				if took := time.Since(r.stepped); r.step != "" && took >= slowStep {
					r.rewrite(fmt.Sprintf("%s, %d s", r.step, int(took.Seconds())))
				}
				r.mu.Unlock()
			}
		}
	})

	return func() { close(done); ended.Wait() }
}

// rewrite replaces the updating line. The caller holds the lock.
func (r *reporter) rewrite(text string) {
	if r.live {
		fmt.Fprint(r.err, "\r\x1b[K"+terminal.Printable(text))
	}
}

// done prints the result of one input. It returns an error if standard output cannot be written.
func (r *reporter) done(out local.Output, failure error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pages += out.Pages
	r.step = ""
	r.rewrite("")

	if !r.quiet && !r.json && out.Analysis != nil {
		printChoice(r.err, label(out), *out.Analysis)
	}
	// With --strict, a warning is an error.
	if !r.quiet || failure != nil && fault.AsError(failure).Code == fault.StrictFindings {
		for _, w := range out.Warnings {
			fmt.Fprintln(r.err, terminal.Printable(warningLine(out, w)))
		}
	}

	switch {
	case failure != nil && !r.alone:
		fmt.Fprintln(r.err, failure)
	case failure == nil && !r.quiet && !r.json && out.Path != local.Std:
		fmt.Fprintln(r.err, terminal.Printable(resultLine(out)))
	}

	if r.json {
		return json.NewEncoder(r.out).Encode(jsonLine(out, failure))
	}

	return nil
}

// clear removes the updating line.
func (r *reporter) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rewrite("")
}

// end prints the totals of a batch on a terminal.
func (r *reporter) end(failed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rewrite("")

	if r.live && r.total > 1 {
		fmt.Fprintf(r.err, "%s, %s, %s\n", terminal.Count(r.total-failed, "file"), terminal.Count(r.pages, "page"),
			time.Since(r.since).Round(10*time.Millisecond))
	}
}

// line is the JSON that --json prints for one file.
type line struct {
	Input string `json:"input"`
	// Merged lists the files that were appended to this one.
	Merged   []string        `json:"merged,omitempty"`
	Output   string          `json:"output"`
	Pages    int             `json:"pages"`
	Bytes    int             `json:"bytes"`
	Theme    string          `json:"theme"`
	MS       int64           `json:"ms"`
	Warnings []fault.Warning `json:"warnings"`
	// Analysis is set if the theme was chosen by analysis.
	Analysis *finding.Analysis `json:"analysis"`
	Error    *fault.Error      `json:"error"`
}

// jsonLine returns the JSON line of a result. failure may be nil.
func jsonLine(out local.Output, failure error) line {
	return line{
		Input: out.Input, Merged: out.Merged, Output: out.Path, Pages: out.Pages, Bytes: out.Bytes, Theme: out.Theme,
		MS: out.Elapsed.Milliseconds(), Warnings: out.Warnings, Analysis: out.Analysis, Error: fault.AsError(failure),
	}
}

// label returns the input's name for messages.
func label(out local.Output) string {
	name := out.Input
	if name == local.Std {
		name = "standard input"
	}

	if n := len(out.Merged); n > 0 && !local.IsFolder(name) {
		name += fmt.Sprintf(" and %d more", n)
	}

	return name
}

// warningLine formats a warning as "FILE:LINE: message". In merged documents the message itself names the file.
func warningLine(out local.Output, w fault.Warning) string {
	switch {
	case w.Line > 0 && len(out.Merged) > 0:
		// The message already starts with the file's name.
		file, rest, _ := strings.Cut(w.Message, ": ")
		return fmt.Sprintf("%s:%d: %s", file, w.Line, rest)
	case len(out.Merged) > 0:
		return w.Message
	case w.Line > 0:
		return fmt.Sprintf("%s:%d: %s", out.Input, w.Line, w.Message)
	}

	return fmt.Sprintf("%s: %s", out.Input, w.Message)
}

// resultLine formats a success as "FILE: OUTPUT (theme, 3 pages, 12 KB, 210 ms)".
func resultLine(out local.Output) string {
	return fmt.Sprintf("%s: %s (%s, %s, %d ms)", label(out), out.Path, out.Theme, sizes(out),
		out.Elapsed.Milliseconds())
}

// sizes formats a result as "3 pages, 12 KB".
func sizes(out local.Output) string {
	size := terminal.Size(int64(out.Bytes))
	if out.Pages > 0 {
		size = terminal.Count(out.Pages, "page") + ", " + size
	}

	return size
}

// shorten cuts text so that the updating line fits in one row.
func shorten(name string) string {
	const limit = 40
	if r := []rune(name); len(r) > limit {
		return "…" + string(r[len(r)-limit:])
	}

	return name
}

// recordRun appends a round of conversions to the run log. It only warns when the run log cannot be written.
func (m *md2pdf) recordRun(outputs []local.Output, failures int) {
	if m.runLog == nil || len(outputs) == 0 {
		return
	}
	r := runlog.Run{At: time.Now().UTC(), Documents: len(outputs), Failures: failures}
	// Times of a run are milliseconds per document.
	share := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(len(outputs)) }

	for _, out := range outputs {
		r.Pages += out.Pages
		r.Bytes += int64(out.Bytes)
		r.TotalMS += share(out.Elapsed)
		r.AnalyzeMS += share(out.Times.Analyze)
		r.RenderMS += share(out.Times.Render)
		r.PrintMS += share(out.Times.Print)
		r.Lookups += out.Lookups
		r.Hits += out.Hits
	}

	if err := m.runLog.Add(r); err != nil {
		m.logger().Warn("the run was not recorded", "error", err)
	}
}
