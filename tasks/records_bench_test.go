package tasks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// BenchmarkRecords reports the bytes of Redis' memory that a job takes: while it waits, when it has just ended,
// and until its record expires. It counts the record, its events, its task and its places in lists, but not the
// store's index of objects and idempotency keys.
func BenchmarkRecords(b *testing.B) {
	const jobs = 1000

	for name, content := range map[string]int{"stored": 0, "8KB": 8 << 10} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				bundle := setup(b, tasks.Options{})
				used := func() float64 {
					return (bundle.redisInfo(b, "memory", "used_memory:") - bundle.redisInfo(b, "memory", "mem_clients_normal:")) / jobs
				}
				serve := func(ended func()) {
					s := bundle.serve(b, tasks.Options{RenderSlots: 4}, reportAndComplete)
					wait.Until(b, "all jobs have ended", func() bool {
						return bundle.rdb.ZCard(b.Context(), tasks.LedgerKey).Val() == 0
					})
					ended()

					if err := s.Pack(b.Context(), 2*tasks.PackAfter); err != nil {
						b.Fatal(err)
					}

					if err := s.Stop(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
				// The first job loads the scripts and opens the connections, which no measurement should include.
				bundle.submit(b, typicalSubmission(b, content))
				serve(func() {})
				before := used()

				for range jobs {
					bundle.submit(b, typicalSubmission(b, content))
				}
				b.ReportMetric(used()-before, "waiting-B")
				serve(func() { b.ReportMetric(used()-before, "ended-B") })
				b.ReportMetric(used()-before, "kept-B")
			}
		})
	}
}

// typicalSubmission returns a conversion with some options, as an SDK sends it.
func typicalSubmission(b testing.TB, content int) tasks.Submission {
	b.Helper()

	c := tasks.Convert{
		Theme: "nord", Filename: "quarterly-report.pdf", Options: presswork.Options{TOC: new(presswork.Depth(3))},
		Content: strings.Repeat("All happy families are alike. ", content/30),
	}
	if content == 0 {
		c.ContentKey = "sources/" + tasks.NewID() + "/" + tasks.NewID() + "/content.md"
	}

	task, err := tasks.ConvertPDF.Task(c)
	if err != nil {
		b.Fatal(err)
	}

	return tasks.Submission{
		ID:          tasks.NewID(),
		Kind:        presswork.KindConversion,
		Theme:       "nord",
		Owner:       "ann",
		Filename:    c.Filename,
		Task:        task,
		RequestID:   tasks.NewID(),
		TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	}
}

// reportAndComplete goes through the steps of a conversion.
func reportAndComplete(ctx context.Context, run *tasks.Run, _ tasks.Convert) error {
	for i, stage := range []presswork.Stage{
		presswork.StageAnalyzing, presswork.StageRendering, presswork.StagePrinting, presswork.StageStoring,
	} {
		if err := run.Progress(ctx, stage, 10+25*i, string(stage)+" the document"); err != nil {
			return err
		}
	}

	return run.Complete(ctx, presswork.Artifact{
		ID: run.ID, Size: 48_213, Pages: 3, ContentType: "application/pdf", Filename: "quarterly-report.pdf",
		ExpiresAt: time.Now().Add(time.Hour), SHA256: strings.Repeat("0123456789abcdef", 4),
	}, false)
}
