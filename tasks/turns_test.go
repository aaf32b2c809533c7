package tasks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// queued submits n jobs of an owner.
func (b *bundle) queued(t testing.TB, owner string, n int) (ids []string) {
	t.Helper()

	for range n {
		s := submission(t)
		s.Owner = owner
		ids = append(ids, b.submit(t, s))
	}

	return ids
}

// running is a job that runs until the test ends it.
type running struct {
	owner, id string
	end       chan struct{}
}

// runs is where a handler tells which jobs it has begun.
type runs chan running

func (r runs) handle(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
	one := running{run.Record.Owner, run.ID, make(chan struct{})}
	r <- one

	select {
	case <-one.end:
	case <-ctx.Done():
	}

	return complete(ctx, run, c)
}

// inTurn returns n jobs in the order in which they were taken from the queue. One slot at a
// time is given back, or those that began together would overtake each other.
func (r runs) inTurn(t testing.TB, slots, n int) (all []running) {
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
	b.queued(t, "ann", 30)
	b.queued(t, "bob", 3)
	b.queued(t, "", 1)
	runs := make(runs, 99)
	b.serve(t, tasks.Options{RenderSlots: 1}, runs.handle)

	last, owners := map[string]int{}, []string{}
	for i, r := range runs.inTurn(t, 3, 34) {
		last[r.owner] = i
		owners = append(owners, r.owner)
	}

	for owner, within := range map[string]int{"bob": 12, "": 6} {
		if last[owner] >= within {
			t.Errorf("the last job of %q was the %dth to run: %s", owner, last[owner]+1, strings.Join(owners, " "))
		}
	}
	wait.Until(
		t,
		"nothing remains of the lines",
		func() bool { return len(b.rdb.Keys(t.Context(), "pw:{render}:*").Val()) == 0 },
	)
}

// The second owner that waits makes a dequeue look at how many tasks of each run: not at each task.
func TestADequeueCostsTheSameHoweverManyTasksRun(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	runs := make(runs, 999)
	const busy, dequeues = 200, 10
	b.serve(t, tasks.Options{RenderSlots: busy - 2}, runs.handle)
	ids := b.queued(t, "ann", busy)

	var held []running
	for range busy {
		held = append(held, wait.Receive(t, "a job runs", runs))
	}
	ids = slices.Concat(ids, b.queued(t, "ann", dequeues), b.queued(t, "bob", dequeues))
	before := commands(t, b.rdb)["hget"]

	for i := range dequeues {
		close(held[i].end)
		held = append(held, wait.Receive(t, "the next job runs", runs))
	}

	if n := commands(t, b.rdb)["hget"] - before; n > 30*dequeues {
		t.Errorf("%d dequeues and ends among %d running tasks read %d fields of tasks", dequeues, busy, n)
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
		b.finished(t, id)
	}
	close(runs)
}

// An owner that had all slots shares them equally with a second owner, and gets all of them again when the second
// has finished.
func TestAnOwnerKeepsNoMoreThanItsShareWhileAnotherWaits(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	runs := make(runs, 99)
	b.serve(t, tasks.Options{RenderSlots: 2}, runs.handle)
	var held []running
	take := func() string {
		r := wait.Receive(t, "a job runs", runs)
		held = append(held, r)

		return r.owner
	}
	end := func(owner string) {
		i := slices.IndexFunc(held, func(r running) bool { return r.owner == owner })
		if i < 0 {
			t.Fatalf("no job of %s runs", owner)
		}
		close(held[i].end)
		held = slices.Delete(held, i, i+1)
	}
	ids := b.queued(t, "ann", 12)

	for range 4 {
		if got := take(); got != "ann" {
			t.Fatal(got)
		}
	}
	ids = append(ids, b.queued(t, "bob", 4)...)
	var got []string

	for range 2 {
		end("ann")
		got = append(got, take())
	}
	// Two and two: who gives a slot back gets the next.
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
		b.finished(t, id)
	}
	close(runs)
}

