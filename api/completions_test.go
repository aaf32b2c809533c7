package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/api"
	"presswork/api/openai"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/catalogue"
	"presswork/internal/inference/meter"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/stream"
)

// talk is the handler of the scripted worker.
type talk = func(ctx context.Context, run *stream.Run) error

// send sends a frame. It ignores that the client has left.
func send(t *testing.T, run *stream.Run, f inference.Frame) {
	t.Helper()

	b, err := json.Marshal(f)
	if err != nil {
		t.Error(err)
	}
	_ = run.Send(b)
}

func finish(run *stream.Run, f inference.Frame) error {
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}

	return run.Finish(b)
}

func first() inference.Frame {
	return inference.Frame{Chunk: &inference.Chunk{First: true, Fingerprint: "fp_1"}}
}

func word(s string) inference.Frame { return inference.Frame{Chunk: &inference.Chunk{Content: s}} }

// say ends a run with an answer of one word.
func say(t *testing.T, run *stream.Run) error {
	send(t, run, first())
	send(t, run, word("Hello"))
	send(t, run, inference.Frame{Chunk: &inference.Chunk{Finish: "stop", Usage: &inference.Usage{TotalTokens: 3}}})

	return finish(run, inference.Frame{Result: &inference.Result{}})
}

// chats starts a server whose worker is h. It has a chat model "m" and a model "text" for text completions.
func chats(t *testing.T, h talk, change ...func(*api.Options)) *harness {
	t.Helper()
	address := redistest.Start(t)

	client, err := tasks.NewClient(address, tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}

	worker, err := tasks.NewServer(
		address,
		tasks.Options{Queues: []tasks.Queue{tasks.Infer}, DrainTimeout: time.Second},
	)
	if err != nil {
		t.Fatal(err)
	}
	tasks.HandleCalls(worker, h)

	for _, p := range []interface {
		Start(context.Context) error
		Stop(context.Context) error
	}{client, worker} {
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Stop(context.Background()) })
	}

	models := filepath.Join(t.TempDir(), "models.yaml")

	err = os.WriteFile(
		models,
		[]byte(
			"models: [{id: m, upstreams: [{base_url: 'http://127.0.0.1:1/v1'}]}, {id: text, capabilities: [completions], upstreams: [{base_url: 'http://127.0.0.1:1/v1'}]}]",
		),
		0o600,
	)
	if err != nil {
		t.Fatal(err)
	}

	source, err := catalogue.NewSource(t.Context(), catalogue.SourceOptions{Path: models})
	if err != nil {
		t.Fatal(err)
	}

	o, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(o)
	t.Cleanup(func() { rdb.Close() })
	server := serve(t, append([]func(*api.Options){func(o *api.Options) {
		o.Inference = &api.Inference{Calls: client, Models: source.Current, Vendor: "presswork", Patience: time.Minute}
		o.Meter = meter.New(rdb, slog.New(slog.DiscardHandler))
	}}, change...)...)
	server.redis = rdb

	return server
}

const (
	asked    = `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`
	streamed = `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}`
)

func (h *harness) chat(body string, headers ...string) reply {
	h.t.Helper()

	return h.do(
		"POST",
		"/v1/chat/completions",
		strings.NewReader(body),
		append([]string{"Content-Type: application/json"}, headers...)...)
}

func TestACompletionThatNoWorkerBeginsIsRejected(t *testing.T) {
	t.Parallel()

	h := chats(t, func(_ context.Context, run *stream.Run) error { return say(t, run) }, func(o *api.Options) {
		o.Inference.QueueTimeout, o.Inference.Patience = time.Millisecond, 50*time.Millisecond
		o.Inference.Calls = unserved{o.Inference.Calls.(*tasks.Client)}
	})
	for name, body := range map[string]string{"whole": asked, "streamed": streamed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if name == "streamed" {
				var res reply
				// The server looks for a worker every 5 s. That may happen before the first comment.
				wait.Until(t, "a stream begins", func() bool {
					res = h.chat(body)
					return res.StatusCode != http.StatusServiceUnavailable
				})

				body := string(res.body)
				if res.StatusCode != http.StatusOK || !strings.HasPrefix(body, ": ping") ||
					!strings.Contains(body, `data: {"error":{"message":"no worker has begun`) ||
					!strings.Contains(body, `"service_unavailable","code":"queue_unavailable"`) {
					t.Errorf("%d %s", res.StatusCode, body)
				}

				return
			}
			res := h.chat(body)
			res.want(t, http.StatusServiceUnavailable, fault.QueueUnavailable)

			if header := res.Header; header.Get("Retry-After") != "30" || header.Get("X-Should-Retry") != "true" {
				t.Errorf("%v", header)
			}
		})
	}
}

