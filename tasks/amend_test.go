package tasks_test

import (
	"context"
	"strings"
	"testing"

	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/stream"
)

// appendOnlySize returns the size of Redis's append-only file.
func (b *bundle) appendOnlySize(t *testing.T) string {
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
		if got := readAnswer(t, b.call(t, stream.Call{})); len(got) != 100*1000+len("end") {
			t.Errorf("got an answer of %d bytes, want %d", len(got), 100*1000+len("end"))
		}
	}
	b.checkNoDiskWrites(t, call)
}

func TestSessionsOfToolsWriteNothingToTheDisk(t *testing.T) {
	t.Parallel()
	b := setupOn(t, redistest.StartDurable(t).Address, tasks.Options{})
	s := b.server(t, tasks.Options{Queues: []tasks.Queue{tasks.Tools}})
	tasks.HandleTools(
		s,
		func() tasks.Offer { return tasks.Offer{"python": ""} },
		func(ctx context.Context, run *stream.Run) error {
			for {
				input, err := run.Receive(ctx)
				if err != nil {
					return err
				}

				if err := run.Send(input); err != nil {
					return err
				}
			}
		},
	)

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.checkNoDiskWrites(t, func() {
		a, err := b.client.OpenTools(t.Context(), stream.Call{Tier: stream.OnDemand})
		if err != nil {
			t.Fatal(err)
		}

		for range 3 {
			if err := a.Send(t.Context(), []byte("x")); err != nil {
				t.Fatal(err)
			}

			if frames, err := a.Next(t.Context()); err != nil || string(frames[0]) != "x" {
				t.Fatalf("got %q, %v", frames, err)
			}
		}
		a.Close()
		wait.Until(t, "the session has ended",
			func() bool { return b.rdb.LLen(t.Context(), tasks.AsynqActive(tasks.Tools)).Val() == 0 })
	})
}

// checkNoDiskWrites fails the test if every call writes to the append-only file. Asynq writes a heartbeat now and then,
// so one call without a write is enough.
func (b *bundle) checkNoDiskWrites(t *testing.T, call func()) {
	t.Helper()
	call() // the first one registers Asynq's queue, which is a write
	wait.Until(t, "a call between two heartbeats of Asynq writes nothing to the append-only file", func() bool {
		before := b.appendOnlySize(t)
		call()

		return b.appendOnlySize(t) == before
	})
}
