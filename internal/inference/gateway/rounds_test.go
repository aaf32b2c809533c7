package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
)

// slowTools is a Toolbox whose calls take the time takes. The first call also waits for a worker. If that wait is longer
// than ToolWait, the call fails because no worker is free.
type slowTools struct {
	waits, takes time.Duration
	started      bool
}

func (s *slowTools) Open(context.Context, *inference.Request, []string) (inference.ToolSession, error) {
	return s, nil
}

// Call waits for a worker at the first call, then takes the time takes.
func (s *slowTools) Call(ctx context.Context, _ inference.BuiltinCall) (inference.ToolResult, error) {
	if !s.started {
		time.Sleep(min(s.waits, inference.ToolWait))

		if s.waits > inference.ToolWait {
			return inference.ToolResult{}, fmt.Errorf("%w: all have a session", inference.ErrToolsBusy)
		}
		s.started = true
	}

	select {
	case <-time.After(s.takes):
		return inference.ToolResult{Output: "done", Took: s.takes}, nil
	case <-ctx.Done():
		return inference.ToolResult{}, context.Cause(ctx)
	}
}

func (*slowTools) Close() error { return nil }

// callPython answers with a call of python as long as the request offers tools.
func callPython(_ context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
	if len(r.Offered()) == 0 {
		return emit(&inference.Delta{Content: "Hello", Finish: "stop"})
	}

	return emit(&inference.Delta{
		ToolCalls: []inference.RawToolDelta{{Name: "python", Arguments: `{"code":"1"}`}},
		Finish:    "tool_calls",
	})
}

func TestToolTimeExcludesTheWaitForAWorker(t *testing.T) {
	t.Parallel()

	const ended = "The call was ended: the tools of an answer have 1m30s together."
	for name, test := range map[string]struct {
		tools   slowTools
		outputs []string
		took    time.Duration
	}{
		"without a wait": {slowTools{takes: 40 * time.Second}, []string{"done", "done", ended}, 90 * time.Second},
		"after a wait":   {slowTools{waits: 55 * time.Second, takes: 40 * time.Second}, []string{"done", "done", ended}, 145 * time.Second},
		"no worker is free": {slowTools{waits: time.Hour}, []string{
			"The tool did not run: no worker was free within 1m0s. Answer without it, and say that it was busy.",
		}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()

				outputs, err := useTools(t.Context(), &test.tools)
				if err != nil || !slices.Equal(outputs, test.outputs) || time.Since(began) != test.took {
					t.Errorf("got %q after %s: %v; want %q after %s", outputs, time.Since(began), err,
						test.outputs, test.took)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()

		outputs, err := useTools(ctx, &slowTools{takes: 40 * time.Second})
		if len(outputs) != 1 || inference.AsError(err).Status != 499 {
			t.Errorf("cancelled during the second call: outputs %v, %v; want 1 output and status 499", outputs, err)
		}
	})
}

// useTools runs a completion of a model that calls python as long as it may. It returns the outputs of the calls.
func useTools(ctx context.Context, box inference.Toolbox) (outputs []string, err error) {
	g := newToolGateway(0, callPython, gateway.Options{Tools: box})
	r := chatRequest()
	r.Tools = []inference.Tool{{Type: inference.CodeInterpreter}}
	_, err = g.Complete(ctx, r, func(c *inference.Chunk) error {
		for _, e := range c.Executed {
			outputs = append(outputs, e.Output)
		}

		return nil
	})

	return outputs, err
}

func TestCallsOfOneRoundShareTheToolTime(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		function string
		tools    slowTools
		want     time.Duration
	}{
		"of a worker":       {"python", slowTools{takes: 40 * time.Second}, 90 * time.Second},
		"of a server":       {"files__read", slowTools{}, 90 * time.Second},
		"no worker is free": {"python", slowTools{waits: time.Hour}, inference.ToolWait},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				callOften := func(_ context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
					d := &inference.Delta{Content: "Hello", Finish: "stop"}
					if len(r.Offered()) > 0 {
						d = &inference.Delta{Finish: "tool_calls"}
						for i := range 5 {
							d.ToolCalls = append(
								d.ToolCalls,
								inference.RawToolDelta{Index: i, Name: test.function, Arguments: "{}"},
							)
						}
					}

					return emit(d)
				}
				g := newToolGateway(0, callOften, gateway.Options{
					Tools: &test.tools, Servers: &servers{takes: 40 * time.Second},
				})
				r := serverRequest(nil)
				r.Tools = append(r.Tools, inference.Tool{Type: inference.CodeInterpreter})
				began := time.Now()

				if _, err := g.Complete(t.Context(), r, discard); err != nil || time.Since(began) != test.want {
					t.Errorf("got %v after %s, want an answer after %s", err, time.Since(began), test.want)
				}
			})
		})
	}
}

