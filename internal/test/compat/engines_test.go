//go:build compat

package compat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/test/e2e"
	"presswork/internal/test/freeport"
	"presswork/internal/test/wait"
)

// enginesEnv is the setting with the folder that scripts/engines.sh fills.
const enginesEnv = "PRESSWORK_ENGINES"

// enginesDir returns the folder with the engines and their models.
func enginesDir(t *testing.T) string {
	t.Helper()

	dir := os.Getenv(enginesEnv)
	if dir == "" {
		t.Fatalf("%s is not set; `make compat` runs this test", enginesEnv)
	}

	return dir
}

// startEngine runs a model server until the test ends, and returns its address.
func startEngine(t *testing.T, program, model string) string {
	t.Helper()
	const host = "127.0.0.1"
	port := freeport.Take(t)
	cmd := exec.Command(program, "-m", model, "--host", host, "--port", port)
	var log bytes.Buffer

	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()

		if t.Failed() {
			t.Logf("log of the engine:\n%s", log.String())
		}
	})
	base := "http://" + host + ":" + port
	wait.Until(t, "the engine has loaded its model", func() bool {
		res, err := http.Get(base + "/health")
		if err != nil {
			return false
		}
		res.Body.Close()

		return res.StatusCode == http.StatusOK
	})

	return base
}

// writeCatalogue writes a models.yaml with one entry, which is a format for args, and returns its path.
func writeCatalogue(t *testing.T, entry string, args ...any) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, "models:\n  - "+entry+"\n", args...), 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

// completion has the fields of an answer that the tests read.
type completion struct {
	Choices []struct {
		Message      struct{ Content string }
		FinishReason string `json:"finish_reason"`
	}
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	}
	Error struct{ Code, Message string }
}

// completeChat posts a chat completion. raw is the body of the response.
func completeChat(t *testing.T, base string, request map[string]any) (status int, c completion, raw string) {
	t.Helper()
	status, raw = post(t, base+"/v1/chat/completions", request)
	_ = json.Unmarshal([]byte(raw), &c) // c stays empty if raw is a stream

	return status, c, raw
}

// post posts a request as JSON and returns the status and the body of the response.
func post(t *testing.T, url string, request map[string]any) (status int, raw string) {
	t.Helper()

	b, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}

	res, err := http.Post(url, "application/json", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}

	return res.StatusCode, string(body)
}

// chunks iterates over the events of a stream that are JSON.
func chunks[T any](raw string) iter.Seq[T] {
	return func(yield func(T) bool) {
		for line := range strings.Lines(raw) {
			var chunk T

			data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
			if ok && json.Unmarshal([]byte(data), &chunk) == nil && !yield(chunk) {
				return
			}
		}
	}
}

