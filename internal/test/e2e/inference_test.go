package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// models writes a models.yaml whose models are scenarios of the scripted server.
func models(t *testing.T, base string, names ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("models:\n")

	for _, name := range names {
		fmt.Fprintf(&b,
			"  - id: %q\n    capabilities: [chat, tools, vision]\n    upstreams: [{base_url: %q}]\n", name,
			base)
	}

	path := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

func chat(model string, stream bool, text string) []byte {
	b, _ := json.Marshal(map[string]any{
		"model": model, "stream": stream, "messages": []any{map[string]any{"role": "user", "content": text}},
	})

	return b
}

// events reads the data of a stream's events until it ends, and passes each on.
func events(
	t *testing.T,
	c *e2e.Client,
	ctx context.Context,
	body []byte,
	on func(data string) (more bool),
	headers ...string,
) *http.Response {
	t.Helper()

	req, err := http.NewRequestWithContext(ctx, "POST", c.Base+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")

	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}

	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}

	res, err := c.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(res.Body)
		t.Fatalf("%d %s", res.StatusCode, b)
	}

	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && !on(data) {
			break
		}
	}

	return res
}

var token = regexp.MustCompile(` t\d+`)

// tokensIn counts the tokens of "tokens:n@rate" in an event.
func tokensIn(data string) int { return len(token.FindAllString(data, -1)) }

// said joins the content of a stream's chunks and returns its last event.
func said(t *testing.T, c *e2e.Client, body []byte, headers ...string) (content, last string) {
	t.Helper()
	var all strings.Builder
	events(t, c, t.Context(), body, func(data string) bool {
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if json.Unmarshal([]byte(data), &chunk) == nil && len(chunk.Choices) > 0 {
			all.WriteString(chunk.Choices[0].Delta.Content)
		}
		last = data

		return true
	}, headers...)

	return all.String(), last
}

func TestCompletionsGoThroughTheQueue(t *testing.T) {
	t.Parallel()
	upstream, base := inferencetest.Start(t)
	_, c := e2e.Serve(
		t,
		map[string]string{
			"INFERENCE_CONFIG": models(t, base, "hello", "echo", "org/echo", "status:500", "tokens:400@0"),
		},
	)

	status, header, answer := c.Do("POST", "/v1/chat/completions", "application/json", chat("hello", false, "hi"))

	var whole struct {
		Object  string
		Choices []struct {
			Message      struct{ Role, Content string }
			FinishReason string `json:"finish_reason"`
		}
		Usage struct {
			PromptTokens int     `json:"prompt_tokens"`
			QueueTime    float64 `json:"queue_time"`
		}
		XPresswork struct{ ID string } `json:"x_presswork"`
	}
	if err := json.Unmarshal(answer, &whole); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s (%v)", status, answer, err)
	}

	m := whole.Choices[0]
	if m.Message.Content != "Hello, world!" || m.FinishReason != "stop" || whole.Object != "chat.completion" ||
		whole.Usage.PromptTokens == 0 || whole.Usage.QueueTime <= 0 ||
		whole.Usage.QueueTime > wait.Patience.Seconds() ||
		whole.XPresswork.ID != header.Get("x-request-id") || header.Get("x-queue-time-ms") == "" {
		t.Errorf("got %s with %v", answer, header)
	}

	content, last := said(t, c, chat("org/echo", true, "one two three"))
	if content != "one two three" || last != "[DONE]" {
		t.Errorf("streamed %q, last %q", content, last)
	}

	if content, _ := said(t, c, chat("tokens:400@0", true, "")); len(strings.Fields(content)) < 400 {
		t.Errorf("%d of 400 tokens arrived", len(strings.Fields(content)))
	}

	for path, want := range map[string]string{
		"/v1/models":                     `"id":"org/echo"`,
		"/v1/models/org/echo":            `"id":"org/echo"`,
		"/v1/models/org%2Fecho":          `"object":"model"`,
		"/openai/v1/models/hello":        `"id":"hello"`,
		"/v1/usage?group_by=model":       `"model":"hello"`,
		"/openai/v1/usage?group_by=days": `did you mean`,
		"/v1/usage?group_by=key,%20day":  `"day":"`,
		"/v1/usage?frm=2026-01-01":       `did you mean \"from\"`,
		"/v1/models/nothing":             `"code":"model_not_found"`,
		"/v1/nothing":                    `"error":{`,
		"/v1/usage?from=2026-13-01":      `"param":"from"`,
		"/v1/chat/completions?x=1":       `"code":"method_not_allowed"`,
		"/v1/usage?group_by=day,model":   `"reasoning_tokens":0`,
	} {
		t.Run(path, func(t *testing.T) {
			if _, _, answer := c.Do("GET", path, "", nil); !strings.Contains(string(answer), want) {
				t.Errorf("GET %s: %s", path, answer)
			}
		})
	}

	for i, bad := range []struct {
		body, code string
		status     int
		retry      string
	}{
		{`{`, "invalid_json", 400, "false"},
		{string(chat("nothing", false, "")), "model_not_found", 404, "false"},
		{string(chat("status:500", true, "")), "upstream_error", 502, "true"},
		{`{"model":"hello","messages":[]}`, "invalid_option", 400, "false"},
		{`{"model":"hello","messages":[{"role":"user","content":"x"}],"tools":[{"type":"browser_search"}]}`, "tool_unavailable", 400, "false"},
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			status, header, answer := c.Do("POST", "/v1/chat/completions", "application/json", []byte(bad.body))
			if status != bad.status || !strings.Contains(string(answer), `"code":"`+bad.code+`"`) ||
				header.Get("x-should-retry") != bad.retry {
				t.Errorf("%s: %d %s, retry %q", bad.body, status, answer, header.Get("x-should-retry"))
			}
		})
	}

	// Larger than a payload, by way of the store.
	picture := image.NewNRGBA(image.Rect(0, 0, 200, 200))
	for i := range picture.Pix {
		picture.Pix[i] = byte(rand.Uint32())
	}

	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	uri := "data:image/png;base64," + base64.StdEncoding.EncodeToString(file.Bytes())

	body, _ := json.Marshal(
		map[string]any{"model": "hello", "messages": []any{map[string]any{"role": "user", "content": []any{
			map[string]any{
				"type": "text",
				"text": "What is it?",
			},
			map[string]any{"type": "image_url", "image_url": map[string]any{"url": uri}},
		}}}},
	)
	if status, _, answer := c.Do("POST", "/v1/chat/completions", "application/json", body); status != http.StatusOK {
		t.Errorf("with a picture: %d %s", status, answer)
	}

	requests := upstream.Requests()
	if last := requests[len(requests)-1]; !strings.Contains(string(last.Raw), uri) {
		t.Errorf("the picture did not arrive: %.200s…", last.Raw)
	}
}