// watched is a Toolbox that fails the test if a tool runs and the completion is not idle.
type watched struct {
	t    *testing.T
	idle bool
}

func (w *watched) Open(context.Context, *inference.Request, []string) (inference.ToolSession, error) {
	return w, nil
}

func (w *watched) Call(context.Context, inference.BuiltinCall) (inference.ToolResult, error) {
	if !w.idle {
		w.t.Error("a tool runs while the completion is not idle")
	}

	return inference.ToolResult{}, nil
}

func (w *watched) Close() error { return nil }

func TestCompletionIsIdleWhileToolsRun(t *testing.T) {
	t.Parallel()
	w := &watched{t: t}
	callWhenNotIdle := func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
		if w.idle {
			t.Error("the model is called while the completion is idle")
		}

		return callPython(ctx, r, emit)
	}
	times := 0
	g := newToolGateway(2, callWhenNotIdle, gateway.Options{
		Tools: w,
		Idle: func(_ context.Context, f func()) {
			times++
			w.idle = true
			f()
			w.idle = false
		},
	})
	r := chatRequest()

	r.Tools = []inference.Tool{{Type: inference.CodeInterpreter}}
	if _, err := g.Complete(t.Context(), r, discard); err != nil || times != 2 {
		t.Errorf("the completion was idle %d times, want 2: %v", times, err)
	}
}

// drawing is a Toolbox whose calls return three pictures of 1 MiB.
type drawing struct{}

func (d drawing) Open(context.Context, *inference.Request, []string) (inference.ToolSession, error) {
	return d, nil
}

func (drawing) Call(context.Context, inference.BuiltinCall) (inference.ToolResult, error) {
	return inference.ToolResult{
		Output: "drawn",
		Code:   slices.Repeat([]inference.CodeResult{{PNG: strings.Repeat("p", 1<<20)}}, 3),
	}, nil
}

func (drawing) Close() error { return nil }

func TestAnswersShowAtMost8MBOfPictures(t *testing.T) {
	t.Parallel()
	g := newToolGateway(0, callPython, gateway.Options{Tools: drawing{}})
	r := chatRequest()
	r.Tools = []inference.Tool{{Type: inference.CodeInterpreter}}
	var pictures []int // shown to the user, for each call
	var outputs []string
	_, err := g.Complete(t.Context(), r, func(c *inference.Chunk) error {
		for _, e := range c.Executed {
			pictures, outputs = append(pictures, len(e.Code)), append(outputs, e.Output)
		}

		return nil
	})

	// Eight calls draw 24 MiB together; the limit is 8 MB.
	const left = " pictures are not shown to the user: those of an answer may have 8 MB together.]\ndrawn"
	if err != nil || !slices.Equal(pictures, []int{3, 3, 2, 0, 0, 0, 0, 0}) || outputs[1] != "drawn" ||
		outputs[2] != "[1"+left || outputs[3] != "[3"+left {
		t.Errorf("got %v pictures, outputs %q, %v; want 3, 3 and 2 pictures, then none", pictures, outputs, err)
	}
}
