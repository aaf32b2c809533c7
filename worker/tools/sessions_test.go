package tools_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/inference"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/tasks"
	"presswork/tasks/stream"
	"presswork/worker/tools"
)

func TestDrainingWorkerEndsSessionsAndReturnsOpenCalls(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	first := r.serve(t, tasks.Options{DrainTimeout: time.Millisecond}, tools.ServerOptions{})
	used, fresh := r.open(t, &inference.Request{}), r.open(t, &inference.Request{})
	runPython(t, used, "x")
	got := make(chan error, 1)

	go func() {
		_, err := fresh.Call(t.Context(), pythonCall("wait"))
		got <- err
	}()
	wait.Until(t, "both sessions run", func() bool {
		stats, err := r.client.Stats(t.Context())
		i := slices.IndexFunc(stats, func(s tasks.QueueStats) bool { return s.Queue == tasks.Tools })

		return err == nil && stats[i].Active == 2
	})

	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	_, err := used.Call(t.Context(), pythonCall("x"))
	if err == nil || !strings.Contains(err.Error(), "is being restarted") {
		t.Errorf("got %v, want that the worker is being restarted", err)
	}
	opened := make(chan struct{})
	r.serve(t, tasks.Options{}, tools.ServerOptions{
		Tools: []tools.Tool{
			{
				Type: inference.CodeInterpreter,
				Open: func(context.Context, []tools.File) (tools.OpenTool, error) {
					close(opened)
					return nil, errors.New("the tool cannot be opened")
				},
			},
		},
	})
	<-opened

	if err := <-got; err == nil || !strings.Contains(err.Error(), "stopped unexpectedly") {
		t.Errorf("the open call: got %v, want the error of the next worker", err)
	}
}

func TestTookExcludesTheWaitForAWorker(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	r.serve(t, tasks.Options{ToolConcurrency: 1}, tools.ServerOptions{})
	first, second := r.open(t, &inference.Request{}), r.open(t, &inference.Request{})
	runPython(t, first, "x")
	got := make(chan inference.ToolResult, 1)

	go func() {
		result, err := second.Call(t.Context(), pythonCall("y"))
		if err != nil {
			t.Error(err)
		}
		got <- result
	}()
	wait.Until(t, "the second session waits", func() bool {
		stats, err := r.client.Stats(t.Context())
		i := slices.IndexFunc(stats, func(s tasks.QueueStats) bool { return s.Queue == tasks.Tools })

		return err == nil && stats[i].Pending > 0
	})
	freed := time.Now()
	first.Close()

	result := wait.Receive(t, "the result of the second session", got)
	if took := result.Took; result.Output != "y 1" || took <= 0 || took > time.Since(freed) {
		t.Errorf("got %+v, want a duration of at most the %s since the first session ended", result, time.Since(freed))
	}
}

func TestASessionThatNoWorkerBeginsIsBusy(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	r.serve(t, tasks.Options{ToolConcurrency: 1}, tools.ServerOptions{})
	r.box.Wait = time.Second
	wait.Until(t, "a session has begun", func() bool {
		_, err := r.open(t, &inference.Request{}).Call(t.Context(), pythonCall("x"))
		return err == nil
	})
	second := r.open(t, &inference.Request{})

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	if _, err := second.Call(ctx, pythonCall("y")); !errors.Is(err, inference.ErrToolsBusy) {
		t.Errorf("got %v, want %v", err, inference.ErrToolsBusy)
	}
}

func TestTwoHundredSessionsKeepTheirOwnState(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	r.serve(t, tasks.Options{ToolConcurrency: 200}, tools.ServerOptions{})
	var all sync.WaitGroup

	for n := range 200 {
		s := r.open(t, &inference.Request{Owner: fmt.Sprint("owner", n%7)})
		all.Go(func() {
			for i := range 5 {
				result, err := s.Call(t.Context(), pythonCall("x"))
				if want := fmt.Sprint("x ", i+1); err != nil || result.Output != want {
					t.Errorf("session %d: got %q, %v; want %q", n, result.Output, err, want)
					return
				}
			}
			s.Close()
		})
	}
	all.Wait()

	for range 200 {
		wait.Receive(t, "the interpreter is closed", r.ended)
	}
}

// Another worker serves the session, so its caller must not get an error.
func TestAStoppingWorkerReturnsASessionThatItHasNotRead(t *testing.T) {
	t.Parallel()

	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stream.ErrDraining)

	// Serve would panic if it wrote to this empty run.
	run := &stream.Run{Call: stream.Call{BodyKey: "inputs/large"}}

	err = tools.NewServer(tools.ServerOptions{Store: disk}).Serve(ctx, run)
	if !errors.Is(err, stream.ErrDraining) {
		t.Errorf("got %v, want %v", err, stream.ErrDraining)
	}
}
