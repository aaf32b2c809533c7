package tasks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// logBuffer collects a JSON log. The test may read it while the server writes to it.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.buf.Write(p)
}

// jobFinishedLines returns the log lines about the end of jobs, by job.
func (l *logBuffer) jobFinishedLines(t *testing.T) map[string][]map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := map[string][]map[string]any{}

	for text := range strings.Lines(l.buf.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}

		if line["msg"] == "job finished" {
			id := line["job_id"].(string)
			lines[id] = append(lines[id], line)
		}
	}

	return lines
}

func TestEveryJobLeavesOneLineAtItsEnd(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	log, begun := &logBuffer{}, make(chan string, 1)
	b.serve(
		t,
		tasks.Options{Log: slog.New(slog.NewJSONHandler(log, nil))},
		func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
			begun <- run.ID

			switch run.Record.Filename {
			case "good.pdf":
				if err := run.SetTheme("dracula"); err != nil {
					return err
				}

				a := artifact(run.ID)
				a.Pages, a.Size = 3, 123

				return run.Complete(ctx, a, true)
			case "bad.pdf":
				return fault.Errorf(fault.StrictFindings, "an image is missing")
			}
			<-ctx.Done()

			return context.Cause(ctx)
		},
	)
	ids := map[string]string{}

	for _, name := range []string{"good.pdf", "bad.pdf", "left.pdf"} {
		sub := submission(t)
		sub.Filename = name
		ids[name] = b.submit(t, sub)
		wait.Receive(t, "the run", begun)
	}

	if _, err := b.client.Cancel(t.Context(), ids["left.pdf"]); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "every job has its line", func() bool { return len(log.jobFinishedLines(t)) == 3 })

	lines := log.jobFinishedLines(t)
	for name, want := range map[string]map[string]any{
		"good.pdf": {
			"level":  "INFO",
			"status": "completed",
			"theme":  "dracula",
			"pages":  3.0,
			"bytes":  123.0,
			"cached": true,
		},
		"bad.pdf":  {"level": "ERROR", "status": "failed", "theme": "nord", "code": "strict_findings"},
		"left.pdf": {"level": "INFO", "status": "cancelled", "theme": "nord"},
	} {
		t.Run(name, func(t *testing.T) {
			got := lines[ids[name]]
			if len(got) != 1 {
				t.Errorf("got %d lines, want one", len(got))
				return
			}

			want["kind"] = "conversion"
			for field, value := range want {
				if got[0][field] != value {
					t.Errorf("%s is %v, want %v", field, got[0][field], value)
				}
			}

			if text, _ := got[0]["duration"].(string); text == "" {
				t.Errorf("duration is %v, want a duration", got[0]["duration"])
			} else if _, err := time.ParseDuration(text); err != nil {
				t.Error(err)
			}

			if worker, _ := got[0]["worker"].(string); worker == "" {
				t.Error("the line names no worker")
			}
		})
	}
}
