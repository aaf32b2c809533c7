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

// callHandler is the handler of the scripted worker.
type callHandler = func(ctx context.Context, run *stream.Run) error

// send sends a frame. It ignores the error of a client that has disconnected.
func send(t *testing.T, run *stream.Run, f inference.Frame) {
	t.Helper()

	b, err := json.Marshal(f)
	if err != nil {
		t.Error(err)
	}
	_ = run.Send(b)
}

// finish sends the last frame of a run.
func finish(run *stream.Run, f inference.Frame) error {
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}

	return run.Finish(b)
}

// firstFrame returns the frame that begins an answer.
func firstFrame() inference.Frame {
	return inference.Frame{Chunk: &inference.Chunk{First: true, Fingerprint: "fp_1"}}
}

// contentFrame returns a frame with a piece of text.
func contentFrame(s string) inference.Frame {
	return inference.Frame{Chunk: &inference.Chunk{Content: s}}
}

// sayHello returns a handler that answers every call with "Hello".
func sayHello(t *testing.T) callHandler {
	return func(_ context.Context, run *stream.Run) error { return answerHello(t, run) }
}

// answerHello ends a run with the answer "Hello".
func answerHello(t *testing.T, run *stream.Run) error {
	send(t, run, firstFrame())
	send(t, run, contentFrame("Hello"))
	send(t, run, inference.Frame{Chunk: &inference.Chunk{Finish: "stop", Usage: &inference.Usage{TotalTokens: 3}}})

	return finish(run, inference.Frame{Result: &inference.Result{}})
}

// serveChat starts a server and a worker that runs h. The model "m" is for chats, "text" for text completions.
func serveChat(t *testing.T, h callHandler, change ...func(*api.Options)) *harness {
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
	chatBody   = `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`
	streamBody = `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}`
)

// chat sends a chat completion.
func (h *harness) chat(body string, headers ...string) reply {
	h.t.Helper()

	return h.do(
		"POST",
		"/v1/chat/completions",
		strings.NewReader(body),
		append([]string{"Content-Type: application/json"}, headers...)...)
}

func TestCompletionWithoutAWorkerIsRejected(t *testing.T) {
	t.Parallel()

	h := serveChat(t, sayHello(t), func(o *api.Options) {
		o.Inference.QueueTimeout, o.Inference.Patience = time.Millisecond, 50*time.Millisecond
		o.Inference.Calls = unservedCalls{o.Inference.Calls.(*tasks.Client)}
	})
	for name, body := range map[string]string{"whole": chatBody, "streamed": streamBody} {
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
					t.Errorf("got %d %s; want 200, a comment, then queue_unavailable", res.StatusCode, body)
				}

				return
			}
			res := h.chat(body)
			res.want(t, http.StatusServiceUnavailable, fault.QueueUnavailable)

			if header := res.Header; header.Get("Retry-After") != "30" || header.Get("X-Should-Retry") != "true" {
				t.Errorf("the headers are %v, want a retry after 30 s", header)
			}
		})
	}
}

// unservedCalls puts calls on the queue tools, which no worker of these tests serves.
type unservedCalls struct{ *tasks.Client }

func (u unservedCalls) Call(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	return u.OpenTools(ctx, call)
}

func TestClientTimeoutEndsTheRun(t *testing.T) {
	t.Parallel()
	var started atomic.Int32
	ended := make(chan error, 100)
	h := serveChat(t, func(ctx context.Context, run *stream.Run) error {
		started.Add(1)
		<-ctx.Done()
		ended <- context.Cause(ctx)

		return context.Cause(ctx)
	})

	for body, header := range map[string]string{chatBody: "X-Stainless-Timeout: 0.3", streamBody: "X-Stainless-Read-Timeout: 0.3"} {
		before := started.Load()
		wait.Until(t, "a run starts within the time-out of its client", func() bool {
			h.chat(body, header).want(t, http.StatusGatewayTimeout, inference.UpstreamTimeout)
			return started.Load() > before
		})

		if cause := wait.Receive(t, "the end of the run", ended); !errors.Is(cause, stream.ErrLeft) {
			t.Errorf("the run ended with %v, want %v", cause, stream.ErrLeft)
		}
	}
}

func TestRetryWithIdempotencyKeyGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	started, release := make(chan struct{}, 2), make(chan struct{})
	h := serveChat(t, func(ctx context.Context, run *stream.Run) error {
		runs.Add(1)
		started <- struct{}{}

		select {
		case <-release:
		case <-ctx.Done():
			return context.Cause(ctx)
		}

		return answerHello(t, run)
	})
	// The first client disconnects while the worker answers.
	ctx, disconnect := context.WithCancel(t.Context())

	req, err := http.NewRequestWithContext(ctx, "POST", h.url("/v1/chat/completions"), strings.NewReader(streamBody))
	if err != nil {
		t.Fatal(err)
	}

	for name, value := range map[string]string{"Content-Type": "application/json", "X-Api-Key": testKey, "Idempotency-Key": "k"} {
		req.Header.Set(name, value)
	}

	go func() {
		<-started
		disconnect()
	}()

	if res, err := h.client.Do(req); err == nil {
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	h.chat(chatBody, "Idempotency-Key: k").want(t, http.StatusConflict, "idempotency_conflict")
	close(release)
	id := regexp.MustCompile(`"id":"chatcmpl-[0-9a-f-]{36}"`)
	var ids []string

	for range 2 {
		res := h.chat(streamBody, "Idempotency-Key: k")
		if !strings.Contains(string(res.body), "Hello") || !strings.Contains(string(res.body), "[DONE]") ||
			res.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("got %d %v %s; want the first answer again", res.StatusCode, res.Header, res.body)
		}
		ids = append(ids, id.FindString(string(res.body)))
	}

	if ids[0] == "" || ids[0] != ids[1] {
		t.Errorf("the repeated answers have the ids %q, want one id", ids)
	}
	h.chat(chatBody, "Idempotency-Key: "+strings.Repeat("k", 256)).want(t, http.StatusBadRequest, "invalid_option")

	if n := runs.Load(); n != 1 {
		t.Errorf("the worker ran %d times, want once", n)
	}
}