func TestAClientThatDisconnectsFreesTheModel(t *testing.T) {
	t.Parallel()
	const slow = "tokens:100000@20"

	for name, tc := range map[string]struct {
		model        string
		stream       bool
		afterContent bool // the client leaves at the first token, otherwise soon after the request has reached the model
	}{
		"a stream at its first token":    {slow, true, true},
		"a completion that is generated": {slow, false, false},
		"a stream without content":       {"hang", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream, base := inferencetest.Start(t)
			_, c := e2e.Serve(t, map[string]string{"INFERENCE_CONFIG": models(t, base, tc.model)})

			ctx, leave := context.WithCancel(t.Context())
			defer leave()

			if !tc.afterContent {
				go func() {
					if upstream.WaitRequests(ctx, 1) == nil {
						time.AfterFunc(100*time.Millisecond, leave)
					}
				}()
			}

			body := bytes.NewReader(chat(tc.model, tc.stream, ""))

			req, err := http.NewRequestWithContext(ctx, "POST", c.Base+"/v1/chat/completions", body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")

			if res, err := c.HTTP.Do(req); err == nil {
				for lines := bufio.NewScanner(res.Body); lines.Scan(); {
					if tc.afterContent && tokensIn(lines.Text()) > 0 {
						leave()
					}
				}
				res.Body.Close()
			}

			// The whole answer would take 5000 s.
			soon, cancel := context.WithTimeout(t.Context(), wait.Patience)
			defer cancel()

			if err := upstream.WaitDisconnected(soon, 1); err != nil {
				t.Fatalf("the worker still reads the answer of the model: %v", err)
			}
			// The worker records the usage after it has left the model.
			var usage []byte
			wait.Until(t, "the usage is recorded", func() bool {
				_, _, usage = c.Do("GET", "/v1/usage?group_by=model", "", nil)
				return strings.Contains(string(usage), `"cancelled":1`)
			})

			if tc.afterContent && strings.Contains(string(usage), `"completion_tokens":0,`) {
				t.Errorf("no token is recorded: %s", usage)
			}
		})
	}
}

func TestAKilledWorkerEndsTheStreamWithAnError(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	fleet := newFleet(t)
	env := map[string]string{"INFERENCE_CONFIG": models(t, base, "tokens:100000@50", "hello"), "WORKER_QUEUES": "infer"}
	_, c := fleet.API(env)
	doomed := fleet.Worker(env)
	var once sync.Once
	last := ""
	events(t, c, t.Context(), chat("tokens:100000@50", true, ""), func(data string) bool {
		once.Do(func() {
			doomed.Signal(syscall.SIGKILL)
			fleet.Worker(env)
		})
		last = data

		return true
	})

	if !strings.Contains(last, `{"error":{"message":"the worker that ran this request ended`) {
		t.Errorf("the last event is %s", last)
	}

	if content, last := said(t, c, chat("hello", true, "")); content != "Hello, world!" || last != "[DONE]" {
		t.Errorf("the next one: %q %q", content, last)
	}
}
