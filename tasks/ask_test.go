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

// answerPreviews starts a server that answers previews by h.
func (b *bundle) answerPreviews(t testing.TB, h func(context.Context, tasks.Preview) (any, error)) {
	t.Helper()
	s := b.server(t, tasks.Options{})
	tasks.HandleAsk(s, tasks.RenderPreview, h)

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// ask asks for a preview in a theme.
func (b *bundle) ask(t testing.TB, key, theme string) (json.RawMessage, error) {
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
	b.answerPreviews(t, func(_ context.Context, p tasks.Preview) (any, error) {
		if runs.Add(1) == 1 {
			wait.Until(t, "all callers wait", func() bool { return waiting() == callers })
		}

		return "<" + p.Theme + ">", nil
	})

	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			if answer, err := b.ask(t, "one", "nord"); err != nil || string(answer) != `"<nord>"` {
				t.Errorf("%s, %v", answer, err)
			}
		})
	}
	all.Wait()

	if n := runs.Load(); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}

	for i, key := range []string{"one", "two", "", ""} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if answer, err := b.ask(t, key, "dark"); err != nil || string(answer) != `"<dark>"` {
				t.Errorf("key %q: %s, %v", key, answer, err)
			}
		})
	}

	if n := runs.Load(); n != 5 {
		t.Errorf("%d runs, want 5: a complete answer must not be shared", n)
	}
}

func TestAnErrorOfAnAskedTaskReachesItsCaller(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	var runs atomic.Int64
	b.answerPreviews(t, func(_ context.Context, p tasks.Preview) (any, error) {
		switch n := runs.Add(1); {
		case p.Theme == "wrong":
			return nil, fault.Errorf(fault.ThemeNotFound, "there is no theme %q", p.Theme)
		case p.Theme == "large":
			return strings.Repeat("x", 9<<20), nil
		case p.Theme == "panic":
			panic("a bug")
		case p.Theme == "never", p.Theme == "second" && n == 1:
			return nil, errors.New("the worker's disk is full")
		}

		return nil, nil
	})

	for i, tc := range []struct {
		theme string
		code  fault.Code
		runs  int64
	}{
		{"second", "", 2},
		{"wrong", fault.ThemeNotFound, 1},
		{"wrong", fault.ThemeNotFound, 1}, // an error is not shared with later callers
		{"large", fault.ContentTooComplex, 1},
		{"panic", fault.Internal, 1},
		{"never", fault.Internal, int64(tasks.RenderPreview.Retries) + 1},
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			runs.Store(0)

			answer, err := b.ask(t, "key", tc.theme)
			if (err == nil) != (tc.code == "") || err != nil && fault.CodeOf(err) != tc.code || len(answer) != 0 {
				t.Errorf("%s: %s, %v, want %q", tc.theme, answer, err, tc.code)
			}

			if n := runs.Load(); n != tc.runs {
				t.Errorf("%s: %d runs, want %d", tc.theme, n, tc.runs)
			}
		})
	}
}

func TestAnAskedTaskEndsWithItsOnlyCaller(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ended := make(chan error, 1)
	begun := make(chan struct{})
	b.answerPreviews(t, func(ctx context.Context, _ tasks.Preview) (any, error) {
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
		t.Errorf("the caller that left got %v", err)
	}
	wait.Receive(t, "the run ends", ended)
}

func TestTheCallerOfAnUnreadableTaskGetsAnError(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	answered := make(chan error, 1)

	go func() {
		_, err := b.ask(t, "", "nord")
		answered <- err
	}()
	wait.Until(t, "the task is on its queue", func() bool {
		return b.rdb.LLen(ctx, tasks.AsynqPending(tasks.Render)).Val() == 1
	})
	id := b.rdb.LIndex(ctx, tasks.AsynqPending(tasks.Render), 0).Val()
	b.rdb.HSet(ctx, tasks.AsynqTask(tasks.Render, id), "msg", "\xff")
	b.answerPreviews(t, func(context.Context, tasks.Preview) (any, error) { return nil, nil })

	err := wait.Receive(t, "the caller has an answer", answered)
	wantCode(t, err, fault.Internal)

	if message := fault.AsError(err).Message; !strings.Contains(message, "cannot be run") {
		t.Errorf("the caller reads %q", message)
	}
}
