package tasks_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

func TestJobOfAKilledWorkerRunsAgainSoon(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	worker, begun := startChild(t, b.address)

	id := b.submit(t, submission(t))
	if got := wait.Receive(t, "the child begins", begun); got != id {
		t.Fatalf("the child runs %s, want %s", got, id)
	}
	again := make(chan time.Time, 1)
	b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		again <- time.Now()
		return complete(ctx, run, c)
	})

	if err := worker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	worker.Wait()
	lease := time.Unix(int64(b.rdb.ZScore(t.Context(), tasks.AsynqLease(tasks.Render), id).Val()), 0)
	terminal := countTerminal(b.events(t, id, 0))
	// Asynq alone would run the job up to a minute after the lease has expired.
	if at := <-again; at.After(lease) || terminal != 1 {
		t.Errorf("the job ran again %s after its lease and has %d terminal events; want it earlier, and one",
			at.Sub(lease), terminal)
	}

	if rec := b.job(t, id); rec.Status != presswork.Completed || rec.Attempts != 2 {
		t.Errorf("got %s after %d attempts, want completed after 2", rec.Status, rec.Attempts)
	}
}

// takeTaskAndDie changes the keys of a queue like a worker that takes a task and dies. One script does both: otherwise
// the sweeper could find a task without a lease.
func (b *bundle) takeTaskAndDie(t *testing.T, q tasks.Queue, task string) {
	t.Helper()
	const take = `if redis.call('RPOPLPUSH', KEYS[1], KEYS[2]) ~= ARGV[1] then return 0 end
return redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])`
	keys := []string{tasks.AsynqPending(q), tasks.AsynqActive(q), tasks.AsynqLease(q)}
	wait.Until(t, "the task is on the queue", func() bool {
		n, err := b.rdb.Eval(t.Context(), take, keys, task, time.Now().Add(10*time.Second).Unix()).Int()
		return err == nil && n == 1
	})
}

func TestAJobThatKillsThreeWorkersFails(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	// The server reaps and takes nothing, because the queue is paused.
	b.rdb.Set(ctx, tasks.AsynqKey(tasks.Render, "paused"), 1, 0)
	reg := prometheus.NewRegistry()
	b.serve(t, tasks.Options{Metrics: tasks.NewMetrics(reg)}, complete)

	id := b.submit(t, submission(t))
	for range 3 {
		b.takeTaskAndDie(t, tasks.Render, id)
	}

	rec := b.waitForEnd(t, id)
	if rec.Status != presswork.Failed || rec.Error.Code != fault.RenderFailed ||
		rec.Error.Message != "the worker died 3 times on this document" {
		t.Errorf("got %s with %+v, want render_failed with the number of deaths", rec.Status, rec.Error)
	}

	reaped := tasks.Exported(t, reg, "presswork_runs_broken_total", "reaped")
	condemned := tasks.Exported(t, reg, "presswork_runs_broken_total", "condemned")

	if reaped != 2 || condemned != 1 {
		t.Errorf("got %v reaped and %v condemned runs; want 2 and 1", reaped, condemned)
	}
	wait.Until(t, "its end is counted", func() bool {
		return tasks.Exported(t, reg, "presswork_jobs_ended_total", "conversion", "failed") == 1
	})
	wait.Until(t, "nothing of the task remains", func() bool {
		return b.rdb.Exists(ctx,
			tasks.AsynqTask(tasks.Render, id), tasks.AsynqActive(tasks.Render), tasks.AsynqLease(tasks.Render),
		).
			Val() ==
			0
	})
}

func TestAWebhookOutlivesItsWorkers(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	b.rdb.Set(ctx, tasks.AsynqKey(tasks.Text, "paused"), 1, 0)
	delivered := make(chan string, 10)
	s := b.server(t, tasks.Options{})
	tasks.Handle(s, tasks.ConvertPDF, complete)
	tasks.HandlePlain(s, tasks.DeliverWebhook, func(_ context.Context, w tasks.Webhook) error {
		delivered <- w.MessageID
		return nil
	})

	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}

	id := b.submit(t, webhookSubmission(t))
	for range 4 {
		b.takeTaskAndDie(t, tasks.Text, tasks.WebhookTask(id))
	}
	b.rdb.Del(ctx, tasks.AsynqKey(tasks.Text, "paused"))

	if got := wait.Receive(t, "the webhook", delivered); got != "msg_"+id {
		t.Errorf("got webhook %s, want msg_%s", got, id)
	}
}

// leaseExpirer is a hook that expires the leases of running tasks after each check, as if the machine had been suspended
// until the next check. It starts when begun is set, and counts the expired leases.
type leaseExpirer struct {
	rdb   redis.UniversalClient
	begun atomic.Bool
	count atomic.Int64
}

