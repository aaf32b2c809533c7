package tasks

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"presswork"
)

// logEnd writes the log line for the end of a job. It contains no content of the job, no address and no key.
func (s *Server) logEnd(level slog.Level, run *Run, rec Record, err error) {
	s.log.LogAttrs(context.Background(), level, "job finished", slog.Any("", outcome{
		job: rec, attempt: run.Attempt, took: time.Since(run.began), worker: s.name, err: err,
	}))
}

// outcome is the end of a run in the log. JSON handlers log its attributes, text handlers its String.
type outcome struct {
	job     Record
	attempt int
	// took is the duration of the run, by this machine's clock. err is nil unless the job failed.
	took   time.Duration
	worker string
	err    error
}

// LogValue implements slog.LogValuer.
func (o outcome) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("job_id", o.job.ID),
		slog.Any("kind", o.job.Kind),
		slog.Any("status", o.job.Status),
		slog.String("theme", o.job.Theme),
		// As text, because JSON logs write a duration as a number without its unit.
		slog.String("duration", o.took.Round(time.Millisecond).String()),
		slog.Int("attempt", o.attempt),
		slog.String("worker", o.worker),
		slog.String("request_id", o.job.RequestID),
		slog.String("traceparent", o.job.TraceParent),
	}
	if a := o.job.Artifact; a != nil {
		attrs = append(attrs, slog.Int("pages", a.Pages), slog.Int64("bytes", a.Size),
			slog.Bool("cached", o.job.Cached))
	}

	if o.err != nil {
		attrs = append(attrs, slog.Any("code", publicError(o.err).Code), slog.Any("err", o.err))
	}

	return slog.GroupValue(attrs...)
}

// String is "01J… completed, 4 pages, 528 ms, host:1".
func (o outcome) String() string {
	parts := []string{o.job.ID + " " + string(o.job.Status)}
	if o.err != nil {
		parts[0] += ": " + o.err.Error()
	}

	if a := o.job.Artifact; a != nil {
		switch {
		case a.Pages == 1:
			parts = append(parts, "1 page")
		case a.Pages > 1:
			parts = append(parts, fmt.Sprintf("%d pages", a.Pages))
		}

		if o.job.Cached {
			parts = append(parts, "cached")
		}
	}

	if o.job.Kind != presswork.KindConversion {
		parts = append(parts, string(o.job.Kind))
	}

	if o.attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", o.attempt))
	}

	return strings.Join(append(parts, formatDuration(o.took), o.worker), ", ")
}

// formatDuration writes a time with its unit: 528 ms, 12.3 s, 4m30s.
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}

	return d.Round(time.Second).String()
}
