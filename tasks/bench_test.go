package tasks_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"presswork"
	"presswork/internal/test/redistest"
	"presswork/tasks"
	"presswork/tasks/redisdial"
	"presswork/tasks/stream"
)

const benchClients = 16

// parallel runs b.N calls of f over 16 goroutines. It reports calls per second, and the median and the 99th percentile
// of their durations.
func parallel(b *testing.B, f func()) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	var mu sync.Mutex
	var all []time.Duration
	b.ResetTimer()
	at := time.Now()

	var wg sync.WaitGroup
	for range benchClients {
		wg.Go(func() {
			var took []time.Duration

			for left.Add(-1) >= 0 {
				at := time.Now()
				f()
				took = append(took, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(at).Seconds(), "op/s")
	report(b, all, "")
}

func report(b *testing.B, all []time.Duration, name string) {
	slices.Sort(all)

	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(all[(len(all)-1)*p/100].Microseconds())/1000, fmt.Sprintf("%sp%d-ms", name, p))
	}
}

// BenchmarkSubmit compares a submission with the bare enqueueing of its task.
func BenchmarkSubmit(b *testing.B) {
	benchmarkSubmit := func(b *testing.B, address string) {
		bundle := setupOn(b, address, tasks.Options{MaxPending: -1})
		s := submission(b)
		b.ReportAllocs()
		parallel(b, func() {
			s := s

			s.ID = tasks.NewID()
			if _, _, err := bundle.client.Submit(context.Background(), s); err != nil {
				b.Error(err)
			}
		})
	}
	b.Run("ours", func(b *testing.B) { benchmarkSubmit(b, redistest.Start(b)) })
	b.Run("ours/appendfsync-always", func(b *testing.B) { benchmarkSubmit(b, redistest.StartDurable(b).Address) })
	b.Run("asynq", func(b *testing.B) {
		rdb, err := redisdial.Dial(redistest.Start(b), 0)
		if err != nil {
			b.Fatal(err)
		}
		defer rdb.Close()
		client, s := asynq.NewClientFromRedisClient(rdb), submission(b)
		b.ReportAllocs()
		parallel(b, func() {
			_, err := client.EnqueueContext(context.Background(), asynq.NewTask(s.Task.Kind, s.Task.Payload),
				asynq.TaskID(tasks.NewID()), asynq.Queue("render"))
			if err != nil {
				b.Error(err)
			}
		})
	})
}

// BenchmarkPickUp measures the time from Submit to the handler's start, one job at a time.
func BenchmarkPickUp(b *testing.B) {
	bundle := setup(b, tasks.Options{})
	begun := make(chan struct{})
	bundle.serve(b, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		begun <- struct{}{}
		return complete(ctx, run, c)
	})
	var took []time.Duration

	for b.Loop() {
		s := submission(b)
		at := time.Now()
		bundle.submit(b, s)
		<-begun
		took = append(took, time.Since(at))
		bundle.waitForEnd(b, s.ID)
	}
	report(b, took, "")
}

// BenchmarkFirstFrame measures the time from a call to the first frame of its answer, with 50 callers at a time.
// Redis syncs every write of a job in one variant, and keeps nothing on disk in the other.
func BenchmarkFirstFrame(b *testing.B) {
	for name, start := range map[string]func() string{
		"appendfsync-always": func() string { return redistest.StartDurable(b).Address },
		"no-file":            func() string { return redistest.Start(b) },
	} {
		b.Run(name, func(b *testing.B) {
			bundle := setupOn(b, start(), tasks.Options{})
			bundle.serveCalls(b, tasks.Options{}, echo)
			var mu sync.Mutex
			var took []time.Duration
			var left atomic.Int64
			left.Store(int64(b.N))

			var callers sync.WaitGroup
			for range 50 {
				callers.Go(func() {
					for left.Add(-1) >= 0 {
						at := time.Now()

						a, err := bundle.client.Call(
							b.Context(),
							stream.Call{ID: tasks.NewID(), Tier: stream.OnDemand, Body: []byte("1")},
						)
						if err == nil {
							_, err = a.Next(b.Context())
							a.Close()
						}
						mu.Lock()
						took = append(took, time.Since(at))
						mu.Unlock()

						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			callers.Wait()
			report(b, took, "")
		})
	}
}

// BenchmarkWatch measures the time from a worker's report to its watcher, with 500 watchers of 500 jobs on one client,
// and 200 reports a second.
func BenchmarkWatch(b *testing.B) {
	const watchers = 500
	bundle := setup(b, tasks.Options{})
	runs := make(chan *tasks.Run, watchers)
	bundle.serve(
		b,
		tasks.Options{RenderSlots: watchers},
		func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
			runs <- run
			<-ctx.Done()

			return context.Cause(ctx)
		},
	)
	all := make([]*tasks.Run, watchers)
	seen := make(chan time.Duration, watchers)
	var sent sync.Map

	for i := range all {
		bundle.submit(b, submission(b))
		all[i] = <-runs

		w, err := bundle.client.Watch(b.Context(), all[i].ID, -1)
		if err != nil {
			b.Fatal(err)
		}

		defer w.Close()
		go func() {
			for e := range w.Events {
				if at, ok := sent.Load(e.JobID + e.Message); ok {
					seen <- time.Since(at.(time.Time))
				}
			}
		}()
	}
	var took []time.Duration

	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	n := 0

	for b.Loop() {
		<-tick.C
		run, message := all[n%watchers], fmt.Sprint("step ", n)
		n++
		sent.Store(run.ID+message, time.Now())

		if err := run.Progress(b.Context(), presswork.StagePrinting, 50, message); err != nil {
			b.Fatal(err)
		}
		took = append(took, <-seen)
	}
	report(b, took, "")
}
