package gateway_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
)

func TestUpstreamTimesOutInEachPhase(t *testing.T) {
	t.Parallel()
	// silentAfter returns an engine that emits the deltas and then nothing more.
	silentAfter := func(before ...*inference.Delta) *engine {
		return &engine{run: func(ctx context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
			for _, d := range before {
				if err := emit(d); err != nil {
					return err
				}
			}
			<-ctx.Done()

			return context.Cause(ctx)
		}}
	}

	// endless emits a token each second, without an end.
	endless := &engine{run: func(ctx context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
		for ctx.Err() == nil {
			emit(&inference.Delta{Content: "x"})
			time.Sleep(time.Second)
		}

		return context.Cause(ctx)
	}}
	for name, test := range map[string]struct {
		engine *engine
		status int
		took   time.Duration
		says   string
	}{
		"never begins":   {silentAfter(), 504, 5 * time.Second, "did not begin"},
		"only its role":  {silentAfter(&inference.Delta{}), 504, 5 * time.Second, "did not begin"},
		"stops":          {silentAfter(&inference.Delta{Content: "Hel"}), 502, 3 * time.Second, "stopped in its answer"},
		"never finishes": {endless, 504, 20 * time.Second, "did not finish"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(map[string]*engine{"a": test.engine}, func(m *inference.Model) {
					m.Routing = inference.Routing{
						FirstTokenTimeout: 5 * time.Second,
						IdleTimeout:       3 * time.Second,
						Timeout:           20 * time.Second,
						Retries:           new(0),
					}
				})
				began := time.Now()

				_, err := complete(t.Context(), g)

				took := time.Since(began)

				if err == nil || err.Status != test.status || err.Code != inference.UpstreamTimeout ||
					!strings.Contains(err.Message, test.says) {
					t.Errorf("got %v; want status %d and %q", err, test.status, test.says)
				}

				if took < test.took || took > test.took+time.Second {
					t.Errorf("the time-out came after %s, want %s", took, test.took)
				}
			})
		})
	}
}

func TestEmptyDeltasPreventTheTimeOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			for range 6 {
				time.Sleep(90 * time.Second)

				if err := emit(&inference.Delta{}); err != nil || ctx.Err() != nil {
					return context.Cause(ctx)
				}
			}

			return answerHello(ctx, r, emit)
		}}

		result, err := complete(t.Context(), newGateway(map[string]*engine{"a": e}, nil))
		if err != nil || result.Attempts != 1 || result.Usage.PromptTime != 540 {
			t.Errorf("got %+v, %v; want an answer after 1 attempt and 540 s of prompt time", result, err)
		}
	})
}

func TestTimeOutIsNotRetriedOnSameUpstream(t *testing.T) {
	t.Parallel()

	hangAfterReasoning := func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
		if err := emit(&inference.Delta{Reasoning: "Hm."}); err != nil {
			return err
		}

		return hang(ctx, r, emit)
	}
	for name, silent := range map[string]runFunc{
		"before the first token": hang, "in hidden reasoning": hangAfterReasoning,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				only := &engine{run: silent}
				r := chatRequest()
				r.Admitted, r.ReasoningFormat = true, inference.Hidden
				result, err := newGateway(map[string]*engine{"a": only}, nil).Complete(t.Context(), r, discard)

				e := inference.AsError(err)
				if e == nil || e.Code != inference.UpstreamTimeout || e.Retryable || only.calls.Load() != 1 {
					t.Errorf("only upstream: %d calls, %+v; want 1 call and a time-out", only.calls.Load(), e)
				}

				f := result.Failed
				if f.PromptTokens == 0 || f.EstimatedTokens != f.TotalTokens || result.Usage.TotalTokens != 0 {
					t.Errorf("only upstream: usage %+v; want estimated tokens of a failed call only", result)
				}

				first, second := &engine{run: silent}, &engine{run: failWith(503)}
				g := newGateway(map[string]*engine{"a": first, "b": second}, func(m *inference.Model) {
					m.Upstreams[1].Priority, m.Routing.Retries = 1, new(3)
				})

				result, err = g.Complete(t.Context(), r, discard)

				e = inference.AsError(err)
				if e == nil || e.Status != 503 || first.calls.Load() != 1 || second.calls.Load() != 3 {
					t.Errorf("two upstreams: called %d and %d times, %v; want 1 and 3 times, status 503",
						first.calls.Load(), second.calls.Load(), e)
				}
				second.run = nil
				first.calls.Store(0)
				time.Sleep(time.Minute) // both have cooled

				result, err = g.Complete(t.Context(), r, discard)
				if err != nil || result.Upstream != "b" || first.calls.Load() != 1 ||
					result.Usage.EstimatedTokens != 0 ||
					result.Failed.PromptTokens == 0 {
					t.Errorf(
						"second upstream recovered: got %+v, %v; want its answer, and the failed call of the first",
						result,
						err,
					)
				}
			})
		})
	}
}