func (*leaseExpirer) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*leaseExpirer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook expires the leases of running tasks after each reap.
func (s *leaseExpirer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if err == nil && isReap(cmd) && s.begun.Load() { // Redis does not know the digest of the first one
			for _, id := range s.rdb.ZRange(ctx, tasks.AsynqLease(tasks.Render), 0, -1).Val() {
				s.rdb.ZAddXX(ctx, tasks.AsynqLease(tasks.Render),
					redis.Z{Score: float64(time.Now().Unix()), Member: id})
				s.count.Add(1)
			}
		}

		return err
	}
}

func TestALivingRunKeepsItsLease(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s, expirer := b.server(t, tasks.Options{RenderSlots: 4}), &leaseExpirer{rdb: b.rdb}
	s.AddHook(expirer)
	tasks.Handle(s, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		expirer.begun.Store(true)
		wait.Until(t, "the lease has expired a few times", func() bool { return expirer.count.Load() > 3 })

		return complete(ctx, run, c)
	})

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	b.wantCompleted(t, b.submit(t, submission(t)), 1)
}

func TestActiveTasksWithoutALeaseRunAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	s := b.server(t, tasks.Options{})
	active, lease := tasks.AsynqActive(tasks.Render), tasks.AsynqLease(tasks.Render)
	// An active task without a lease: the worker got no reply to its dequeue, and the lease was lost.
	id := b.submit(t, submission(t))
	b.rdb.RPopLPush(ctx, tasks.AsynqPending(tasks.Render), active)
	// Entries without a task, one in each list.
	b.rdb.LPush(ctx, active, "ghost")
	b.rdb.Do(ctx, "zadd", lease, time.Now().Add(time.Hour).Unix(), "phantom")

	suspects, err := s.SweepGhosts(ctx, tasks.Render, nil)
	if err != nil || len(suspects) != 1 || suspects[0] != id {
		t.Fatalf("got suspects %v, %v; want %s", suspects, err, id)
	}

	if n := b.rdb.LLen(ctx, tasks.AsynqPending(tasks.Render)).Val(); n != 0 {
		t.Error("the task was put back after one sweep, want two")
	}

	if suspects, err = s.SweepGhosts(ctx, tasks.Render, suspects); err != nil || len(suspects) != 0 {
		t.Fatalf("got suspects %v, %v; want %s", suspects, err, id)
	}

	if n := b.rdb.Exists(ctx, active, lease).Val(); n != 0 {
		t.Errorf("%d lists still have entries, want none", n)
	}
	b.serve(t, tasks.Options{}, complete)

	b.waitForStatus(t, id, presswork.Completed)
}

func TestReaperDropsLeasesWithoutATask(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	b.rdb.LPush(ctx, tasks.AsynqActive(tasks.Render), "ghost")
	b.rdb.Do(ctx, "zadd", tasks.AsynqLease(tasks.Render), 1, "ghost")
	b.serve(t, tasks.Options{}, complete)
	wait.Until(t, "the ghost is gone", func() bool {
		return b.rdb.Exists(ctx,
			tasks.AsynqActive(tasks.Render), tasks.AsynqLease(tasks.Render), tasks.AsynqTask(tasks.Render, "ghost"),
		).
			Val() ==
			0
	})
}

func TestRedisRestartLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	redis := redistest.StartDurable(t)
	b := setupOn(t, redis.Address, tasks.Options{})
	var completed sync.Map
	b.serve(t, tasks.Options{RenderSlots: 4}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if err := run.Progress(ctx, presswork.StagePrinting, 50, ""); err != nil {
			return err
		}

		err := complete(ctx, run, c)
		if err == nil {
			if _, twice := completed.LoadOrStore(run.ID, true); twice {
				t.Errorf("job %s was completed twice", run.ID)
			}
		}

		return err
	})
	var mu sync.Mutex
	var accepted []string
	var wg sync.WaitGroup
	stop := make(chan struct{})

	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}

				if rec, _, err := b.client.Submit(context.Background(), submission(t)); err == nil {
					mu.Lock()
					accepted = append(accepted, rec.ID)
					mu.Unlock()
				}
			}
		})
	}

	for outages := range 3 { // two outages, and jobs after each
		var before int
		mu.Lock()
		before = len(accepted)
		mu.Unlock()
		wait.Until(t, "jobs are accepted", func() bool {
			mu.Lock()
			defer mu.Unlock()

			return len(accepted) > before+200
		})

		if outages < 2 {
			redis.Kill()
			redis.Restart()
		}
	}
	close(stop)
	wg.Wait()

	for _, id := range accepted {
		terminal := countTerminal(b.events(t, id, 0))

		if rec := b.job(t, id); terminal != 1 || rec.Status != presswork.Completed {
			t.Errorf("job %s: got %s with %d terminal events, want completed with one", id, rec.Status, terminal)
		}
	}
}
