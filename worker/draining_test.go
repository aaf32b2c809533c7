package worker_test

import (
	"context"
	"errors"
	"testing"

	"presswork/storage"
	"presswork/tasks/stream"
	"presswork/worker"
)

// A request that a stopping worker did not read is another worker's: its caller must not see an error.
func TestAStoppingWorkerLeavesACallThatItHasNotRead(t *testing.T) {
	t.Parallel()

	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	for name, serve := range map[string]func(context.Context, *stream.Run) error{
		"a completion":       worker.NewCompletions(worker.CompletionOptions{Store: disk}).Complete,
		"a session of tools": worker.NewTools(worker.ToolsOptions{Store: disk}).Serve,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(stream.ErrDraining)

			defer func() {
				if p := recover(); p != nil {
					t.Errorf("the completion wrote to the call: %v", p) // the run here cannot be written to
				}
			}()

			err := serve(ctx, &stream.Run{Call: stream.Call{BodyKey: "inputs/large"}})
			if !errors.Is(err, stream.ErrDraining) {
				t.Errorf("error is %v, want that of a worker that stops", err)
			}
		})
	}
}