func TestCancelledRequestStopsUpstreamAndKeepsUsage(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{})
	e := &engine{run: func(ctx context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
		for range 10 {
			if err := emit(&inference.Delta{Content: "word "}); err != nil {
				return err
			}
		}
		<-ctx.Done()
		close(stopped)

		return context.Cause(ctx)
	}}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	chunks := 0
	result, err := newGateway(
		map[string]*engine{"a": e},
		nil,
	).Complete(ctx, chatRequest(), func(*inference.Chunk) error {
		if chunks++; chunks == 11 { // the first chunk has no text
			cancel()
		}

		return nil
	})
	<-stopped

	if e := inference.AsError(err); e == nil || e.Status != 499 || e.Code != inference.RequestCancelled {
		t.Errorf("got %v; want status 499, %s", err, inference.RequestCancelled)
	}

	u := result.Usage
	if u.CompletionTokens != 10 || u.PromptTokens == 0 || u.EstimatedTokens != u.TotalTokens || !result.Emitted {
		t.Errorf("got %+v; want 10 completion tokens, all usage estimated", result)
	}
}

func TestPromptOfCancelledRequestIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		result, err := complete(ctx, newGateway(map[string]*engine{"a": {run: hang}}, nil))

		u := result.Usage
		if err == nil || err.Status != 499 || u.PromptTokens == 0 || u.CompletionTokens != 0 ||
			u.EstimatedTokens != u.PromptTokens {
			t.Errorf("got %+v, %v; want status 499 and the estimated prompt tokens", result, err)
		}

		refused, err := complete(t.Context(), newGateway(map[string]*engine{"a": {run: failWith(503)}}, nil))
		if err == nil || refused.Usage.TotalTokens+refused.Failed.TotalTokens != 0 {
			t.Errorf("rejected at once: got %+v, %v; want an error without usage", refused, err)
		}
	})
}

// slowTranscriber is an engine that needs time for the upload of a recording, and sends nothing while it transcribes.
type slowTranscriber struct {
	engine
	uploads, transcribes time.Duration
}

// Transcribe reports progress while it uploads, then is silent.
func (e *slowTranscriber) Transcribe(
	ctx context.Context,
	_ *inference.Transcription,
	progress func(answer bool),
) (*inference.Transcript, error) {
	for range 10 {
		progress(false)
		time.Sleep(e.uploads / 10)
	}
	progress(false)

	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(e.transcribes):
		progress(true)
		return &inference.Transcript{Text: "one"}, nil
	}
}

func (e *slowTranscriber) Speak(context.Context, *inference.Speech, func(*inference.Sound) error) error {
	return nil
}

func TestLongRecordingMayTakeLonger(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		duration, uploads, transcribes time.Duration
		timesOut                       bool
	}{
		"short":             {time.Minute, 0, 179 * time.Second, false},
		"short, and stuck":  {time.Minute, 0, 181 * time.Second, true},
		"long":              {5 * time.Minute, 0, 6 * time.Minute, false},
		"a slow upload":     {time.Minute, 5 * time.Minute, 2 * time.Minute, false},
		"of unknown length": {0, 0, 9 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := inference.NewCatalogue([]inference.Model{
					{
						ID:           "m",
						Capabilities: []string{inference.CanTranscribe},
						Upstreams:    []inference.Upstream{{BaseURL: "http://a"}},
					},
				})
				g := gateway.New(gateway.Options{
					Catalogue: func() *inference.Catalogue { return c },
					Open: func(inference.Upstream) (inference.Engine, error) {
						return &slowTranscriber{uploads: test.uploads, transcribes: test.transcribes}, nil
					},
				})

				_, err := g.Transcribe(t.Context(), &inference.Transcription{
					Model:    "m",
					Duration: test.duration,
					Open:     func() io.Reader { return strings.NewReader("") },
				})

				e := inference.AsError(err)
				if (e != nil) != test.timesOut || e != nil && e.Code != inference.UpstreamTimeout {
					t.Errorf("got %v, want a time-out: %v", e, test.timesOut)
				}
			})
		})
	}
}
