package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/meter"
	"presswork/internal/inference/openai"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/tasks/stream"
	"presswork/worker"
)

// stallingEngine is an engine that emits "Hel", waits for proceed, and emits "lo".
type stallingEngine struct{ begun, proceed chan struct{} }

// Complete sends the beginning of an answer and then waits.
func (e stallingEngine) Complete(
	ctx context.Context,
	_ *inference.Request,
	_ *inference.Model,
	emit func(*inference.Delta) error,
) error {
	if err := emit(&inference.Delta{Content: "Hel"}); err != nil {
		return err
	}
	e.begun <- struct{}{}

	select {
	case <-e.proceed:
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	return errors.Join(
		emit(&inference.Delta{Content: "lo"}),
		emit(&inference.Delta{Finish: "stop", Usage: &inference.RawUsage{PromptTokens: 3, CompletionTokens: 2}}),
	)
}

func (stallingEngine) Models(context.Context) ([]string, error) { return nil, nil }
func (stallingEngine) Traits() inference.Traits                 { return inference.Traits{} }

// completionHarness is a worker for completions on a real queue, meter and store.
type completionHarness struct {
	t        *testing.T
	rdb      redis.UniversalClient
	client   *tasks.Client
	disk     *storage.Disk
	counts   *meter.Meter
	metrics  *prometheus.Registry
	returned chan struct{} // receives one value for each run that has ended
	// before is called before each run. Set it before the first call.
	before func(run *stream.Run)
}

// setupCompletions starts a worker for completions with one model.
func setupCompletions(
	t *testing.T,
	model inference.Upstream,
	open func(inference.Upstream) (inference.Engine, error),
	change ...func(*gateway.Options),
) *completionHarness {
	t.Helper()
	address := redistest.Start(t)
	rdb, disk, client := services(t, address)

	server, err := tasks.NewServer(
		address,
		tasks.Options{Queues: []tasks.Queue{tasks.Infer}, DrainTimeout: time.Second},
	)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	h := &completionHarness{
		t:        t,
		rdb:      rdb,
		client:   client,
		disk:     disk,
		counts:   meter.New(rdb, log),
		metrics:  prometheus.NewRegistry(),
		returned: make(chan struct{}, 100),
	}
	catalogue := inference.NewCatalogue([]inference.Model{{ID: "m", Upstreams: []inference.Upstream{model}}})

	options := gateway.Options{Catalogue: func() *inference.Catalogue { return catalogue }, Open: open}
	for _, c := range change {
		c(&options)
	}
	completions := worker.NewCompletions(worker.CompletionOptions{
		Gateway: gateway.New(options),
		Meter:   h.counts, Store: disk, Keeper: retention.New(retention.Options{Store: disk, Redis: rdb}), Log: log,
		Metrics: h.metrics,
	})
	tasks.HandleCalls(server, func(ctx context.Context, run *stream.Run) error {
		defer func() { h.returned <- struct{}{} }()

		if h.before != nil {
			h.before(run)
		}

		return completions.Complete(ctx, run)
	})

	if err := errors.Join(client.Start(t.Context()), server.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
		defer cancel()
		server.Stop(ctx)
		client.Stop(ctx)
	})

	return h
}

// usage returns the recorded usage of an owner.
func (h *completionHarness) usage(key string) []meter.Usage {
	h.t.Helper()
	now := time.Now()

	rows, err := h.counts.Query(
		h.t.Context(),
		meter.Query{From: now.Add(-time.Hour), To: now, Key: &key, By: []string{"key", "model"}},
	)
	if err != nil {
		h.t.Fatal(err)
	}

	return rows
}

// frames makes a call and returns all frames of its answer.
func (h *completionHarness) frames(call stream.Call) (frames []inference.Frame) {
	h.t.Helper()

	ctx, cancel := context.WithTimeout(h.t.Context(), wait.Patience)
	defer cancel()
	call.ID, call.Tier = tasks.NewID(), stream.OnDemand

	answer, err := h.client.Call(ctx, call)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Close()

	for {
		raw, err := answer.Next(ctx)
		if errors.Is(err, io.EOF) {
			return frames
		}

		if err != nil {
			h.t.Fatal(err)
		}

		for _, b := range raw {
			var f inference.Frame
			if err := json.Unmarshal(b, &f); err != nil {
				h.t.Fatal(err)
			}
			frames = append(frames, f)
		}
	}
}

const greeting = `{"request":{"model":"m","messages":[{"role":"user","parts":[{"text":"Hi"}]}]}}`

func TestACompletionArrivesInPiecesAndIsRecorded(t *testing.T) {
	t.Parallel()
	_, url := inferencetest.Start(t)
	h := setupCompletions(t, inference.Upstream{BaseURL: url, Model: "hello"}, openai.New)

	const key = "inputs/large-request"

	_, err := h.disk.Put(t.Context(), key, strings.NewReader(greeting), int64(len(greeting)),
		storage.Attrs{ContentType: "application/json"})
	if err != nil {
		t.Fatal(err)
	}

	for name, call := range map[string]stream.Call{"ann": {Body: []byte(greeting)}, "bob": {BodyKey: key}} {
		t.Run(name, func(t *testing.T) {
			call.Owner = name
			var text strings.Builder

			frames := h.frames(call)
			for i, f := range frames {
				if f.Error != nil || (f.Result != nil) != (i == len(frames)-1) || (f.QueueTime > 0) != (i == 0) {
					t.Errorf("frame %d of %d is %+v; want the queue time in the first and the result in the last",
						i+1, len(frames), f)
				}

				if f.Chunk != nil {
					text.WriteString(f.Chunk.Content)
				}
			}

			if text.String() != "Hello, world!" {
				t.Errorf("the answer is %q, want Hello, world!", text.String())
			}

			rows := h.usage(name)
			if len(rows) != 1 || rows[0].Requests != 1 || rows[0].PromptTokens != 11 || rows[0].CompletionTokens != 4 {
				t.Errorf("got usage %+v, want one request with 11 and 4 tokens", rows)
			}
		})
	}
	wait.Until(t, "the request is deleted from the store", func() bool {
		_, err := h.disk.Stat(t.Context(), key)
		return errors.Is(err, storage.ErrNotFound)
	})
}

