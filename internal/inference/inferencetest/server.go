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

var started = time.Now()

// Clock is the time since this process began, by its steady clock: what the
// stamps of a scenario are compared with.
func Clock() time.Duration { return time.Since(started) }

// Request is what the server was asked.
type Request struct {
	Header http.Header
	Raw    []byte
	Body   Body
}

// Body is the part of a request that scenarios look at.
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
	// Prompt is that of a request to continue texts.
	Prompt any `json:"prompt"`
}

// Server is a scripted model server. It is an http.Handler for
// /v1/chat/completions, /v1/audio, whisper-server's /inference and /v1/models, and safe for concurrent use.
type Server struct {
	mu       sync.Mutex
	requests []Request
	// recordings are what was sent to be transcribed.
	recordings []Recording
	seen       map[string]int // by model
	left       int
	broken     bool
	changed    chan struct{} // closed at the next change
}

// NewServer makes a Server that listens nowhere yet.
func NewServer() *Server {
	return &Server{seen: map[string]int{}, changed: make(chan struct{})}
}

// Start starts a Server for a test and returns its base URL, which ends in /v1.
func Start(t testing.TB) (*Server, string) {
	t.Helper()
	s := NewServer()
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.CloseClientConnections() // some scenarios hang until their client goes
		web.Close()
	})

	return s, web.URL + "/v1"
}

// Requests lists the completions asked for so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Clone(s.requests)
}

// Break makes every further completion fail with 503.
func (s *Server) Break() { s.change(func() { s.broken = true }) }

func (s *Server) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.broken
}

// WaitRequests waits until n completions were asked for.
func (s *Server) WaitRequests(ctx context.Context, n int) error {
	return s.wait(ctx, func() bool { return len(s.requests) >= n })
}

// WaitLeft waits until n clients have left before the end of their answer.
func (s *Server) WaitLeft(ctx context.Context, n int) error {
	return s.wait(ctx, func() bool { return s.left >= n })
}

func (s *Server) wait(ctx context.Context, done func() bool) error {
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

// change runs f and wakes who waits.
func (s *Server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// ServeHTTP answers by the scenario of the model.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path.Base(r.URL.Path) {
	case "models":
		s.models(w)
		return
	case "transcriptions", "translations", "inference":
		s.hear(w, r)
		return
	case "speech":
		s.speak(w, r)
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
		fail(w, http.StatusNotFound, fmt.Sprintf("model %q not found", req.Body.Model))
		return
	}
	c := &call{w: w, r: r, body: req.Body, argument: argument}
	s.change(func() {
		s.requests = append(s.requests, req)
		c.turn = s.seen[req.Body.Model]
		s.seen[req.Body.Model]++
	})

	if s.isBroken() {
		fail(w, http.StatusServiceUnavailable, "scripted failure")
		return
	}
	scenario(c)

	if r.Context().Err() != nil && !c.complete {
		s.change(func() { s.left++ })
	}
}

func (s *Server) models(w http.ResponseWriter) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}

	var data []model
	for _, name := range slices.Concat(Scenarios(), slices.Sorted(maps.Keys(sounds)), slices.Sorted(maps.Keys(voices))) {
		data = append(data, model{name, "model", 1770770815, "inferencetest"})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
}

// Scenarios lists the names a model may have.
func Scenarios() []string { return slices.Sorted(maps.Keys(scenarios)) }

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":%q,"type":"scripted","code":null}}`, message)
}
