package tasks

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks/asynqext"
)

func TestReapingRemovesATaskWhoseEndWasDropped(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, redistest.Start(t), Options{})
	ctx := t.Context()
	s.rdb.LPush(ctx, AsynqActive(Render), "x")
	s.rdb.HSet(ctx, AsynqTask(Render, "x"), "x_crashes", asynqext.CrashCap)
	s.rdb.ZAdd(ctx, AsynqLease(Render), redis.Z{Score: 1, Member: "x"})
	s.completion.Drop("x")
	s.completion.Drop(AsynqTask(Render, ""))

	if err := s.reapQueue(ctx, Render); err != nil {
		t.Fatal(err)
	}

	if n := s.rdb.Exists(ctx, AsynqActive(Render), AsynqLease(Render), AsynqTask(Render, "x")).Val(); n != 0 {
		t.Errorf("%d keys of the task remain, want none", n)
	}
	s.rdb.LPush(ctx, AsynqActive(Render), "ghost")

	if _, err := asynqext.Reconcile(ctx, s.rdb, Render, nil); err != nil {
		t.Fatal(err)
	}

	if n := s.rdb.Exists(ctx, AsynqActive(Render)).Val(); n != 0 {
		t.Error("the ghost remains")
	}
}

// The drop was meant for an earlier run, whose end Asynq never wrote.
func TestADropDoesNotAffectALaterRun(t *testing.T) {
	t.Parallel()
	address := redistest.Start(t)
	c := newTestClient(t, address, Options{})
	s := newTestServer(t, address, Options{})
	Handle(s, ConvertPDF, func(ctx context.Context, run *Run, _ Convert) error {
		return run.Complete(ctx, presswork.Artifact{ID: run.ID}, false)
	})
	sub := newSubmission(t, "ann")
	s.completion.Drop(sub.ID)

	if _, _, err := c.Submit(t.Context(), sub); err != nil {
		t.Fatal(err)
	}

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the end of the task is written",
		func() bool { return c.rdb.Exists(t.Context(), AsynqTask(Render, sub.ID)).Val() == 0 })
}

// Asynq writes no end for a task whose context has ended, so the drop would remain for a later run.
func TestARunWhoseContextEndedDropsNoEnd(t *testing.T) {
	t.Parallel()
	c := asynqext.NewCompletion(slog.New(slog.DiscardHandler))
	s := &Server{completion: c}
	ctx, cancel := context.WithCancel(t.Context())
	s.dropTaskEnd(ctx, "x")
	cancel()
	s.dropTaskEnd(ctx, "y")
	var sent []string

	for _, id := range []string{"x", "y"} {
		done := redis.NewCmd(t.Context(), "evalsha", "sha", 5, AsynqActive(Render), AsynqLease(Render),
			AsynqTask(Render, id), AsynqKey(Render, "processed:2026-01-01"), AsynqKey(Render, "processed"), id, 1, 2)

		err := c.Hook().ProcessHook(func(context.Context, redis.Cmder) error {
			sent = append(sent, id)
			return nil
		})(t.Context(), done)
		if err != nil {
			t.Fatal(err)
		}
	}

	if !slices.Equal(sent, []string{"y"}) {
		t.Errorf("got the ends of %v, want only y", sent)
	}
}
