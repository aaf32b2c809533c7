package anthropic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/anthropic"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/golden"
	"presswork/internal/test/wait"
)

// model returns a model that plays a scenario of inferencetest.
func model(scenario, base string) inference.Model {
	return inference.Model{
		ID: scenario,
		Capabilities: []string{
			inference.CanChat, inference.CanTools, inference.CanVision, inference.CanReason,
		},
		Upstreams: []inference.Upstream{
			{Name: "scripted", Kind: inference.Anthropic, BaseURL: base, APIKey: "secret"},
		},
		Routing: inference.Routing{Retries: new(0)},
	}
}

// request returns a request with the message "Hi".
func request(model string) *inference.Request {
	return &inference.Request{
		Model: model, ReasoningFormat: inference.Parsed, IncludeReasoning: true,
		Messages: []inference.Message{{Role: inference.User, Parts: []inference.Part{{Text: "Hi"}}}},
		Tools:    []inference.Tool{{Type: inference.FunctionTool, Name: "weather"}},
	}
}

// complete runs a request and returns its chunks as lines of JSON.
func complete(t *testing.T, r *inference.Request, models ...inference.Model) (string, inference.Result, error) {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	c := inference.NewCatalogue(models)
	g := gateway.New(gateway.Options{Catalogue: func() *inference.Catalogue { return c }, Open: anthropic.New})
	var lines []string

	result, err := g.Complete(ctx, r, func(chunk *inference.Chunk) error {
		shown := *chunk
		if shown.Usage != nil { // the times of each run differ
			u := *shown.Usage
			u.PromptTime, u.CompletionTime, u.TotalTime = 0, 0, 0
			shown.Usage = &u
		}

		if shown.First {
			shown.Fingerprint = ""
		}
		b, err := json.Marshal(&shown)
		lines = append(lines, string(b))

		return err
	})

	return strings.Join(lines, "\n") + "\n", result, err
}

func TestStreamsBecomeChunks(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)

	for _, scenario := range []string{
		"claude-text", "claude-think", "claude-call", "claude-cite", "claude-stop", "claude-length", "claude-refusal",
		"claude-strange",
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()

			chunks, result, err := complete(t, request(scenario), model(scenario, base))
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, scenario+".golden", []byte(chunks))

			if u := result.Usage; u.PromptTokens != 127 || u.CachedTokens == nil || *u.CachedTokens != 100 ||
				u.WrittenTokens == nil || *u.WrittenTokens != 20 || u.EstimatedTokens != 0 {
				t.Errorf("the usage is %+v, want 127 tokens: 100 of the cache, 20 written to it", u)
			}
		})
	}
}

func TestFailuresHaveTheStatusForCallers(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)

	for scenario, want := range map[string]struct {
		status int
		code   string
	}{
		"claude-529":    {503, "upstream_unavailable"},
		"claude-fails":  {503, "upstream_unavailable"},
		"claude-breaks": {502, "upstream_error"},
		"claude-cut":    {502, "upstream_error"},
		"claude-pause":  {502, "upstream_error"},
		"claude-400":    {400, "context_length_exceeded"},
		"claude-401":    {502, "upstream_error"},
		"claude-none":   {502, "upstream_error"},
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			_, result, err := complete(t, request(scenario), model(scenario, base))

			e := inference.AsError(err)
			if e == nil || e.Status != want.status || string(e.Code) != want.code {
				t.Errorf("got %v, want %d %s", e, want.status, want.code)
			}

			if strings.Contains(fmt.Sprint(e), "secret") {
				t.Errorf("the error has the key: %v", e)
			}

			if began := scenario == "claude-breaks" || scenario == "claude-cut"; began &&
				result.Usage.PromptTokens == 0 {
				t.Error("the usage of a stream that broke off is 0, want that of the prompt")
			}
		})
	}
}

func TestAWholeAnswerIsRead(t *testing.T) {
	t.Parallel()

	for name, body := range map[string]string{
		"message": `{"type":"message","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"a","name":"weather",` +
			`"input":{"city":"Oslo"}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}}`,
		"error":      `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`,
		"not a type": `{"choices":[]}`,
		"not JSON":   `oh no`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, body)
			}))
			defer web.Close()
			chunks, _, err := complete(t, request("m"), model("m", web.URL))

			switch e := inference.AsError(err); name {
			case "message":
				if err != nil || !strings.Contains(chunks, `"content":"Hi"`) ||
					!strings.Contains(chunks, `"arguments":"{\"city\":\"Oslo\"}"`) {
					t.Errorf("got %s, %v; want the text and the call", chunks, err)
				}
			case "error":
				if e == nil || e.Status != 429 {
					t.Errorf("got %v, want status 429", e)
				}
			default:
				if e == nil || e.Status != 502 {
					t.Errorf("got %v, want status 502", e)
				}
			}
		})
	}
}

func TestRequestsHaveTheHeadersOfTheAPI(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	m := model("claude-text", base)
	m.Upstreams[0].Model = "claude-text"

	engine, err := anthropic.New(m.Upstreams[0])
	if err != nil {
		t.Fatal(err)
	}

	names, err := engine.Models(t.Context())
	if err != nil || !strings.Contains(strings.Join(names, " "), "claude-text") {
		t.Errorf("got %v, %v; want claude-text among the models", names, err)
	}
	r := request("claude-text")
	r.Betas = []string{"a-2026", "b"}

	if err := engine.Complete(t.Context(), r, &m, func(*inference.Delta) error { return nil }); err != nil {
		t.Fatal(err)
	}
	sent := server.Requests()[0]

	for name, want := range map[string]string{
		"X-Api-Key": "secret", "Anthropic-Version": "2023-06-01", "Anthropic-Beta": "a-2026,b", "Authorization": "",
	} {
		if got := sent.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