// unserved puts calls on the queue tools, which no worker of these tests serves.
type unserved struct{ *tasks.Client }

func (u unserved) Call(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	return u.OpenTools(ctx, call)
}

func TestTheClientsTimeOutEndsTheWork(t *testing.T) {
	t.Parallel()
	var begun atomic.Int32
	ended := make(chan error, 100)
	h := chats(t, func(ctx context.Context, run *stream.Run) error {
		begun.Add(1)
		<-ctx.Done()
		ended <- context.Cause(ctx)

		return context.Cause(ctx)
	})

	for body, header := range map[string]string{asked: "X-Stainless-Timeout: 0.3", streamed: "X-Stainless-Read-Timeout: 0.3"} {
		before := begun.Load()
		wait.Until(t, "a call begins within its time-out", func() bool {
			h.chat(body, header).want(t, http.StatusGatewayTimeout, inference.UpstreamTimeout)
			return begun.Load() > before
		})

		if cause := wait.Receive(t, "the work's end", ended); !errors.Is(cause, stream.ErrLeft) {
			t.Errorf("the work ended for %v", cause)
		}
	}
}

func TestARetryWithItsKeyGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	begun, speak := make(chan struct{}, 2), make(chan struct{})
	h := chats(t, func(ctx context.Context, run *stream.Run) error {
		runs.Add(1)
		begun <- struct{}{}

		select {
		case <-speak:
		case <-ctx.Done():
			return context.Cause(ctx)
		}

		return say(t, run)
	})
	// The first client leaves while the model works.
	ctx, leave := context.WithCancel(t.Context())

	req, err := http.NewRequestWithContext(ctx, "POST", h.url("/v1/chat/completions"), strings.NewReader(streamed))
	if err != nil {
		t.Fatal(err)
	}

	for name, value := range map[string]string{"Content-Type": "application/json", "X-Api-Key": testKey, "Idempotency-Key": "k"} {
		req.Header.Set(name, value)
	}

	go func() {
		<-begun
		leave()
	}()

	if res, err := h.client.Do(req); err == nil {
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	h.chat(asked, "Idempotency-Key: k").want(t, http.StatusConflict, "idempotency_conflict")
	close(speak)
	id := regexp.MustCompile(`"id":"chatcmpl-[0-9a-f-]{36}"`)
	var ids []string

	for range 2 {
		res := h.chat(streamed, "Idempotency-Key: k")
		if !strings.Contains(string(res.body), "Hello") || !strings.Contains(string(res.body), "[DONE]") ||
			res.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%d %v %s", res.StatusCode, res.Header, res.body)
		}
		ids = append(ids, id.FindString(string(res.body)))
	}

	if ids[0] == "" || ids[0] != ids[1] {
		t.Errorf("the same answer has the ids %q", ids)
	}
	h.chat(asked, "Idempotency-Key: "+strings.Repeat("k", 256)).want(t, http.StatusBadRequest, "invalid_option")

	if n := runs.Load(); n != 1 {
		t.Errorf("the model worked %d times", n)
	}
}

// busy reports many waiting calls.
type busy struct{ openai.Calls }

func (busy) Waiting(context.Context) (int64, error) { return 100, nil }

func TestFlexIsRejectedWhileManyCallsWait(t *testing.T) {
	t.Parallel()
	h := chats(t, func(_ context.Context, run *stream.Run) error { return say(t, run) },
		func(o *api.Options) { o.Inference.Calls = busy{o.Inference.Calls} })
	res := h.chat(strings.Replace(asked, "{", `{"service_tier":"flex",`, 1))
	res.want(t, 498, "capacity_exceeded")

	if res.Header.Get("X-Should-Retry") != "true" || res.Header.Get("Retry-After") != "5" {
		t.Errorf("%v", res.Header)
	}
	h.chat(asked).want(t, http.StatusOK, "")
}