// TestLlamaServer runs the server of llama.cpp with a small model as a child of `presswork serve`. It compares the answers
// with those of another llama.cpp, to which it sends the same requests directly.
func TestLlamaServer(t *testing.T) {
	dir := enginesDir(t)
	program, model := filepath.Join(dir, "llama-server"), filepath.Join(dir, "models", "gemma-3-270m.gguf")
	_, client := e2e.Serve(t, map[string]string{
		"INFERENCE_ENGINE": program, "INFERENCE_ENGINE_MODEL": model, "INFERENCE_CONFIG": "", "WORKER_QUEUES": "infer",
	})
	wait.Until(t, "the model is listed", func() bool {
		_, _, list := client.Do("GET", "/v1/models/gemma-3-270m", "", nil)
		return strings.Contains(string(list), `"id":"gemma-3-270m"`)
	})
	direct := startEngine(t, program, model)
	user := func(text string) []map[string]string { return []map[string]string{{"role": "user", "content": text}} }
	request := func(more map[string]any) map[string]any {
		r := map[string]any{
			"model":       "gemma-3-270m",
			"temperature": 0,
			"seed":        1,
			"max_tokens":  8,
			"messages":    user("The capital of France is"),
		}
		maps.Copy(r, more)

		return r
	}

	t.Run("an answer and its tokens are those of the engine", func(t *testing.T) {
		status, ours, raw := completeChat(t, client.Base, request(nil))
		if status != 200 || len(ours.Choices) != 1 {
			t.Fatalf("status %d, %s; want 200 and one choice", status, raw)
		}
		directRequest := request(nil)
		delete(directRequest, "model")

		_, theirs, _ := completeChat(t, direct, directRequest)
		if ours.Choices[0].Message.Content != theirs.Choices[0].Message.Content ||
			ours.Usage.PromptTokens != theirs.Usage.PromptTokens ||
			ours.Usage.CompletionTokens != theirs.Usage.CompletionTokens || ours.Usage.PromptTokens == 0 ||
			ours.Usage.CompletionTokens == 0 {
			t.Errorf("got %+v, want %+v as from the engine", ours, theirs)
		}

		if ours.Choices[0].FinishReason != theirs.Choices[0].FinishReason {
			t.Errorf("finish reason %q, want %q as from the engine", ours.Choices[0].FinishReason,
				theirs.Choices[0].FinishReason)
		}
	})
	t.Run("a prompt has as many tokens as the engine counts", func(t *testing.T) {
		_, whole, _ := completeChat(t, client.Base, request(nil))
		body := map[string]any{"model": "gemma-3-270m", "messages": request(nil)["messages"]}

		_, got := post(t, client.Base+"/v1/messages/count_tokens", body)
		if want := fmt.Sprintf(`{"input_tokens":%d}`, whole.Usage.PromptTokens); got != want {
			t.Errorf("counted %s, want %s as in the usage of an answer", got, want)
		}
	})
	t.Run("a stream has the same text", func(t *testing.T) {
		_, whole, _ := completeChat(t, client.Base, request(nil))
		_, _, raw := completeChat(t, client.Base, request(map[string]any{"stream": true}))
		var text strings.Builder

		for c := range chunks[struct {
			Choices []struct{ Delta struct{ Content string } }
		}](raw) {
			for _, choice := range c.Choices {
				text.WriteString(choice.Delta.Content)
			}
		}

		if text.String() != whole.Choices[0].Message.Content || !strings.HasSuffix(raw, "data: [DONE]\n\n") {
			t.Errorf("streamed %q, want %q and [DONE]", text.String(), whole.Choices[0].Message.Content)
		}
	})
	t.Run("the other wire formats have the same text", func(t *testing.T) {
		_, whole, _ := completeChat(t, client.Base, request(nil))
		prompt := "The capital of France is"
		_, response := post(t, client.Base+"/v1/responses", map[string]any{
			"model": "gemma-3-270m", "input": prompt, "temperature": 0, "max_output_tokens": 8,
		})
		_, message := post(t, client.Base+"/v1/messages", map[string]any{
			"model": "gemma-3-270m", "messages": user(prompt), "temperature": 0, "max_tokens": 8,
		})

		text := fmt.Sprintf(`"text":%q`, whole.Choices[0].Message.Content)
		if !strings.Contains(response, text) || !strings.Contains(message, text) {
			t.Errorf("got %s and %s, want %s as of the chat", response, message, text)
		}
	})
	t.Run("an answer follows a strict schema", func(t *testing.T) {
		schema := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","enum":["Paris","Rome"]},` +
			`"big":{"type":"boolean"}},"required":["city","big"],"additionalProperties":false}`)
		_, c, raw := completeChat(t, client.Base, request(map[string]any{
			"max_tokens": 40,
			"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{
				"name": "city", "strict": true, "schema": schema,
			}},
		}))

		var city struct {
			City string
			Big  *bool
		}
		if len(c.Choices) != 1 || json.Unmarshal([]byte(c.Choices[0].Message.Content), &city) != nil ||
			city.City != "Paris" && city.City != "Rome" || city.Big == nil {
			t.Errorf("got %s, want a city and big", raw)
		}
	})
	t.Run("a continued text is that of the engine", func(t *testing.T) {
		type textCompletion struct {
			Object  string
			Choices []struct {
				Text         string
				FinishReason string `json:"finish_reason"`
			}
			Usage struct {
				PromptTokens     int `json:"prompt_tokens"`
				CompletionTokens int `json:"completion_tokens"`
			}
		}
		request := map[string]any{
			"model": "gemma-3-270m", "prompt": "The capital of France is", "temperature": 0, "seed": 1, "max_tokens": 8,
		}
		read := func(base string) (c textCompletion) {
			status, raw := post(t, base+"/v1/completions", request)

			err := json.Unmarshal([]byte(raw), &c)
			if err != nil || status != 200 || len(c.Choices) != 1 || c.Object != "text_completion" {
				t.Fatalf("status %d, %s; want 200 and one choice", status, raw)
			}

			return c
		}
		ours, theirs := read(client.Base), read(direct)

		diff := cmp.Diff(theirs, ours)
		if diff != "" || ours.Choices[0].Text == "" || ours.Usage.CompletionTokens != 8 {
			t.Errorf("got %+v, want that of the engine (-engine +got):\n%s", ours, diff)
		}
		request["stream"] = true
		_, raw := post(t, client.Base+"/v1/completions", request)
		var text strings.Builder

		for c := range chunks[textCompletion](raw) {
			for _, choice := range c.Choices {
				text.WriteString(choice.Text)
			}
		}

		if text.String() != theirs.Choices[0].Text || !strings.HasSuffix(raw, "data: [DONE]\n\n") {
			t.Errorf("streamed %q, want %q and [DONE]", text.String(), theirs.Choices[0].Text)
		}
	})
	t.Run("a stop sequence ends the answer", func(t *testing.T) {
		_, c, raw := completeChat(t, client.Base,
			request(map[string]any{"messages": user("1, 2, 3, 4, 5,"), "stop": []string{"7"}, "max_tokens": 16}))
		if len(c.Choices) != 1 || c.Choices[0].FinishReason != "stop" ||
			strings.Contains(c.Choices[0].Message.Content, "7") {
			t.Errorf("got %s, want an answer that stops before 7", raw)
		}
	})
	t.Run("probabilities are those of the engine, and several answers are rejected", func(t *testing.T) {
		read := func(base string, more map[string]any) (text, tokens []string) {
			r := request(map[string]any{"logprobs": true, "top_logprobs": 2, "max_tokens": 4})
			maps.Copy(r, more)
			_, _, raw := completeChat(t, base, r)

			var completion struct {
				Choices []struct {
					Message  struct{ Content string }
					Logprobs struct {
						Content []struct {
							Token       string
							Logprob     float64
							TopLogprobs []struct{ Token string } `json:"top_logprobs"`
						}
					}
				}
			}
			if err := json.Unmarshal([]byte(raw), &completion); err != nil || len(completion.Choices) != 1 {
				t.Fatalf("got %s (%v), want one choice", raw, err)
			}

			for _, c := range completion.Choices {
				text = append(text, c.Message.Content)
				for _, p := range c.Logprobs.Content {
					if len(p.TopLogprobs) != 2 || p.Logprob > 0 {
						t.Errorf("token %+v, want a negative logprob and two alternatives", p)
					}
					tokens = append(tokens, p.Token)
				}
			}

			return text, tokens
		}
		text, tokens := read(client.Base, nil)
		theirText, theirTokens := read(direct, map[string]any{"model": "x"})

		status, c, raw := completeChat(t, client.Base, request(map[string]any{"n": 2}))
		if status != 400 || c.Error.Code != "invalid_option" {
			t.Errorf("n=2: status %d, %s; want 400 invalid_option", status, raw)
		}

		if !slices.Equal(text, theirText) || !slices.Equal(tokens, theirTokens) || len(tokens) == 0 {
			t.Errorf("text %q of tokens %q, want %q of %q as from the engine", text, tokens, theirText, theirTokens)
		}
	})
	t.Run("a prompt that is too long is rejected", func(t *testing.T) {
		long := user(strings.Repeat("word ", 4000))

		status, c, raw := completeChat(t, client.Base, request(map[string]any{"messages": long}))
		if status != 400 || c.Error.Code != "context_length_exceeded" {
			t.Errorf("status %d, %.300s; want 400 context_length_exceeded", status, raw)
		}
	})
}
