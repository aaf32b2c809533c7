package worker_test

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
	"presswork/tasks"
	"presswork/worker"
)

func TestDrainingWorkerEndsSessionsAndReturnsOpenCalls(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	first := r.serve(t, tasks.Options{DrainTimeout: time.Millisecond}, worker.ToolsOptions{})
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
	r.serve(t, tasks.Options{}, worker.ToolsOptions{
		Tools: []worker.Tool{
			{
				Type: inference.CodeInterpreter,
				Open: func(context.Context, []worker.ToolFile) (worker.OpenTool, error) {
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
	r.serve(t, tasks.Options{ToolConcurrency: 1}, worker.ToolsOptions{})
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
	r.serve(t, tasks.Options{ToolConcurrency: 1}, worker.ToolsOptions{})
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
	r.serve(t, tasks.Options{ToolConcurrency: 200}, worker.ToolsOptions{})
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
