package tasks_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

func TestWorkersReportTheirJobs(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := b.server(t, tasks.Options{RenderSlots: 3})
	s.Report(func() tasks.Vitals {
		return tasks.Vitals{
			Version:     "v9",
			MemoryBytes: 7,
			Browsers:    []tasks.BrowserVitals{{Use: "documents", Prints: 5}},
		}
	})
	tasks.Handle(s, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, _ tasks.Convert) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := b.submit(t, submission(t))
	wait.Until(t, "the worker reports its run", func() bool {
		fleet, err := b.client.Fleet(t.Context())
		if err != nil || len(fleet.Workers) != 1 {
			return false
		}
		w := fleet.Workers[0]

		return w.Version == "v9" && w.MemoryBytes == 7 && w.Slots == 3 && len(w.Browsers) == 1 &&
			w.Running[tasks.Render] == 1 &&
			len(w.Runs) == 1 &&
			w.Runs[0].ID == id &&
			w.Runs[0].Job &&
			fleet.Open == 1
	})
	_, err := b.client.Retry(t.Context(), id)
	wantCode(t, err, fault.InvalidOption)

	if _, err := b.client.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}

	if fleet, err := b.client.Fleet(t.Context()); err != nil || len(fleet.Workers) != 0 {
		t.Errorf("a stopped worker is still reported: %+v, %v", fleet.Workers, err)
	}
}

// delayedReport is a hook that holds a worker's second report back until the worker stops.
type delayedReport struct {
	server *tasks.Server
	count  atomic.Int64
}

func (*delayedReport) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*delayedReport) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook delays the second report of a worker until the server stops.
func (l *delayedReport) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); cmd.Name() == "evalsha" && args[3] == tasks.WorkersKey && l.count.Add(1) == 2 {
			<-l.server.StopsTaking()
		}

		return next(ctx, cmd)
	}
}

// Stop removes the first report while the second one is still on its way.
func TestAStoppedWorkerLeavesNoReport(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := b.server(t, tasks.Options{DrainTimeout: time.Millisecond})
	delayed := &delayedReport{server: s}
	s.AddHook(delayed)
	begun := make(chan string, 1)
	tasks.Handle(s, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, _ tasks.Convert) error {
		begun <- run.ID
		<-ctx.Done()

		return context.Cause(ctx)
	})
	// With the script loaded, a report is one command.
	if err := tasks.PublishScript.Load(t.Context(), b.rdb).Err(); err != nil {
		t.Fatal(err)
	}

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the worker reports itself", func() bool {
		fleet, err := b.client.Fleet(t.Context())
		return err == nil && len(fleet.Workers) == 1
	})
	b.submit(t, submission(t)) // changes the next report
	wait.Receive(t, "the run", begun)
	wait.Until(t, "the worker is about to report the run", func() bool { return delayed.count.Load() == 2 })

	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if fleet, err := b.client.Fleet(t.Context()); err != nil || len(fleet.Workers) != 0 {
		t.Errorf("a stopped worker is still reported: %+v, %v", fleet.Workers, err)
	}
}

func TestWorkersCountsProcesses(t *testing.T) {
	t.Parallel()

	b := setup(t, tasks.Options{})
	if n, err := b.client.Workers(t.Context()); n != 0 || err != nil {
		t.Fatalf("got %d workers, error %v; want none before the first starts", n, err)
	}
	s := b.serve(t, tasks.Options{}, complete)
	wait.Until(t, "one process with two queues counts once", func() bool {
		n, err := b.client.Workers(t.Context())
		return err == nil && n == 1
	})

	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if n, err := b.client.Workers(t.Context()); n != 0 || err != nil {
		t.Fatal("a stopped worker still counts:", n, err)
	}
}