// A task that Asynq puts back by itself, one of an older release, and one whose
// line is gone all run, while others have turns.
func TestTasksOutsideTheWaitlistsAreServed(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	lost := b.queued(t, "ann", 2)
	b.rdb.Del(ctx, "pw:{render}:line:ann", "pw:{render}:ring")
	b.rdb.HDel(ctx, tasks.AsynqTask(tasks.Render, lost[1]), "x_owner")
	ids := append(lost, b.queued(t, "bob", 5)...)

	cancelled := b.queued(t, "bob", 1)[0]
	if _, err := b.client.Cancel(ctx, cancelled); err != nil {
		t.Fatal(err)
	}
	gone := b.queued(t, "eve", 1)[0]
	b.rdb.Del(ctx, tasks.AsynqTask(tasks.Render, gone))
	b.serve(t, tasks.Options{RenderSlots: 1}, complete)

	for _, id := range ids {
		if rec := b.finished(t, id); rec.Status != presswork.Completed {
			t.Errorf("%+v", rec)
		}
	}
	wait.Until(t, "the lines are empty", func() bool { return len(b.rdb.Keys(ctx, "pw:{render}:*").Val()) == 0 })
}

func TestARetriedJobKeepsItsOwnersTurns(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	brief := tasks.ConvertPDF
	brief.Backoff = []time.Duration{10 * time.Millisecond}
	runs := make(runs, 99)
	first := b.queued(t, "bob", 1)[0]
	b.serveKind(
		t,
		tasks.Options{RenderSlots: 1},
		brief,
		func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
			if run.ID == first && run.Attempt == 1 {
				return fmt.Errorf("not this time")
			}

			return runs.handle(ctx, run, c)
		},
	)
	wait.Until(t, "the first try has failed", func() bool { return b.job(t, first).Attempts == 1 })
	b.queued(t, "ann", 40)
	wait.Until(t, "the retry is on the queue", func() bool {
		return b.rdb.HGet(t.Context(), tasks.AsynqTask(tasks.Render, first), "state").Val() == "pending" ||
			b.job(t, first).Attempts == 2
	})

	before := slices.IndexFunc(runs.inTurn(t, 3, 41), func(r running) bool { return r.owner == "bob" })
	if before < 0 || before > 10 {
		t.Errorf("%d jobs of another went before it", before)
	}
}

// An owner's new jobs do not delay its retries: jobs submitted after a retry was due run after it.
func TestAnOwnersNewJobsDoNotKeepAnOldOneWaiting(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	later := tasks.ConvertPDF
	later.Backoff = []time.Duration{time.Hour}
	first := b.queued(t, "ann", 1)[0]
	runs := make(runs, 99)
	b.serveKind(
		t,
		tasks.Options{RenderSlots: 1},
		later,
		func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
			if run.ID == first && run.Attempt == 1 {
				return fmt.Errorf("not this time")
			}

			return runs.handle(ctx, run, c)
		},
	)
	retry := tasks.AsynqKey(tasks.Render, "retry")
	wait.Until(t, "the first try has failed", func() bool { return b.rdb.ZCard(t.Context(), retry).Val() == 1 })
	held := b.queued(t, "ann", 3) // they take the slots
	wait.Until(
		t,
		"the slots are taken",
		func() bool { return b.rdb.LLen(t.Context(), tasks.AsynqPending(tasks.Render)).Val() == 0 },
	)
	b.rdb.ZAddXX(t.Context(), retry, redis.Z{Score: float64(time.Now().Unix()), Member: first}) // its time has come
	wait.Until(t, "the retry waits", func() bool {
		return b.rdb.HGet(t.Context(), tasks.AsynqTask(tasks.Render, first), "state").Val() == "pending"
	})
	// As when it had been put off a while ago.
	line := "pw:{render}:line:ann"
	b.rdb.ZAddXX(t.Context(), line, redis.Z{Score: float64(time.Now().Unix() - 1), Member: first})
	b.queued(t, "ann", 5)

	order := runs.inTurn(t, len(held), len(held)+1+5)
	if at := slices.IndexFunc(order, func(r running) bool { return r.id == first }); at != len(held) {
		t.Errorf("the first task was number %d to run, of %v", at+1, order)
	}
}
