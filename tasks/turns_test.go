package tasks_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// submitMany submits n jobs of an owner.
func (b *bundle) submitMany(t testing.TB, owner string, n int) (ids []string) {
	t.Helper()

	for range n {
		s := submission(t)
		s.Owner = owner
		ids = append(ids, b.submit(t, s))
	}

	return ids
}

// heldJob is a job that runs until the test ends it.
type heldJob struct {
	owner, id string
	end       chan struct{}
}

// heldJobs receives a job from handle when it begins.
type heldJobs chan heldJob

// handle holds the job until the test ends it.
func (r heldJobs) handle(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
	job := heldJob{run.Record.Owner, run.ID, make(chan struct{})}
	r <- job

	select {
	case <-job.end:
	case <-ctx.Done():
	}

	return complete(ctx, run, c)
}

// startOrder returns n jobs in the order in which they were dequeued. It frees one slot at a time, because jobs that
// begin together report in any order.
func (r heldJobs) startOrder(t testing.TB, slots, n int) (all []heldJob) {
	t.Helper()

	for i := range n {
		if i >= slots {
			close(all[i-slots].end)
		}
		all = append(all, wait.Receive(t, "a job runs", r))
	}

	for _, last := range all[max(0, n-slots):] {
		close(last.end)
	}

	return all
}

func TestOwnersTakeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	b.submitMany(t, "ann", 30)
	b.submitMany(t, "bob", 3)
	b.submitMany(t, "", 1)
	runs := make(heldJobs, 99)
	b.serve(t, tasks.Options{RenderSlots: 1}, runs.handle)

	last, owners := map[string]int{}, []string{}
	for i, r := range runs.startOrder(t, 3, 34) {
		last[r.owner] = i
		owners = append(owners, r.owner)
	}

	for owner, within := range map[string]int{"bob": 12, "": 6} {
		if last[owner] >= within {
			t.Errorf("the last job of %q was the %dth to run: %s", owner, last[owner]+1, strings.Join(owners, " "))
		}
	}
	wait.Until(t, "the fair queue has no keys left",
		func() bool { return len(b.rdb.Keys(t.Context(), "pw:{render}:*").Val()) == 0 })
}

// With a second owner waiting, a dequeue compares how many tasks of each owner run. It must not read each task.
func TestADequeueCostsTheSameHoweverManyTasksRun(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	runs := make(heldJobs, 999)
	const busy, dequeues = 200, 10
	b.serve(t, tasks.Options{RenderSlots: busy - 2}, runs.handle)
	ids := b.submitMany(t, "ann", busy)

	var held []heldJob
	for range busy {
		held = append(held, wait.Receive(t, "a job runs", runs))
	}
	ids = slices.Concat(ids, b.submitMany(t, "ann", dequeues), b.submitMany(t, "bob", dequeues))
	before := commandCounts(t, b.rdb)["hget"]

	for i := range dequeues {
		close(held[i].end)
		held = append(held, wait.Receive(t, "the next job runs", runs))
	}

	if n := commandCounts(t, b.rdb)["hget"] - before; n > 30*dequeues {
		t.Errorf("%d dequeues among %d running tasks read %d fields of tasks, want at most 30 each", dequeues, busy, n)
	}

	for _, r := range held[dequeues:] {
		close(r.end)
	}
	go func() {
		for r := range runs {
			close(r.end)
		}
	}()

	for _, id := range ids {
		b.waitForEnd(t, id)
	}
	close(runs)
}

// An owner that had all slots shares them equally with a second owner, and gets all of them again when the second
// has finished.
func TestAnOwnerKeepsNoMoreThanItsShareWhileAnotherWaits(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	runs := make(heldJobs, 99)
	b.serve(t, tasks.Options{RenderSlots: 2}, runs.handle)
	var held []heldJob
	// take waits for the next job to run and returns its owner.
	take := func() string {
		r := wait.Receive(t, "a job runs", runs)
		held = append(held, r)

		return r.owner
	}
	// end completes a running job of the owner.
	end := func(owner string) {
		i := slices.IndexFunc(held, func(r heldJob) bool { return r.owner == owner })
		if i < 0 {
			t.Fatalf("no job of %s runs", owner)
		}
		close(held[i].end)
		held = slices.Delete(held, i, i+1)
	}
	ids := b.submitMany(t, "ann", 12)

	for range 4 {
		if got := take(); got != "ann" {
			t.Fatalf("a job of %s runs, want ann", got)
		}
	}
	ids = append(ids, b.submitMany(t, "bob", 4)...)
	var got []string

	for range 2 {
		end("ann")
		got = append(got, take())
	}
	// Each owner has two slots. An owner that frees a slot gets it again.
	for _, owner := range []string{"bob", "ann", "ann", "bob"} {
		end(owner)
		got = append(got, take())
	}
	end("bob")
	end("bob")

	for len(held) > 0 || len(runs) > 0 {
		if len(held) == 0 {
			take()
		}
		end(held[0].owner)
	}

	if want := []string{"bob", "bob", "bob", "ann", "ann", "bob"}; !slices.Equal(got, want) {
		t.Errorf("freed slots went to %v, want %v", got, want)
	}

	go func() {
		for r := range runs {
			close(r.end)
		}
	}()

	for _, id := range ids {
		b.waitForEnd(t, id)
	}
	close(runs)
}