// busyQueue reports 100 waiting calls.
type busyQueue struct{ openai.Calls }

func (busyQueue) Waiting(context.Context) (int64, error) { return 100, nil }

func TestFlexIsRejectedWhileManyCallsWait(t *testing.T) {
	t.Parallel()
	h := serveChat(t, sayHello(t),
		func(o *api.Options) { o.Inference.Calls = busyQueue{o.Inference.Calls} })
	res := h.chat(strings.Replace(chatBody, "{", `{"service_tier":"flex",`, 1))
	res.want(t, 498, "capacity_exceeded")

	if res.Header.Get("X-Should-Retry") != "true" || res.Header.Get("Retry-After") != "5" {
		t.Errorf("the headers are %v, want a retry", res.Header)
	}
	h.chat(chatBody).want(t, http.StatusOK, "")
}

func TestKeyLimitsOfCompletions(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}, 8), make(chan struct{})
	h := serveChat(t, func(ctx context.Context, run *stream.Run) error {
		if run.Call.Owner == "one" {
			started <- struct{}{}

			select {
			case <-release:
			case <-ctx.Done():
			}
		}

		return answerHello(t, run)
	}, withoutKeys, keysFile(t, `keys:
  - {name: one, key: ones, concurrency: 1}
  - {name: few, key: fews, tpm: 1100, models: ["m*"]}
  - {name: other, key: others, models: ["x/*"]}
`))
	h.key = ""

	done := make(chan reply)
	go func() { done <- h.chat(chatBody, "Authorization: Bearer ones") }()
	<-started
	res := h.chat(chatBody, "Authorization: Bearer ones")
	res.want(t, http.StatusTooManyRequests, "rate_limit_exceeded")

	if res.Header.Get("X-Should-Retry") != "true" || res.Header.Get("Retry-After") == "" {
		t.Errorf("the headers are %v, want a retry", res.Header)
	}
	close(release)
	(<-done).want(t, http.StatusOK, "")
	h.chat(chatBody, "Authorization: Bearer ones").want(t, http.StatusOK, "")

	// The tokens that a short answer did not use are returned, so three requests fit.
	for range 3 {
		h.chat(streamBody, "Authorization: Bearer fews").want(t, http.StatusOK, "")
	}

	res = h.chat(strings.Replace(chatBody, "{", `{"max_tokens":2000,`, 1), "X-API-Key: fews")
	if res.StatusCode != http.StatusRequestEntityTooLarge || res.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("got %d %s, want 413 and no retry", res.StatusCode, res.body)
	}
	h.chat(chatBody, "Authorization: Bearer others").want(t, http.StatusNotFound, inference.ModelNotFound)

	misspelt := strings.Replace(chatBody, `"m"`, `"mm"`, 1)
	if res := h.chat(misspelt, "Authorization: Bearer ones"); !strings.Contains(string(res.body), "Did you mean `m`") {
		t.Errorf("got %s, want a suggestion", res.body)
	}

	res = h.chat(misspelt, "Authorization: Bearer others")
	if res.StatusCode != http.StatusNotFound || strings.Contains(string(res.body), "`m`") {
		t.Errorf("an error names a model that the key may not use: %s", res.body)
	}
	h.chat(chatBody, "Authorization: Bearer nobodys").want(t, http.StatusUnauthorized, "invalid_api_key")
}

func TestTextCompletions(t *testing.T) {
	t.Parallel()
	h := serveChat(t, func(_ context.Context, run *stream.Run) error {
		var job inference.Job

		err := json.Unmarshal(run.Call.Body, &job)
		if err != nil || job.Request.Text == nil || string(job.Request.Text.Prompt) != `"Once"` {
			t.Errorf("the worker got %s (%v), want the prompt Once", run.Call.Body, err)
		}

		return answerHello(t, run)
	})

	post := func(path, body string) reply {
		return h.do("POST", path, strings.NewReader(body), "Content-Type: application/json")
	}
	for _, path := range []string{"/v1/completions", "/openai/v1/completions"} {
		res := post(path, `{"model":"text","prompt":"Once"}`)

		b := string(res.body)
		if res.StatusCode != http.StatusOK || !strings.Contains(b, `"object":"text_completion"`) ||
			!strings.Contains(b, `"choices":[{"index":0,"text":"Hello","logprobs":null,"finish_reason":"stop"}]`) {
			t.Errorf("%s: got %d %s, want 200 and the text Hello", path, res.StatusCode, b)
		}
	}
	// A comment may come before the first chunk.
	b := strings.TrimPrefix(
		string(post("/v1/completions", `{"model":"text","prompt":"Once","stream":true}`).body),
		": ping\n",
	)
	if !strings.HasPrefix(b, `data: {"id":"cmpl-`) || !strings.Contains(b, `{"index":0,"text":"Hello",`) ||
		!strings.HasSuffix(b, "data: [DONE]\n\n") || strings.Contains(b, "role") {
		t.Errorf("the stream is %s, want chunks of a text completion", b)
	}
	post("/v1/completions", `{"model":"m","prompt":"Once"}`).want(t, http.StatusBadRequest, fault.InvalidOption)
	h.chat(strings.Replace(chatBody, `"m"`, `"text"`, 1)).want(t, http.StatusBadRequest, fault.InvalidOption)
}