func TestLimitsOfAKeyOnCompletions(t *testing.T) {
	t.Parallel()
	begun, speak := make(chan struct{}, 8), make(chan struct{})
	h := chats(t, func(ctx context.Context, run *stream.Run) error {
		if run.Call.Owner == "one" {
			begun <- struct{}{}

			select {
			case <-speak:
			case <-ctx.Done():
			}
		}

		return say(t, run)
	}, open, keysFile(t, `keys:
  - {name: one, key: ones, concurrency: 1}
  - {name: few, key: fews, tpm: 1100, models: ["m*"]}
  - {name: other, key: others, models: ["x/*"]}
`))
	h.key = ""

	done := make(chan reply)
	go func() { done <- h.chat(asked, "Authorization: Bearer ones") }()
	<-begun
	res := h.chat(asked, "Authorization: Bearer ones")
	res.want(t, http.StatusTooManyRequests, "rate_limit_exceeded")

	if res.Header.Get("X-Should-Retry") != "true" || res.Header.Get("Retry-After") == "" {
		t.Errorf("%v", res.Header)
	}
	close(speak)
	(<-done).want(t, http.StatusOK, "")
	h.chat(asked, "Authorization: Bearer ones").want(t, http.StatusOK, "")

	// Tokens that a short answer did not need are given back.
	for range 3 {
		h.chat(streamed, "Authorization: Bearer fews").want(t, http.StatusOK, "")
	}

	res = h.chat(strings.Replace(asked, "{", `{"max_tokens":2000,`, 1), "X-API-Key: fews")
	if res.StatusCode != http.StatusRequestEntityTooLarge || res.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	h.chat(asked, "Authorization: Bearer others").want(t, http.StatusNotFound, inference.ModelNotFound)

	misspelt := strings.Replace(asked, `"m"`, `"mm"`, 1)
	if res := h.chat(misspelt, "Authorization: Bearer ones"); !strings.Contains(string(res.body), "Did you mean `m`") {
		t.Errorf("%s", res.body)
	}

	res = h.chat(misspelt, "Authorization: Bearer others")
	if res.StatusCode != http.StatusNotFound || strings.Contains(string(res.body), "`m`") {
		t.Errorf("an error names a model that the key may not use: %s", res.body)
	}
	h.chat(asked, "Authorization: Bearer nobodys").want(t, http.StatusUnauthorized, "invalid_api_key")
}

func TestATextCompletionContinuesThePrompt(t *testing.T) {
	t.Parallel()
	h := chats(t, func(_ context.Context, run *stream.Run) error {
		var job inference.Job

		err := json.Unmarshal(run.Call.Body, &job)
		if err != nil || job.Request.Text == nil || string(job.Request.Text.Prompt) != `"Once"` {
			t.Errorf("the worker got %s (%v)", run.Call.Body, err)
		}

		return say(t, run)
	})

	text := func(path, body string) reply {
		return h.do("POST", path, strings.NewReader(body), "Content-Type: application/json")
	}
	for _, path := range []string{"/v1/completions", "/openai/v1/completions"} {
		res := text(path, `{"model":"text","prompt":"Once"}`)

		b := string(res.body)
		if res.StatusCode != http.StatusOK || !strings.Contains(b, `"object":"text_completion"`) ||
			!strings.Contains(b, `"choices":[{"index":0,"text":"Hello","logprobs":null,"finish_reason":"stop"}]`) {
			t.Errorf("%s: %d %s", path, res.StatusCode, b)
		}
	}
	// A comment may come before the first chunk.
	b := strings.TrimPrefix(
		string(text("/v1/completions", `{"model":"text","prompt":"Once","stream":true}`).body),
		": ping\n",
	)
	if !strings.HasPrefix(b, `data: {"id":"cmpl-`) || !strings.Contains(b, `{"index":0,"text":"Hello",`) ||
		!strings.HasSuffix(b, "data: [DONE]\n\n") || strings.Contains(b, "role") {
		t.Errorf("streamed: %s", b)
	}
	text("/v1/completions", `{"model":"m","prompt":"Once"}`).want(t, http.StatusBadRequest, fault.InvalidOption)
	h.chat(strings.Replace(asked, `"m"`, `"text"`, 1)).want(t, http.StatusBadRequest, fault.InvalidOption)
}
