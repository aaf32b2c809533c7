// Package ollama is a client of Ollama's own API (https://docs.ollama.com/api). It lists the models with their
// capabilities and pulls new ones, which the OpenAI API of Ollama cannot do. Completions use package openai.
package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"presswork/internal/inference"
)

// DefaultBase is the address where Ollama listens by default.
const DefaultBase = "http://127.0.0.1:11434"

const (
	maxBody   = 16 << 20 // bytes of an answer that is not a stream
	maxModels = 500      // models that are listed
	// requestTimeout bounds each request but a pull.
	requestTimeout = 5 * time.Second
	// stallTimeout bounds how long Ollama may send nothing during a pull.
	stallTimeout = 2 * time.Minute
)

// Client sends requests to one Ollama server. It is safe for concurrent use.
type Client struct {
	base string // address without a slash at its end
	http *http.Client

	mu sync.Mutex
	// infos caches the answers of /api/show by the digest of the model.
	infos map[string]modelInfo
}

// modelInfo is what /api/show tells about a model.
type modelInfo struct {
	capabilities []string
	context      int
}

// New returns a Client for a base address without a path. The default is DefaultBase.
func New(base string) *Client {
	if base == "" {
		base = DefaultBase
	}

	return &Client{
		base:  strings.TrimRight(base, "/"),
		infos: map[string]modelInfo{},
		http: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Models returns the models of the server, chat models first, each with this server as its upstream. It requests the
// list, and then the details of each model that it has not seen before; each request may take 5 s. A time-out is a
// net.Error. Models whose details cannot be read are left out.
func (c *Client) Models(ctx context.Context) ([]inference.Model, error) {
	var tags struct {
		Models []struct {
			Name   string `json:"name"`
			Digest string `json:"digest"`
		} `json:"models"`
	}
	if err := c.request(ctx, http.MethodGet, "/api/tags", nil, &tags); err != nil {
		return nil, err
	}
	seen := map[string]modelInfo{}
	var models []inference.Model

	for _, tag := range tags.Models[:min(len(tags.Models), maxModels)] {
		s, err := c.readInfo(ctx, tag.Name, tag.Digest)
		if slow, ok := errors.AsType[net.Error](err); ok && slow.Timeout() {
			return nil, err
		}

		if err != nil {
			continue // the model was deleted meanwhile, or is damaged
		}

		seen[tag.Digest] = s
		if m := c.newModel(tag.Name, s); len(m.Capabilities) > 0 {
			models = append(models, m)
		}
	}
	// Replace the cache, so that deleted models leave it.
	c.mu.Lock()
	c.infos = seen
	c.mu.Unlock()

	// Clients without a model in their settings use the first one for a chat.
	slices.SortStableFunc(models, func(a, b inference.Model) int {
		switch {
		case a.Can(inference.CanChat) == b.Can(inference.CanChat):
			return 0
		case a.Can(inference.CanChat):
			return -1
		}

		return 1
	})

	return models, nil
}

// newModel returns the catalogue entry for one of Ollama's models. The tag ":latest" may be omitted.
func (c *Client) newModel(name string, s modelInfo) inference.Model {
	m := inference.Model{
		ID: name, OwnedBy: "ollama", ContextWindow: s.context, Capabilities: []string{},
		Upstreams: []inference.Upstream{{Name: "ollama", Kind: inference.Ollama, BaseURL: c.base + "/v1", Model: name}},
	}
	if short, ok := strings.CutSuffix(name, ":latest"); ok {
		m.Aliases = []string{short}
	}

	for theirs, ours := range map[string]string{
		"completion": inference.CanChat, "embedding": inference.CanEmbed,
		"tools": inference.CanTools, "vision": inference.CanVision, "thinking": inference.CanReason,
	} {
		if slices.Contains(s.capabilities, theirs) {
			m.Capabilities = append(m.Capabilities, ours)
		}
	}
	slices.Sort(m.Capabilities)

	if !m.Can(inference.CanReason) {
		// Ollama rejects a reasoning effort for a model that does not reason.
		m.Reasoning.Efforts = &[]string{}
	}

	return m
}

// readInfo asks for the properties of a model. They are cached by digest, which identifies the model's content.
func (c *Client) readInfo(ctx context.Context, name, digest string) (modelInfo, error) {
	c.mu.Lock()
	s, ok := c.infos[digest]
	c.mu.Unlock()

	if ok {
		return s, nil
	}

	var reply struct {
		Capabilities []string                   `json:"capabilities"`
		Info         map[string]json.RawMessage `json:"model_info"`
	}
	if err := c.request(ctx, http.MethodPost, "/api/show", map[string]string{"model": name}, &reply); err != nil {
		return modelInfo{}, err
	}

	s = modelInfo{capabilities: reply.Capabilities}
	if s.capabilities == nil { // versions before 0.6 list none
		s.capabilities = []string{"completion", "tools"}
	}

	// The key begins with the architecture of the model, such as llama.context_length.
	for _, key := range slices.Sorted(maps.Keys(reply.Info)) {
		if strings.HasSuffix(key, ".context_length") {
			s.context = 0
			_ = json.Unmarshal(reply.Info[key], &s.context) // stays 0 if it is not a number
		}
	}

	return s, nil
}

// request sends question as JSON and decodes the answer. The error contains Ollama's own message.
func (c *Client) request(ctx context.Context, method, path string, question, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()

	resp, err := c.do(ctx, method, path, question)
	if err != nil {
		return err
	}
	defer resp.Body.Close()

	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return err
	}

	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("Ollama answered %d: %s", resp.StatusCode, errorOf(b))
	}

	return json.Unmarshal(b, answer)
}