// Asynq may put a task back without the fair queue, an older release did not know it, and its keys may be lost. Such
// tasks run as well, while others have turns.
func TestTasksOutsideTheWaitlistsAreServed(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	lost := b.submitMany(t, "ann", 2)
	b.rdb.Del(ctx, "pw:{render}:line:ann", "pw:{render}:ring")
	b.rdb.HDel(ctx, tasks.AsynqTask(tasks.Render, lost[1]), "x_owner")
	ids := append(lost, b.submitMany(t, "bob", 5)...)

	cancelled := b.submitMany(t, "bob", 1)[0]
	if _, err := b.client.Cancel(ctx, cancelled); err != nil {
		t.Fatal(err)
	}
	gone := b.submitMany(t, "eve", 1)[0]
	b.rdb.Del(ctx, tasks.AsynqTask(tasks.Render, gone))
	b.serve(t, tasks.Options{RenderSlots: 1}, complete)

	for _, id := range ids {
		b.waitForStatus(t, id, presswork.Completed)
	}
	wait.Until(t, "the fair queue has no keys left",
		func() bool { return len(b.rdb.Keys(ctx, "pw:{render}:*").Val()) == 0 })
}

func TestARetriedJobKeepsItsOwnersTurns(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	quickRetry := tasks.ConvertPDF
	quickRetry.Backoff = []time.Duration{10 * time.Millisecond}
	runs := make(heldJobs, 99)
	first := b.submitMany(t, "bob", 1)[0]
	b.serveKind(
		t,
		tasks.Options{RenderSlots: 1},
		quickRetry,
		func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
			if run.ID == first && run.Attempt == 1 {
				return errors.New("the first attempt fails")
			}

			return runs.handle(ctx, run, c)
		},
	)
	wait.Until(t, "the first try has failed", func() bool { return b.job(t, first).Attempts == 1 })
	b.submitMany(t, "ann", 40)
	wait.Until(t, "the retry is on the queue", func() bool {
		return b.rdb.HGet(t.Context(), tasks.AsynqTask(tasks.Render, first), "state").Val() == "pending" ||
			b.job(t, first).Attempts == 2
	})

	before := slices.IndexFunc(runs.startOrder(t, 3, 41), func(r heldJob) bool { return r.owner == "bob" })
	if before < 0 || before > 10 {
		t.Errorf("the retry ran after %d jobs of another owner, want at most 10", before)
	}
}

func TestAnOwnersNewJobsRunAfterItsRetries(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	slowRetry := tasks.ConvertPDF
	slowRetry.Backoff = []time.Duration{time.Hour}
	first := b.submitMany(t, "ann", 1)[0]
	runs := make(heldJobs, 99)
	b.serveKind(
		t,
		tasks.Options{RenderSlots: 1},
		slowRetry,
		func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
			if run.ID == first && run.Attempt == 1 {
				return errors.New("the first attempt fails")
			}

			return runs.handle(ctx, run, c)
		},
	)
	retry := tasks.AsynqKey(tasks.Render, "retry")
	wait.Until(t, "the first try has failed", func() bool { return b.rdb.ZCard(t.Context(), retry).Val() == 1 })
	held := b.submitMany(t, "ann", 3) // one per slot
	wait.Until(t, "the slots are taken",
		func() bool { return b.rdb.LLen(t.Context(), tasks.AsynqPending(tasks.Render)).Val() == 0 })
	b.rdb.ZAddXX(t.Context(), retry, redis.Z{Score: float64(time.Now().Unix()), Member: first}) // the retry is due now
	wait.Until(t, "the retry waits", func() bool {
		return b.rdb.HGet(t.Context(), tasks.AsynqTask(tasks.Render, first), "state").Val() == "pending"
	})
	// The retry became due a second before the jobs that follow.
	line := "pw:{render}:line:ann"
	b.rdb.ZAddXX(t.Context(), line, redis.Z{Score: float64(time.Now().Unix() - 1), Member: first})
	b.submitMany(t, "ann", 5)

	order := runs.startOrder(t, len(held), len(held)+1+5)
	if at := slices.IndexFunc(order, func(r heldJob) bool { return r.id == first }); at != len(held) {
		t.Errorf("the retry was job %d to run, want %d: %v", at+1, len(held)+1, order)
	}
}
