package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/tasks"
)

type callHandler = func(context.Context, *tasks.CallRun) error

// serveCalls starts a server that answers calls by h.
func (b *bundle) serveCalls(t testing.TB, o tasks.Options, h callHandler) *tasks.Server {
	t.Helper()
	s := b.server(t, o)
	tasks.HandleCalls(s, h)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (b *bundle) call(t testing.TB, c tasks.Call) *tasks.Answer {
	t.Helper()
	if c.ID == "" {
		c.ID = tasks.NewID()
	}
	if c.Tier == "" {
		c.Tier = tasks.OnDemand
	}
	a, err := b.client.Call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// whole reads an answer to its end.
func whole(t testing.TB, a *tasks.Answer) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var b strings.Builder
	for {
		frames, err := a.Next(ctx)
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatalf("after %q: %v", b.String(), err)
		}
		for _, f := range frames {
			b.Write(f)
		}
	}
}

func echo(_ context.Context, run *tasks.CallRun) error {
	return run.Finish(run.Call.Body)
}

func TestEveryFrameOfManyAnswersArrivesOnceAndInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	const frames = 300
	b.serveCalls(t, tasks.Options{}, func(_ context.Context, run *tasks.CallRun) error {
		for i := range frames {
			if err := run.Send(fmt.Appendf(nil, "%s%d,", run.Call.Body, i)); err != nil {
				return err
			}
		}
		return run.Finish([]byte("end"))
	})
	var callers sync.WaitGroup
	for n := range 40 {
		a := b.call(t, tasks.Call{Owner: fmt.Sprint("o", n%3), Body: fmt.Appendf(nil, "%d", n)})
		callers.Go(func() {
			var want strings.Builder
			for i := range frames {
				fmt.Fprintf(&want, "%d%d,", n, i)
			}
			if got := whole(t, a); got != want.String()+"end" {
				t.Errorf("call %d: got %.80q…", n, got)
			}
		})
	}
	callers.Wait()
}

func TestACallThatNobodyWaitsForIsNotBegun(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	left := b.call(t, tasks.Call{Body: []byte(`"left"`)})
	left.Close()
	stays := b.call(t, tasks.Call{Body: []byte(`"stays"`)})
	var mu sync.Mutex
	var ran []string
	b.serveCalls(t, tasks.Options{}, func(ctx context.Context, run *tasks.CallRun) error {
		mu.Lock()
		ran = append(ran, run.ID)
		mu.Unlock()
		return echo(ctx, run)
	})
	if got := whole(t, stays); got != `"stays"` {
		t.Errorf("got %q", got)
	}
	eventually(t, "both tickets are used up", func() bool {
		return b.rdb.LLen(t.Context(), tasks.AsynqPending(tasks.Infer)).Val() == 0 && b.rdb.LLen(t.Context(), tasks.AsynqActive(tasks.Infer)).Val() == 0
	})
	if !slices.Equal(ran, []string{stays.ID}) {
		t.Errorf("ran %v, want only %s", ran, stays.ID)
	}
}

