package worker_test

import (
	"context"
	"errors"
	"testing"

	"presswork/storage"
	"presswork/tasks/stream"
	"presswork/worker"
)

// Another worker serves the call, so the caller must not get an error.
func TestAStoppingWorkerReturnsACallThatItHasNotRead(t *testing.T) {
	t.Parallel()

	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stream.ErrDraining)

	// The handler would panic if it wrote to this empty run.
	run := &stream.Run{Call: stream.Call{BodyKey: "inputs/large"}}

	err = worker.NewCompletions(worker.CompletionOptions{Store: disk}).Complete(ctx, run)
	if !errors.Is(err, stream.ErrDraining) {
		t.Errorf("got %v, want %v", err, stream.ErrDraining)
	}
}
