package record

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/fault"
)

func TestRepeatedTransitionsAfterALostAnswerHappenOnce(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	ctx := t.Context()

	args := []any{stamp(r.clock.Now()), "nonce", convertKind, "w"}
	for range 2 {
		if err := r.run(ctx, beginScript, id, args).Err(); err != nil {
			t.Fatal(err)
		}
	}

	s := read(t, r, id)
	if s.Attempts != 1 || s.Seq != 2 {
		t.Errorf("begin: got %d attempts and seq %d, want 1 and 2", s.Attempts, s.Seq)
	}

	for range 2 {
		if err := note(r, ctx, id, "1", "theme x", nil, fieldTheme, "x"); err != nil {
			t.Fatal(err)
		}

		w := fault.Warning{Code: fault.AltMissing, Message: `a "quoted" / line`, Line: 3}
		if err := note(r, ctx, id, "1", w.Message, []fault.Warning{w, {Code: "x", Message: "y"}}); err != nil {
			t.Fatal(err)
		}
	}

	s = read(t, r, id)
	if len(s.Warnings) != 2 || s.Warnings[0].Line != 3 || s.Theme != "x" {
		t.Errorf("notes: got %+v and theme %q, want two warnings and x", s.Warnings, s.Theme)
	}
	before := s.Seq

	for range 2 {
		if _, err := r.Finish(ctx, id, Ending{Fence: "1", Nonce: "n", Status: presswork.Completed}); err != nil {
			t.Errorf("finish: %v", err)
		}
	}

	if s = read(t, r, id); s.Seq != before+1 {
		t.Errorf("finish: got seq %d after %d, want one more", s.Seq, before)
	}
}

func TestTerminalStateIsWrittenOnce(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	fence := begin(t, r, id)
	ctx := t.Context()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var won []presswork.Status

	for i := range 30 {
		e := Ending{
			Nonce:  fmt.Sprint(i),
			Status: []presswork.Status{presswork.Completed, presswork.Failed, presswork.Cancelled}[i%3],
		}
		if i%3 < 2 {
			e.Fence = fence
		}
		wg.Go(func() {
			_, err := r.Finish(ctx, id, e)
			if _, ok := errors.AsType[EndedError](err); err != nil && !ok {
				t.Error(err)
			}

			if err == nil {
				mu.Lock()
				won = append(won, e.Status)
				mu.Unlock()
			}
		})
	}
	wg.Wait()

	s := read(t, r, id)
	if len(won) != 1 || s.Status != won[0] || s.Seq != 3 {
		t.Fatalf("transitions %v succeeded and the job is %s at seq %d; want one, its status and 3", won, s.Status,
			s.Seq)
	}

	if _, err := r.Begin(ctx, id, convertKind, "w"); LostCause(err) == nil {
		t.Errorf("Begin of a finished job: got %v, want a lost run", err)
	}

	if err := progress(r, ctx, id, fence, presswork.StageDone, 100, ""); LostCause(err) == nil {
		t.Errorf("Progress of a finished job: got %v, want a lost run", err)
	}
	// A failed job keeps its task until it becomes a dead letter.
	if task, err := r.Task(ctx, id); err != nil || (task.Kind != "") != (s.Status == presswork.Failed) {
		t.Errorf("the job is %s with task %q (%v); want a task only if it failed", s.Status, task.Kind, err)
	}
}

func TestSequenceIsGaplessUnderConcurrentTransitions(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	fence := begin(t, r, id)
	ctx := t.Context()

	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 60 {
				name := fmt.Sprintf("%d-%d", n, i)

				var err error

				switch rand.N(3) {
				case 0:
					err = progress(r, ctx, id, fence, presswork.StagePrinting, rand.N(100), name)
				case 1:
					err = note(r, ctx, id, fence, "theme "+name, nil, fieldTheme, name)
				case 2:
					err = note(r, ctx, id, fence, "warned", []fault.Warning{{Code: "c", Message: name}})
				}

				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()

	last, err := r.Finish(ctx, id,
		Ending{Fence: fence, Nonce: "n", Status: presswork.Completed, Artifact: &presswork.Artifact{ID: "a"}})
	if err != nil {
		t.Fatal(err)
	}

	events, err := r.Events(ctx, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	percent := 0

	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has seq %d, want %d", i, e.Seq, i+1)
		}

		if e.Progress < percent {
			t.Fatalf("progress went back to %d at %d", e.Progress, e.Seq)
		}
		percent = e.Progress
	}

	final := events[len(events)-1]
	if final.Seq != last.Seq || final.Type != presswork.EventCompleted || final.Progress != 100 ||
		final.Stage != presswork.StageDone {
		t.Errorf("the last event is %+v, want completed at seq %d", final, last.Seq)
	}

	if diff := cmp.Diff(last.LastEvent(), final); diff != "" {
		t.Errorf("the record and its last event differ (-record +event):\n%s", diff)
	}
}

func TestRecordsExpireAfterTheirTTL(t *testing.T) {
	t.Parallel()

	for _, want := range []int{37, 90} {
		r, id := newJobFor(t, time.Duration(want)*24*time.Hour)
		ctx := t.Context()

		job, err := r.Read(ctx, id)
		if err == nil {
			err = r.Renew(ctx, job) // as the sweeper does
		}

		if err != nil {
			t.Fatal(err)
		}

		for _, key := range []string{JobKey(id), LogKey(id), PayloadKey(id)} {
			t.Run(fmt.Sprintf("%d days %s", want, key), func(t *testing.T) {
				if ttl := r.rdb.TTL(ctx, key).Val().Hours() / 24; ttl < float64(want)-1 || ttl > float64(want) {
					t.Errorf("%s expires in %.1f days, want %d", key, ttl, want)
				}
			})
		}
		r.rdb.PExpire(ctx, JobKey(id), time.Hour)
		r.rdb.PExpire(ctx, LogKey(id), time.Hour)

		if _, err := r.Finish(ctx, id, Ending{Nonce: "n", Status: presswork.Cancelled}); err != nil {
			t.Fatal(err)
		}

		for _, key := range []string{JobKey(id), LogKey(id)} {
			if ttl := r.rdb.TTL(ctx, key).Val().Hours() / 24; ttl < float64(want)-1 || ttl > float64(want) {
				t.Errorf("%s expires in %.1f days after its end, want %d", key, ttl, want)
			}
		}

		if n := r.rdb.Exists(ctx, PayloadKey(id)).Val(); n != 0 {
			t.Error("the payload remains after the end of the job")
		}
	}
}
