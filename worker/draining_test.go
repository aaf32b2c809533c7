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
					t.Errorf("the handler wrote to the call: %v", p) // writing to this empty run panics
				}
			}()

			err := serve(ctx, &stream.Run{Call: stream.Call{BodyKey: "inputs/large"}})
			if !errors.Is(err, stream.ErrDraining) {
				t.Errorf("got %v, want %v", err, stream.ErrDraining)
			}
		})
	}
}
