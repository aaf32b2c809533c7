package record

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/tasks/clock"
	"presswork/tasks/redisdial"
)

// The kinds of tasks in these tests.
const (
	convertKind = "convert:v1"
	exportKind  = "export:v1"
	chooseKind  = "choose:v1"
	webhookKind = "webhook:v1"
)

const payload = `{"content":"x"}`

// newRecords returns the records of a fresh Redis.
func newRecords(t *testing.T, ttl time.Duration) *Records {
	t.Helper()

	rdb, err := redisdial.Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })

	return New(rdb, clock.New(rdb, slog.New(slog.DiscardHandler)), ttl, func(presswork.Kind, presswork.Status) {})
}

// newJob returns the records of a fresh Redis with one job in it.
func newJob(t *testing.T) (*Records, string) {
	t.Helper()
	return newJobFor(t, 24*time.Hour)
}

// newJobFor is newJob with a time to live of the record.
func newJobFor(t *testing.T, ttl time.Duration) (*Records, string) {
	t.Helper()
	r := newRecords(t, ttl)

	return r, createJob(t, r, "")
}

// createJob creates a conversion of an owner and returns its id.
func createJob(t *testing.T, r *Records, owner string) string {
	t.Helper()
	rec := Record{Owner: owner, Job: presswork.Job{ID: NewID(), Kind: presswork.KindConversion}}
	task := Task{Kind: convertKind, Queue: "render", Payload: []byte(payload), Retries: 5, Timeout: time.Minute}

	if _, made, err := r.Create(t.Context(), rec, task, nil); err != nil || made != OnlyRecorded {
		t.Fatalf("Create: got %v, error %v; want a record without a task", made, err)
	}

	return rec.ID
}

// begin begins a run of the job and returns its fence.
func begin(t *testing.T, r *Records, id string) (fence string) {
	t.Helper()

	begun, err := r.Begin(t.Context(), id, convertKind, "w")
	if err != nil {
		t.Fatal(err)
	}

	return begun.Fence
}

// progress reports a step of a run.
func progress(r *Records, ctx context.Context, id, fence string, stage presswork.Stage, percent int,
	message string,
) error {
	return r.Report(ctx, id, fence, r.Progress(stage, percent, message))
}

// note reports a message, warnings and fields of a run.
func note(r *Records, ctx context.Context, id, fence, message string, warnings []fault.Warning,
	fields ...any,
) error {
	report, err := r.note(message, warnings, fields...)
	return errors.Join(err, r.Report(ctx, id, fence, report))
}

// read returns the stored record of a job. It fails if there is none.
func read(t *testing.T, r *Records, id string) *Stored {
	t.Helper()

	s, err := r.Read(t.Context(), id)
	if err != nil || s == nil {
		t.Fatalf("Read(%s): got %v, error %v; want a record", id, s, err)
	}

	return s
}