// untilLeft is a handler that sends a frame and waits for its context's end.
func untilLeft(causes chan<- error) callHandler {
	return func(ctx context.Context, run *tasks.CallRun) error {
		if err := run.Send([]byte("begun")); err != nil {
			return err
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return context.Cause(ctx)
	}
}

func begun(t testing.TB, a *tasks.Answer) {
	t.Helper()
	if frames, err := a.Next(t.Context()); err != nil || string(frames[0]) != "begun" {
		t.Fatalf("got %q, %v", frames, err)
	}
}

func TestLeavingEndsTheRun(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	causes := make(chan error, 1)
	b.serveCalls(t, tasks.Options{}, untilLeft(causes))
	a := b.call(t, tasks.Call{})
	begun(t, a)
	at := time.Now()
	a.Close()
	if err := receive(t, "the run ends", causes); !errors.Is(err, tasks.ErrLeft) {
		t.Errorf("cause %v", err)
	}
	if took := time.Since(at); took > 10*time.Second { // of a run without an end
		t.Errorf("took %s", took)
	}
}

func TestACallOfADeadServerEnds(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	causes := make(chan error, 1)
	b.serveCalls(t, tasks.Options{}, untilLeft(causes))
	a := b.call(t, tasks.Call{})
	begun(t, a)
	// As if the waiter had not been renewed for long.
	waiters := tasks.WaitersKey(a.ID)
	for _, w := range b.rdb.ZRange(t.Context(), waiters, 0, -1).Val() {
		b.rdb.ZAdd(t.Context(), waiters, redis.Z{Score: 1, Member: w})
	}
	if err := receive(t, "the run ends", causes); !errors.Is(err, tasks.ErrLeft) {
		t.Errorf("cause %v", err)
	}
}

func TestARetryJoinsTheRunningCall(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	proceed := make(chan struct{})
	runs := make(chan string, 4)
	b.serveCalls(t, tasks.Options{}, func(_ context.Context, run *tasks.CallRun) error {
		runs <- run.ID
		if err := run.Send([]byte("a")); err != nil {
			return err
		}
		<-proceed
		return run.Finish([]byte("b"))
	})
	c := tasks.Call{Owner: "ann", IdempotencyKey: "k", Fingerprint: "f"}
	first := b.call(t, c)
	receive(t, "it runs", runs)
	first.Close()
	second := b.call(t, c)
	if second.ID != first.ID {
		t.Errorf("the retry is call %s, not %s", second.ID, first.ID)
	}
	close(proceed)
	if got := whole(t, second); got != "ab" {
		t.Errorf("the retry heard %q", got)
	}
	third := b.call(t, c)
	if got := whole(t, third); got != "ab" {
		t.Errorf("after the end the retry heard %q", got)
	}
	c.Fingerprint, c.ID = "other", tasks.NewID()
	c.Tier = tasks.OnDemand
	_, err := b.client.Call(t.Context(), c)
	wantCode(t, err, presswork.IdempotencyConflict)
	if len(runs) != 0 {
		t.Error("it ran twice")
	}
}

// order serves calls one after the other and returns the bodies in that order.
func order(t *testing.T, b *bundle, n int) []string {
	t.Helper()
	served := make(chan string, n)
	b.serveCalls(t, tasks.Options{InferConcurrency: 1}, func(ctx context.Context, run *tasks.CallRun) error {
		served <- string(run.Call.Body)
		return echo(ctx, run)
	})
	var got []string
	for range n {
		got = append(got, receive(t, "a call is served", served))
	}
	return got
}

func TestAFloodOfOneOwnerHoldsUpAnotherByOneCall(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	const flood = 200
	for range flood {
		b.call(t, tasks.Call{Owner: "heavy", Body: []byte(`"heavy"`)})
	}
	for range 2 {
		b.call(t, tasks.Call{Owner: "light", Body: []byte(`"light"`)})
	}
	got := order(t, b, flood+2)
	if at := slices.Index(got, `"light"`); at > 1 {
		t.Errorf("the light owner's first call is number %d", at+1)
	}
	if at := slices.Index(got[2:], `"light"`); at > 1 {
		t.Errorf("the light owner's second call is number %d", at+3)
	}
}

func TestUrgentTiersGoFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	for _, tier := range []tasks.Tier{tasks.Flex, tasks.OnDemand, tasks.Flex, tasks.Performance} {
		b.call(t, tasks.Call{Tier: tier, Body: []byte(`"` + string(tier) + `"`)})
	}
	if got, want := order(t, b, 4), []string{`"performance"`, `"on_demand"`, `"flex"`, `"flex"`}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestAnAnswerOfAKilledWorkerIsToldToTheNext(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	worker, running := child(t, b.address)
	sent := b.call(t, tasks.Call{Owner: "a", Body: []byte(`"send"`)})
	receive(t, "the child runs it", running)
	silent := b.call(t, tasks.Call{Owner: "b", Body: []byte(`"be silent"`)})
	receive(t, "the child runs it", running)
	begun(t, sent)
	if err := worker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	b.serveCalls(t, tasks.Options{}, func(_ context.Context, run *tasks.CallRun) error {
		return run.Finish(fmt.Appendf(nil, "attempt %d begun=%t", run.Attempt, run.Begun))
	})
	if got := whole(t, sent); got != "attempt 2 begun=true" {
		t.Errorf("got %q", got)
	}
	if got := whole(t, silent); got != "attempt 2 begun=false" {
		t.Errorf("got %q", got)
	}
}

func TestAStoppingWorkerHandsAnUnansweredCallOn(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	running := make(chan string, 1)
	s := b.serveCalls(t, tasks.Options{DrainTimeout: time.Millisecond}, func(ctx context.Context, run *tasks.CallRun) error {
		running <- run.ID
		<-ctx.Done()
		return context.Cause(ctx)
	})
	a := b.call(t, tasks.Call{Body: []byte("1")})
	receive(t, "it runs", running)
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.serveCalls(t, tasks.Options{}, echo)
	if got := whole(t, a); got != "1" {
		t.Errorf("got %q", got)
	}
}

func TestAHandlerThatGivesUpEndsTheAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	b.serveCalls(t, tasks.Options{}, func(_ context.Context, run *tasks.CallRun) error {
		if err := run.Send([]byte("a")); err != nil {
			return err
		}
		panic("oh")
	})
	if got := whole(t, b.call(t, tasks.Call{})); got != "a" {
		t.Errorf("got %q", got)
	}
}
