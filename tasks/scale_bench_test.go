package tasks_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"presswork/internal/test/redistest"
	"presswork/tasks"
)

// BenchmarkWorkers has more and more workers do jobs that take 50 ms each, four at a
// time, and reports the jobs a second and what each costs a durable Redis: commands
// (those within scripts, too), bytes in and out, CPU time; and what a fleet without
// work costs it.
func BenchmarkWorkers(b *testing.B) {
	const delay, slots = 50 * time.Millisecond, 2 // and two that prepare and store
	for _, workers := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			for b.Loop() {
				bundle := setupOn(b, redistest.StartDurable(b).Address, tasks.Options{MaxPending: -1})
				jobs := min(320*workers, 10_000)
				empty := bundle.cost(b)
				bundle.submitMany(b, jobs)
				submitted := bundle.cost(b)
				b.ReportMetric((submitted.commands-empty.commands)/float64(jobs), "commands/submission")
				b.ReportMetric((submitted.cpu-empty.cpu)/float64(jobs)*1e6, "redis-µs/submission")
				for range workers {
					bundle.serve(b, tasks.Options{RenderSlots: slots}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
						select {
						case <-time.After(delay): // the work
						case <-ctx.Done():
							return context.Cause(ctx)
						}
						return reporting(ctx, run, c)
					})
				}
				done := func(n int) time.Time {
					for {
						if ended, _ := bundle.rdb.Get(b.Context(), tasks.AsynqKey(tasks.Render, "processed")).Int(); ended >= n {
							return time.Now()
						}
						time.Sleep(5 * time.Millisecond) // the resolution
					}
				}
				began := done(jobs / 5)
				before := bundle.cost(b)
				took := done(jobs * 9 / 10).Sub(began)
				after := bundle.cost(b)
				done(jobs)
				n := float64(jobs*9/10 - jobs/5)
				b.ReportMetric(n/took.Seconds(), "jobs/s")
				b.ReportMetric((after.commands-before.commands)/n, "commands/job")
				b.ReportMetric((after.bytes-before.bytes)/n, "bytes/job")
				b.ReportMetric((after.cpu-before.cpu)/n*1e6, "redis-µs/job")
				before = bundle.cost(b)
				const idle = 5 * time.Second
				time.Sleep(idle)
				b.ReportMetric((bundle.cost(b).commands-before.commands)/idle.Seconds(), "idle-commands/s")
			}
		})
	}
}

// cost is what Redis has done so far.
type cost struct{ commands, bytes, cpu float64 }

func (b *bundle) cost(t testing.TB) (c cost) {
	t.Helper()
	c.bytes = b.figure(t, "stats", "total_net_input_bytes:") + b.figure(t, "stats", "total_net_output_bytes:")
	c.cpu = b.figure(t, "cpu", "used_cpu_user:") + b.figure(t, "cpu", "used_cpu_sys:")
	for _, m := range regexp.MustCompile(`calls=(\d+)`).FindAllStringSubmatch(b.rdb.Info(t.Context(), "commandstats").Val(), -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		c.commands += n
	}
	return c
}

func (b *bundle) submitMany(t testing.TB, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range benchClients {
		wg.Go(func() {
			for range (n + benchClients - 1 - i) / benchClients {
				if _, _, err := b.client.Submit(context.Background(), typical(t, 0)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkLongQueue measures what clients and workers do beside 1 000 and 100 000
// waiting jobs.
func BenchmarkLongQueue(b *testing.B) {
	for _, waiting := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(waiting), func(b *testing.B) {
			bundle := setup(b, tasks.Options{MaxPending: -1})
			bundle.submitMany(b, waiting)
			var took map[string][]time.Duration
			measured := func(name string, do func() error) {
				at := time.Now()
				if err := do(); err != nil {
					b.Fatal(err)
				}
				took[name] = append(took[name], time.Since(at))
			}
			for b.Loop() {
				took = map[string][]time.Duration{}
				for range 500 {
					s := typical(b, 0)
					measured("submit-", func() error { _, _, err := bundle.client.Submit(b.Context(), s); return err })
					measured("status-", func() error { _, err := bundle.client.Job(b.Context(), s.ID); return err })
					measured("list-", func() error { _, err := bundle.client.Jobs(b.Context(), s.Owner, tasks.Query{}); return err })
				}
			}
			for name, all := range took {
				report(b, all, name)
			}
			var runs sync.WaitGroup
			runs.Add(500)
			left := make(chan struct{}, 500)
			for range 500 {
				left <- struct{}{}
			}
			at := time.Now()
			bundle.serve(b, tasks.Options{RenderSlots: 4}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
				select {
				case <-left:
					defer runs.Done()
				default:
					<-ctx.Done()
					return context.Cause(ctx)
				}
				return complete(ctx, run, c)
			})
			runs.Wait()
			b.ReportMetric(500/time.Since(at).Seconds(), "taken/s")
		})
	}
}