// do sends a request. question may be nil. The caller closes the body.
func (c *Client) do(ctx context.Context, method, path string, question any) (*http.Response, error) {
	var body io.Reader

	if question != nil {
		b, err := json.Marshal(question)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}

	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")

	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("Ollama does not answer at %s: %w", c.base, err)
	}

	return resp, nil
}

// Progress is the progress of a pull.
type Progress struct {
	// Status is the text of Ollama, such as "pulling manifest".
	Status           string
	Completed, Total int64 // bytes of the current layer; Total is 0 if there is nothing to count
}

// Pull downloads a model and calls progress for each step, from one goroutine. It returns nil when the model is
// complete. After an interruption, the next Pull continues where the last one stopped. Pull fails if Ollama sends
// nothing for 2 minutes.
func (c *Client) Pull(ctx context.Context, name string, progress func(Progress)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	stall := time.AfterFunc(stallTimeout, func() { cancel(fmt.Errorf("Ollama sent nothing for %s", stallTimeout)) })
	defer stall.Stop()

	resp, err := c.do(ctx, http.MethodPost, "/api/pull", map[string]any{"model": name, "stream": true})
	if err != nil {
		return err
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return fmt.Errorf("Ollama cannot fetch %q: %s", name, errorOf(b))
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)

	for lines.Scan() {
		stall.Reset(stallTimeout)

		var line struct {
			Status    string `json:"status"`
			Error     string `json:"error"`
			Total     int64  `json:"total"`
			Completed int64  `json:"completed"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return errors.New("Ollama sent invalid JSON")
		}

		if line.Error != "" {
			return fmt.Errorf("Ollama cannot fetch %q: %s", name, line.Error)
		}
		progress(Progress{line.Status, line.Completed, line.Total})

		if line.Status == "success" {
			return nil
		}
	}

	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	if err := lines.Err(); err != nil {
		return err
	}

	return fmt.Errorf("Ollama stopped before %q was complete", name)
}

// errorOf returns the message in an error's body.
func errorOf(body []byte) string {
	var reply struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &reply) == nil && reply.Error != "" {
		return reply.Error
	}

	return "no reason given"
}
