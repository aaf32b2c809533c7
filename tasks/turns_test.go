package tasks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// starts is a handler that notes whose jobs start, one after the other.
type starts struct {
	mu     sync.Mutex
	owners []string
}

func (s *starts) handle(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
	s.mu.Lock()
	s.owners = append(s.owners, run.Record.Owner)
	s.mu.Unlock()
	return complete(ctx, run, c)
}

func (s *starts) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.owners)
}

func TestOwnersTakeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	b.queued(t, "ann", 30)
	b.queued(t, "bob", 3)
	b.queued(t, "", 1)
	var s starts
	b.serve(t, tasks.Options{RenderSlots: 1}, s.handle)
	wait.Until(t, "all have run", func() bool { return len(s.all()) == 34 })
	for owner, within := range map[string]int{"bob": 12, "": 6} {
		last := 0
		for i, o := range s.all() {
			if o == owner {
				last = i
			}
		}
		if last >= within {
			t.Errorf("the last job of %q was the %dth to run: %s", owner, last+1, strings.Join(s.all(), " "))
		}
	}
	if keys := b.rdb.Keys(t.Context(), "pw:{render}:*").Val(); len(keys) != 0 {
		t.Errorf("of the lines remain %v", keys)
	}
}

// An owner that had all slots alone gives the next ones to another until both
// have the same; and has them all again when the other is done.
func TestAnOwnerKeepsNoMoreThanItsShareWhileAnotherWaits(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	type running struct {
		owner string
		end   chan struct{}
	}
	runs := make(chan running, 99)
	b.serve(t, tasks.Options{RenderSlots: 2}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		r := running{run.Record.Owner, make(chan struct{})}
		runs <- r
		<-r.end
		return complete(ctx, run, c)
	})
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
func TestNoTaskIsStrandedOutsideTheLines(t *testing.T) {
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

func TestAJobTriedAgainKeepsItsOwnersTurns(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	brief := tasks.ConvertPDF
	brief.Backoff = []time.Duration{10 * time.Millisecond}
	var s starts
	gate := make(chan struct{})
	first := b.queued(t, "bob", 1)[0]
	b.serveKind(t, tasks.Options{RenderSlots: 1}, brief, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if run.ID == first && run.Attempt == 1 {
			return fmt.Errorf("not this time")
		}
		<-gate
		return s.handle(ctx, run, c)
	})
	wait.Until(t, "the first try has failed", func() bool { return b.job(t, first).Attempts == 1 })
	b.queued(t, "ann", 40)
	wait.Until(t, "the retry is on the queue", func() bool {
		return b.rdb.HGet(t.Context(), tasks.AsynqTask(tasks.Render, first), "state").Val() == "pending" || b.job(t, first).Attempts == 2
	})
	close(gate)
	b.finished(t, first)
	if before := slices.Index(s.all(), "bob"); before < 0 || before > 10 {
		t.Errorf("%d jobs of another went before it", before)
	}
}

// However many an owner submits, those to be tried again come to their turn: what
// came after their time waits behind them.
func TestAnOwnersNewJobsDoNotKeepAnOldOneWaiting(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	later := tasks.ConvertPDF
	later.Backoff = []time.Duration{time.Hour}
	first := b.queued(t, "ann", 1)[0]
	gate := make(chan struct{})
	var mu sync.Mutex
	var order []string
	b.serveKind(t, tasks.Options{RenderSlots: 1}, later, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if run.ID == first && run.Attempt == 1 {
			return fmt.Errorf("not this time")
		}
		<-gate
		mu.Lock()
		order = append(order, run.ID)
		mu.Unlock()
		return complete(ctx, run, c)
	})
	retry := tasks.AsynqKey(tasks.Render, "retry")
	wait.Until(t, "the first try has failed", func() bool { return b.rdb.ZCard(t.Context(), retry).Val() == 1 })
	held := b.queued(t, "ann", 3) // they take the slots
	wait.Until(t, "the slots are taken", func() bool { return b.rdb.LLen(t.Context(), tasks.AsynqPending(tasks.Render)).Val() == 0 })
	b.rdb.ZAddXX(t.Context(), retry, redis.Z{Score: float64(time.Now().Unix()), Member: first}) // its time has come
	wait.Until(t, "the retry waits", func() bool {
		return b.rdb.HGet(t.Context(), tasks.AsynqTask(tasks.Render, first), "state").Val() == "pending"
	})
	// As when it had been put off a while ago.
	line := "pw:{render}:line:ann"
	b.rdb.ZAddXX(t.Context(), line, redis.Z{Score: float64(time.Now().Unix() - 1), Member: first})
	after := b.queued(t, "ann", 5)
	close(gate)
	for _, id := range slices.Concat(held, after) {
		b.finished(t, id)
	}
	mu.Lock()
	defer mu.Unlock()
	// Three run at a time, and any of them may be the first to end.
	if at := slices.Index(order, first); at < 0 || at > slices.Index(order, after[3]) {
		t.Errorf("it was the %dth to run, of %v", at+1, order)
	}
}
