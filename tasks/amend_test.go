package tasks_test

import (
	"context"
	"strings"
	"testing"

	"presswork/internal/test/redistest"
	"presswork/tasks"
	"presswork/tasks/stream"
)

// diskSize is the size of Redis's append-only file.
func (b *bundle) diskSize(t *testing.T) string {
	t.Helper()
	info, err := b.rdb.Info(t.Context(), "persistence").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(info, "aof_current_size:")
	size, _, _ := strings.Cut(after, "\r\n")
	if !ok {
		t.Fatalf("no append-only file: %s", info)
	}
	return size
}

func TestCallsWriteNothingToTheDisk(t *testing.T) {
	t.Parallel()
	b := setupOn(t, redistest.StartDurable(t).Address, tasks.Options{})
	b.serveCalls(t, tasks.Options{Queues: []tasks.Queue{tasks.Infer}}, func(_ context.Context, run *stream.Run) error {
		for range 100 {
			if err := run.Send([]byte(strings.Repeat("x", 1000))); err != nil {
				return err
			}
		}
		return run.Finish([]byte("end"))
	})
	call := func() {
		if got := whole(t, b.call(t, stream.Call{})); len(got) != 100*1000+len("end") {
			t.Errorf("%d bytes arrived", len(got))
		}
	}
	call() // Asynq makes its queue known once
	// Asynq's heart beats now and then: one call without a beat is enough.
	for range 20 {
		before := b.diskSize(t)
		call()
		if b.diskSize(t) == before {
			return
		}
	}
	t.Error("every call was written to the append-only file")
}