// calculator is a Toolbox whose code always returns 2.
type calculator struct{}

func (calculator) Open(context.Context, *inference.Request, []string) (inference.ToolSession, error) {
	return calculator{}, nil
}

func (calculator) Call(context.Context, inference.BuiltinCall) (inference.ToolResult, error) {
	return inference.ToolResult{Output: "2", Code: []inference.CodeResult{{Text: "2"}}}, nil
}

func (calculator) Close() error { return nil }

func TestEveryRoundAndAnswerIsRecorded(t *testing.T) {
	t.Parallel()
	model, url := inferencetest.Start(t)
	plan := inferencetest.Plan("say Counting. | "+`python {"code":"1+1"}`, `python {"code":"1+1"}`, "say Two.")

	for name, c := range map[string]struct {
		model    string
		r        inference.Request
		prompt   int64
		wantText string
	}{
		"rounds":  {"tools-plan", inference.Request{Tools: []inference.Tool{{Type: inference.CodeInterpreter}}}, 33, "Counting.\n\nTwo."},
		"answers": {"many", inference.Request{N: 3}, 11, "AnswerAnswerAnswer number number number 2 1 0"},
	} {
		h := setupCompletions(t, inference.Upstream{BaseURL: url, Model: c.model, Kind: inference.VLLM}, openai.New,
			func(o *gateway.Options) { o.Tools = calculator{} })
		c.r.Model, c.r.Messages = "m", []inference.Message{
			{Role: inference.User, Parts: []inference.Part{{Text: plan}}},
		}

		body, err := json.Marshal(inference.Job{Request: &c.r})
		if err != nil {
			t.Fatal(err)
		}
		var text, executed strings.Builder
		var result *inference.Result

		for _, f := range h.frames(stream.Call{Owner: "ann", Body: body}) {
			if f.Error != nil {
				t.Fatalf("%s: %v", name, f.Error)
			}

			if result = f.Result; f.Chunk != nil {
				text.WriteString(f.Chunk.Content)

				for _, e := range f.Chunk.Executed {
					fmt.Fprintf(&executed, "%d %s %s; ", e.Index, e.Arguments, e.Code[0].Text)
				}
			}
		}

		want := map[string]string{"rounds": `0 {"code":"1+1"} 2; 1 {"code":"1+1"} 2; `}[name]
		if text.String() != c.wantText || executed.String() != want {
			t.Errorf("%s: got answer %q and executed calls %q; want %q and %q", name, text.String(), executed.String(),
				c.wantText, want)
		}

		rows := h.usage("ann")
		if len(rows) != 1 || rows[0].Requests != 1 || rows[0].PromptTokens != c.prompt ||
			rows[0].CompletionTokens != int64(result.Usage.CompletionTokens) ||
			rows[0].CompletionTokens < 8 {
			t.Errorf("%s: got usage %+v, want %d prompt tokens and those of %+v", name, rows, c.prompt, result)
		}
	}

	if n := len(model.Requests()); n != 4 {
		t.Errorf("the model got %d requests, want 4", n)
	}
}

func TestAFailedCompletionReturnsItsReason(t *testing.T) {
	t.Parallel()
	model, url := inferencetest.Start(t)

	h := setupCompletions(t, inference.Upstream{BaseURL: url, Model: "hello"}, openai.New)
	for name, c := range map[string]struct {
		call     stream.Call
		before   func(*stream.Run)
		status   int
		wantText string
		paid     bool
	}{
		"not JSON":          {stream.Call{Body: []byte(`"x"`)}, nil, 500, "cannot be read", false},
		"no request":        {stream.Call{Body: []byte(`{}`)}, nil, 500, "cannot be read", false},
		"gone from storage": {stream.Call{BodyKey: "inputs/none"}, nil, 503, "from the store", false},
		"a retried run":     {stream.Call{Body: []byte(greeting)}, func(run *stream.Run) { run.Begun = true }, 502, "in the middle of the answer", true},
	} {
		t.Run(name, func(t *testing.T) {
			h.before, c.call.Owner = c.before, name

			frames := h.frames(c.call)

			last := frames[len(frames)-1]
			if len(frames) != 1 || last.Error == nil || last.Error.Status != c.status ||
				!strings.Contains(last.Error.Message, c.wantText) {
				t.Errorf("got frames %+v, want one error with status %d and %q", frames, c.status, c.wantText)
			}

			if rows := h.usage(name); (len(rows) == 1) != c.paid {
				t.Errorf("got usage %+v, want some: %t", rows, c.paid)
			}
		})
	}

	if n := len(model.Requests()); n != 0 {
		t.Errorf("the model got %d requests, want none", n)
	}
}
