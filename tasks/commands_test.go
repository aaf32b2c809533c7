package tasks_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// commandsPerJob returns how many commands Redis ran during do, per job, in total and as a table by name.
func (b *bundle) commandsPerJob(t *testing.T, jobs int, do func()) (total float64, table string) {
	t.Helper()
	before := commandCounts(t, b.rdb)
	do()
	after := commandCounts(t, b.rdb)
	var lines strings.Builder

	for _, name := range slices.Sorted(maps.Keys(after)) {
		if n := after[name] - before[name]; n > 0 && name != "info" && name != "zcard" { // those of this test
			total += float64(n)
			fmt.Fprintf(&lines, "%s %.2f, ", name, float64(n)/float64(jobs))
		}
	}

	return total / float64(jobs), lines.String()
}

// The test counts the commands of a submission and of a run that reports four steps and completes. Idle workers send
// commands as well, and more of them on a slow machine. So the cheapest of eight rounds counts, and the test does not
// run in parallel.
func TestAJobCostsRedisFewCommands(t *testing.T) {
	b := setup(t, tasks.Options{})
	const jobs, submissionMost, runMost = 200, 12.5, 60 // the first submission of an owner costs two more
	paused := tasks.AsynqKey(tasks.Render, "paused")
	b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		run.Step(presswork.StageAnalyzing, 5, "reading the document")
		run.Step(presswork.StageRendering, 20, "laying out the pages")
		run.Step(presswork.StagePrinting, 60, "printing")

		if err := run.Progress(ctx, presswork.StageStoring, 90, "storing"); err != nil {
			return err
		}

		return complete(ctx, run, c)
	})

	var submitting, running float64
	var tables []string

	for round := 0; round < 8 && (round == 0 || submitting > submissionMost || running > runMost); round++ {
		b.rdb.Set(t.Context(), paused, 1, 0)
		s, submissions := b.commandsPerJob(t, jobs, func() {
			for range jobs {
				b.submit(t, submission(t))
			}
		})

		r, runs := b.commandsPerJob(t, jobs, func() {
			b.rdb.Del(t.Context(), paused)
			wait.Until(t, "all jobs have ended", func() bool {
				return b.rdb.ZCard(t.Context(), tasks.LedgerKey).Val() == 0
			})
		})
		if round == 0 {
			submitting, running = s, r
		}
		submitting, running = min(submitting, s), min(running, r)
		tables = append(tables, submissions, runs)
	}

	if submitting > submissionMost || running > runMost {
		t.Errorf("a submission costs Redis %.1f commands, want at most %.1f; a run %.1f, want at most %d:\n%s",
			submitting, submissionMost, running, runMost, strings.Join(tables, "\n"))
	}
	t.Logf("%.1f commands for a submission, %.1f for a run", submitting, running)
}
