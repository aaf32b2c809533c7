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

	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/slots"
	"presswork/tasks/stream"
)

type callHandler = func(context.Context, *stream.Run) error

// serveCalls starts a server that answers calls with h.
func (b *bundle) serveCalls(t testing.TB, o tasks.Options, h callHandler) *tasks.Server {
	t.Helper()
	s := b.server(t, o)
	tasks.HandleCalls(s, h)

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	return s
}

// call makes a call. It sets a missing ID and tier.
func (b *bundle) call(t testing.TB, c stream.Call) *stream.Answer {
	t.Helper()

	if c.ID == "" {
		c.ID = tasks.NewID()
	}

	if c.Tier == "" {
		c.Tier = stream.OnDemand
	}

	a, err := b.client.Call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)

	return a
}

// wantAnswer reads an answer to its end and compares it.
func wantAnswer(t testing.TB, a *stream.Answer, want string) {
	t.Helper()

	if got := readAnswer(t, a); got != want {
		t.Errorf("got the answer %q, want %q", got, want)
	}
}

// readAnswer reads an answer to its end.
func readAnswer(t testing.TB, a *stream.Answer) string {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
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

func echo(_ context.Context, run *stream.Run) error {
	return run.Finish(run.Call.Body)
}

func TestACallWithoutCallersDoesNotRun(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	abandoned := b.call(t, stream.Call{Body: []byte(`"abandoned"`)})
	abandoned.Close()
	kept := b.call(t, stream.Call{Body: []byte(`"kept"`)})
	var mu sync.Mutex
	var ran []string
	b.serveCalls(t, tasks.Options{}, func(ctx context.Context, run *stream.Run) error {
		mu.Lock()
		ran = append(ran, run.ID)
		mu.Unlock()

		return echo(ctx, run)
	})

	wantAnswer(t, kept, `"kept"`)
	wait.Until(t, "both tasks have ended", func() bool {
		return b.rdb.LLen(t.Context(), tasks.AsynqPending(tasks.Infer)).Val() == 0 &&
			b.rdb.LLen(t.Context(), tasks.AsynqActive(tasks.Infer)).Val() == 0
	})

	if !slices.Equal(ran, []string{kept.ID}) {
		t.Errorf("ran %v, want only %s", ran, kept.ID)
	}
}

// wantBegunFrame waits for the first frame of an answer, which must be "begun".
func wantBegunFrame(t testing.TB, a *stream.Answer) {
	t.Helper()

	if frames, err := a.Next(t.Context()); err != nil || string(frames[0]) != "begun" {
		t.Fatalf("got frames %q, %v; want begun", frames, err)
	}
}

func TestARetryJoinsTheRunningCall(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	proceed := make(chan struct{})
	runs := make(chan string, 4)
	b.serveCalls(t, tasks.Options{}, func(_ context.Context, run *stream.Run) error {
		runs <- run.ID

		if err := run.Send([]byte("a")); err != nil {
			return err
		}
		<-proceed

		return run.Finish([]byte("b"))
	})
	c := stream.Call{Owner: "ann", IdempotencyKey: "k", Fingerprint: "f"}
	first := b.call(t, c)
	wait.Receive(t, "it runs", runs)
	first.Close()

	second := b.call(t, c)
	if second.ID != first.ID {
		t.Errorf("the retry is call %s, want %s", second.ID, first.ID)
	}
	close(proceed)

	wantAnswer(t, second, "ab")

	third := b.call(t, c)
	wantAnswer(t, third, "ab")
	c.Fingerprint, c.ID = "other", tasks.NewID()
	c.Tier = stream.OnDemand
	_, err := b.client.Call(t.Context(), c)
	wantCode(t, err, fault.IdempotencyConflict)

	if len(runs) != 0 {
		t.Error("the conflicting call ran")
	}
}

func TestTheNextWorkerContinuesTheCallOfAKilledWorker(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	worker, running := startChild(t, b.address)
	sent := b.call(t, stream.Call{Owner: "a", Body: []byte(`"send"`)})
	wait.Receive(t, "the child runs it", running)
	silent := b.call(t, stream.Call{Owner: "b", Body: []byte(`"be silent"`)})
	wait.Receive(t, "the child runs it", running)
	wantBegunFrame(t, sent)

	if err := worker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	b.serveCalls(t, tasks.Options{}, func(_ context.Context, run *stream.Run) error {
		return run.Finish(fmt.Appendf(nil, "attempt %d begun=%t", run.Attempt, run.Begun))
	})

	wantAnswer(t, sent, "attempt 2 begun=true")

	wantAnswer(t, silent, "attempt 2 begun=false")
}

func TestAStoppingWorkerReturnsUnansweredCalls(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	running := make(chan string, 1)
	s := b.serveCalls(
		t,
		tasks.Options{DrainTimeout: time.Millisecond},
		func(ctx context.Context, run *stream.Run) error {
			running <- run.ID
			<-ctx.Done()

			return context.Cause(ctx)
		},
	)
	a := b.call(t, stream.Call{Body: []byte("1")})
	wait.Receive(t, "it runs", running)

	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.serveCalls(t, tasks.Options{}, echo)

	wantAnswer(t, a, "1")
}

func TestAPanicOfAHandlerEndsTheAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	b.serveCalls(t, tasks.Options{}, func(_ context.Context, run *stream.Run) error {
		if err := run.Send([]byte("a")); err != nil {
			return err
		}
		panic("oh")
	})

	wantAnswer(t, b.call(t, stream.Call{}), "a")
}

func TestAnIdleCallReleasesItsSlot(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	other, long := make(chan struct{}), make(chan struct{})
	s := b.serveCalls(t, tasks.Options{InferConcurrency: 1}, func(ctx context.Context, run *stream.Run) error {
		switch run.Call.Owner {
		case "tools":
			slots.Idle(ctx, func() { <-other })
		case "other":
			close(other)
		case "long":
			close(long)
			<-ctx.Done()

			return context.Cause(ctx)
		}

		return run.Finish([]byte(run.Call.Owner))
	})
	idle := b.call(t, stream.Call{Owner: "tools"})
	wait.Until(t, "the idle call runs", func() bool { return s.Running() == 1 })

	for _, a := range []*stream.Answer{b.call(t, stream.Call{Owner: "other"}), idle} {
		if readAnswer(t, a) == "" {
			t.Error("the answer is empty")
		}
	}
	// A server whose slots are all taken is healthy, however long that lasts.
	b.call(t, stream.Call{Owner: "long"})
	wait.Receive(t, "the long call runs", long)

	if err := s.ProgressAt(time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
}
