package main

import (
	"errors"
	"time"

	"presswork/internal/local"
	"presswork/internal/local/runlog"
	"presswork/themes"
)

// prepareChoice checks what decides on a theme that is to be chosen, and where
// the run is noted; each error is one of usage.
func (m *md2pdf) prepareChoice() error {
	if m.aiTheme && m.theme != "" {
		return errors.New("--theme and --ai-theme exclude each other")
	}

	if m.advice.preferred() && m.theme != "" && m.theme != themes.Auto {
		return errors.New("--mood and --doc-type choose a theme, and --theme names one; leave one out")
	}

	if m.aiTheme || m.advice.preferred() {
		m.theme = themes.Auto
	}

	dir, err := runlog.Folder(m.getenv)
	if dir != "" {
		m.runLog = runlog.Open(dir)
	}

	return err
}

// note writes a round of conversions into the run log. A run log that cannot be
// written is no reason to fail.
func (m *md2pdf) note(outputs []local.Output, failures int) {
	if m.runLog == nil || len(outputs) == 0 {
		return
	}
	r := runlog.Run{At: time.Now().UTC(), Documents: len(outputs), Failures: failures}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(len(outputs)) }

	for _, out := range outputs {
		r.Pages += out.Pages
		r.Bytes += int64(out.Bytes)
		r.TotalMS += each(out.Elapsed)
		r.AnalyzeMS += each(out.Times.Analyze)
		r.RenderMS += each(out.Times.Render)
		r.PrintMS += each(out.Times.Print)
		r.Lookups += out.Lookups
		r.Hits += out.Hits
	}

	if err := m.runLog.Add(r); err != nil {
		m.logger().Warn("the run was not noted", "error", err)
	}
}
