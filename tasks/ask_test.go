package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// servePreviews starts a server that answers previews by h.
func (b *bundle) servePreviews(t testing.TB, h func(context.Context, tasks.Preview) (any, error)) {
	t.Helper()
	s := b.server(t, tasks.Options{})
	tasks.HandleAsk(s, tasks.RenderPreview, h)

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// askPreview asks for a preview in a theme.
func (b *bundle) askPreview(t testing.TB, key, theme string) (json.RawMessage, error) {
	t.Helper()

	task, err := tasks.RenderPreview.Task(tasks.Preview{Theme: theme})
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	return b.client.Ask(ctx, key, task)
}

func TestCallersWithOneKeyShareOneTask(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	const callers = 8
	waiting := func() (n int64) {
		for _, key := range b.rdb.Keys(t.Context(), "pw:{*}:waiters").Val() {
			n = max(n, b.rdb.ZCard(t.Context(), key).Val())
		}

		return n
	}
	var runs atomic.Int64
	b.servePreviews(t, func(_ context.Context, p tasks.Preview) (any, error) {
		if runs.Add(1) == 1 {
			wait.Until(t, "all callers wait", func() bool { return waiting() == callers })
		}

		return "<" + p.Theme + ">", nil
	})

	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			if answer, err := b.askPreview(t, "one", "nord"); err != nil || string(answer) != `"<nord>"` {
				t.Errorf("got %s, %v; want <nord>", answer, err)
			}
		})
	}
	all.Wait()

	if n := runs.Load(); n != 1 {
		t.Errorf("got %d runs, want 1", n)
	}

	for i, key := range []string{"one", "two", "", ""} {
		t.Run(fmt.Sprintf("call %d with key %q", i, key), func(t *testing.T) {
			if answer, err := b.askPreview(t, key, "dark"); err != nil || string(answer) != `"<dark>"` {
				t.Errorf("got %s, %v; want <dark>", answer, err)
			}
		})
	}

	if n := runs.Load(); n != 5 {
		t.Errorf("got %d runs, want 5: later callers get an answer of their own", n)
	}
}

func TestTheErrorOfATaskReachesItsCaller(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	var runs atomic.Int64
	b.servePreviews(t, func(_ context.Context, p tasks.Preview) (any, error) {
		switch n := runs.Add(1); {
		case p.Theme == "unknown theme":
			return nil, fault.Errorf(fault.ThemeNotFound, "there is no theme %q", p.Theme)
		case p.Theme == "large answer":
			return strings.Repeat("x", 9<<20), nil
		case p.Theme == "panic":
			panic("a bug")
		case p.Theme == "always fails", p.Theme == "fails once" && n == 1:
			return nil, errors.New("the worker's disk is full")
		}

		return nil, nil
	})

	for i, tc := range []struct {
		theme string
		code  fault.Code
		runs  int64
	}{
		{"fails once", "", 2},
		{"unknown theme", fault.ThemeNotFound, 1},
		{"unknown theme", fault.ThemeNotFound, 1}, // an error is not shared with later callers
		{"large answer", fault.ContentTooComplex, 1},
		{"panic", fault.Internal, 1},
		{"always fails", fault.Internal, int64(tasks.RenderPreview.Retries) + 1},
	} {
		t.Run(fmt.Sprintf("%d %s", i, tc.theme), func(t *testing.T) {
			runs.Store(0)

			answer, err := b.askPreview(t, "key", tc.theme)
			if (err == nil) != (tc.code == "") || err != nil && fault.CodeOf(err) != tc.code || len(answer) != 0 {
				t.Errorf("got answer %s, error %v; want code %q", answer, err, tc.code)
			}

			if n := runs.Load(); n != tc.runs {
				t.Errorf("got %d runs, want %d", n, tc.runs)
			}
		})
	}
}

func TestATaskEndsWhenItsOnlyCallerLeaves(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ended := make(chan error, 1)
	begun := make(chan struct{})
	b.servePreviews(t, func(ctx context.Context, _ tasks.Preview) (any, error) {
		close(begun)
		<-ctx.Done()
		ended <- context.Cause(ctx)

		return nil, context.Cause(ctx)
	})

	ctx, cancel := context.WithCancel(t.Context())

	go func() {
		<-begun
		cancel()
	}()

	task := tasks.Task{Kind: tasks.RenderPreview.Name, Payload: []byte("{}")}
	if _, err := b.client.Ask(ctx, "", task); !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled caller got %v, want %v", err, context.Canceled)
	}
	wait.Receive(t, "the run ends", ended)
}

func TestTheCallerOfAnUnreadableTaskGetsAnError(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	answered := make(chan error, 1)

	go func() {
		_, err := b.askPreview(t, "", "nord")
		answered <- err
	}()
	wait.Until(t, "the task is on its queue", func() bool {
		return b.rdb.LLen(ctx, tasks.AsynqPending(tasks.Render)).Val() == 1
	})
	id := b.rdb.LIndex(ctx, tasks.AsynqPending(tasks.Render), 0).Val()
	b.rdb.HSet(ctx, tasks.AsynqTask(tasks.Render, id), "msg", "\xff")
	b.servePreviews(t, func(context.Context, tasks.Preview) (any, error) { return nil, nil })

	err := wait.Receive(t, "the caller has an answer", answered)
	wantCode(t, err, fault.Internal)

	if message := fault.AsError(err).Message; !strings.Contains(message, "cannot be run") {
		t.Errorf("the message is %q, want \"cannot be run\" in it", message)
	}
}
