package inferencetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// started is the zero of Clock.
var started = time.Now()

// Clock returns the time since this process started, by the monotonic clock. The tokens of the scenario "stamps" are
// nanoseconds of the same clock.
func Clock() time.Duration { return time.Since(started) }

// Request is one request that the server received.
type Request struct {
	Header http.Header
	Raw    []byte
	Body   Body
}

// Body holds the fields of a request that scenarios read.
type Body struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice any `json:"tool_choice"`
	N          int `json:"n"`
	Logprobs   any `json:"logprobs"`
	// Prompt is set in a request to /v1/completions.
	Prompt any `json:"prompt"`
}

// Server is a scripted model server. It is an http.Handler for /v1/chat/completions, /v1/completions, /v1/audio,
// /v1/embeddings, /v1/rerank, /v1/models, /v1/messages, the routes that count tokens, and /inference of whisper-server.
// It is safe for concurrent use.
type Server struct {
	mu       sync.Mutex
	requests []Request
	// recordings are the files of transcription requests.
	recordings []Recording
	seen       map[string]int // the number of requests, by model
	// disconnected counts clients that disconnected before the end of their answer.
	disconnected int
	broken       bool          // Break was called
	changed      chan struct{} // closed at the next change
}

// NewServer returns a Server that does not listen yet.
func NewServer() *Server {
	return &Server{seen: map[string]int{}, changed: make(chan struct{})}
}

// Start starts a Server for a test and returns its base URL, which ends in /v1.
func Start(t testing.TB) (*Server, string) {
	t.Helper()
	s := NewServer()
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.CloseClientConnections() // some scenarios hang until the client disconnects
		web.Close()
	})

	return s, web.URL + "/v1"
}

// Requests returns the requests received so far, without those for transcriptions.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Clone(s.requests)
}

// Break makes all further completions fail with status 503.
func (s *Server) Break() { s.change(func() { s.broken = true }) }

// isBroken reports whether Break was called.
func (s *Server) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.broken
}

// WaitRequests waits until the server has received n requests. The error is the cause of ctx.
func (s *Server) WaitRequests(ctx context.Context, n int) error {
	return s.waitUntil(ctx, func() bool { return len(s.requests) >= n })
}

// WaitDisconnected waits until n clients have disconnected before the end of their answer. The error is the cause of
// ctx.
func (s *Server) WaitDisconnected(ctx context.Context, n int) error {
	return s.waitUntil(ctx, func() bool { return s.disconnected >= n })
}

// waitUntil waits until done returns true. It calls done after each change of the server's state.
func (s *Server) waitUntil(ctx context.Context, done func() bool) error {
	for {
		s.mu.Lock()
		ok, changed := done(), s.changed
		s.mu.Unlock()

		if ok {
			return nil
		}

		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// change runs f under the lock and wakes the calls of waitUntil.
func (s *Server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// ServeHTTP answers with the scenario of the model.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path.Base(r.URL.Path) {
	case "models":
		s.listModels(w)
		return
	case "transcriptions", "translations", "inference":
		s.transcribe(w, r)
		return
	case "speech":
		s.speak(w, r)
		return
	case "embeddings":
		s.vectorize(w, r, vectorizers)
		return
	case "rerank":
		s.vectorize(w, r, rankers)
		return
	case "generations", "moderations":
		s.relay(w, r)
		return
	case "messages":
		s.message(w, r)
		return
	case "count_tokens", "apply-template", "tokenize":
		s.countTokens(w, r)
		return
	}
	raw, err := io.ReadAll(r.Body)

	req := Request{Header: r.Header.Clone(), Raw: raw}
	if err != nil || json.Unmarshal(raw, &req.Body) != nil {
		fail(w, http.StatusBadRequest, "the body is not JSON")
		return
	}
	name := path.Base(req.Body.Model)
	base, argument, _ := strings.Cut(name, ":")

	scenario, known := scenarios[base]
	if !known {
		scenario, known = toolScenarios[base]
	}

	if !known {
		fail(w, http.StatusNotFound, fmt.Sprintf("model %q not found", req.Body.Model))
		return
	}
	c := &call{w: w, r: r, body: req.Body, argument: argument}
	s.change(func() {
		s.requests = append(s.requests, req)
		c.index = s.seen[req.Body.Model]
		s.seen[req.Body.Model]++
	})

	if s.isBroken() {
		fail(w, http.StatusServiceUnavailable, "scripted failure")
		return
	}
	scenario(c)

	if r.Context().Err() != nil && !c.complete {
		s.change(func() { s.disconnected++ })
	}
}

// listModels answers GET /v1/models with all scenarios.
func (s *Server) listModels(w http.ResponseWriter) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}

	var data []model

	others := slices.Concat(slices.Sorted(maps.Keys(transcribers)), slices.Sorted(maps.Keys(speakers)),
		slices.Sorted(maps.Keys(vectorizers)), slices.Sorted(maps.Keys(rankers)))
	for _, name := range slices.Concat(Scenarios(), slices.Sorted(maps.Keys(messageScenarios)), others) {
		data = append(data, model{name, "model", 1770770815, "inferencetest"})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
}

// Scenarios returns the names of the chat models, sorted.
func Scenarios() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(scenarios)), maps.Keys(toolScenarios))
	slices.Sort(names)

	return names
}

// fail sends an error in the form of the OpenAI API.
func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":%q,"type":"scripted","code":null}}`, message)
}
