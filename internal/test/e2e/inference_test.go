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

// chatModels writes a models.yaml and returns its path. Each model is a scenario of the scripted server.
func chatModels(t *testing.T, base string, names ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("models:\n")

	for _, name := range names {
		fmt.Fprintf(&b, "  - {id: %q, capabilities: [chat, tools, vision], upstreams: [{base_url: %q}]}\n", name, base)
	}

	return writeFile(t, "models.yaml", b.String())
}

// chatRequest returns the body of a chat completion with one message.
func chatRequest(model string, stream bool, text string) []byte {
	b, _ := json.Marshal(map[string]any{
		"model": model, "stream": stream, "messages": []any{map[string]any{"role": "user", "content": text}},
	})

	return b
}

// readStream requests a chat completion and calls on with the data of each event, until the stream ends or on returns
// false. It returns the response, whose body is closed.
func readStream(
	t *testing.T,
	c *e2e.Client,
	ctx context.Context,
	body []byte,
	on func(data string) (more bool),
	headers ...string,
) *http.Response {
	t.Helper()

	res, err := c.PostJSON(ctx, "/v1/chat/completions", body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(res.Body)
		t.Fatalf("status %d, %s; want 200", res.StatusCode, b)
	}

	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && !on(data) {
			break
		}
	}

	return res
}

// token matches a token of the scripted model "tokens:n@rate".
var token = regexp.MustCompile(` t\d+`)

// tokensIn counts the tokens in an event.
func tokensIn(data string) int { return len(token.FindAllString(data, -1)) }

// streamedText returns the joined content of a stream, and the data of its last event.
func streamedText(t *testing.T, c *e2e.Client, body []byte, headers ...string) (content, last string) {
	t.Helper()
	var joined strings.Builder
	readStream(t, c, t.Context(), body, func(data string) bool {
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if json.Unmarshal([]byte(data), &chunk) == nil && len(chunk.Choices) > 0 {
			joined.WriteString(chunk.Choices[0].Delta.Content)
		}
		last = data

		return true
	}, headers...)

	return joined.String(), last
}

func TestCompletionsGoThroughTheQueue(t *testing.T) {
	t.Parallel()
	upstream, base := inferencetest.Start(t)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": chatModels(t, base, "hello", "echo", "org/echo", "status:500", "tokens:400@0"),
	})

	status, header, answer := c.Do("POST", "/v1/chat/completions", "application/json",
		chatRequest("hello", false, "hi"))

	var completion struct {
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
	if err := json.Unmarshal(answer, &completion); err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %s (%v); want 200 and a completion", status, answer, err)
	}

	m := completion.Choices[0]
	if m.Message.Content != "Hello, world!" || m.FinishReason != "stop" || completion.Object != "chat.completion" ||
		completion.Usage.PromptTokens == 0 || completion.Usage.QueueTime <= 0 ||
		completion.Usage.QueueTime > wait.Patience.Seconds() ||
		completion.XPresswork.ID != header.Get("x-request-id") || header.Get("x-queue-time-ms") == "" {
		t.Errorf("got %s with the headers %v, want Hello, world! with its usage, times and request id", answer, header)
	}

	content, last := streamedText(t, c, chatRequest("org/echo", true, "one two three"))
	if content != "one two three" || last != "[DONE]" {
		t.Errorf("streamed %q, last event %q; want one two three and [DONE]", content, last)
	}

	if content, _ := streamedText(t, c, chatRequest("tokens:400@0", true, "")); len(strings.Fields(content)) < 400 {
		t.Errorf("got %d tokens, want 400", len(strings.Fields(content)))
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
				t.Errorf("GET %s = %s, want %s in it", path, answer, want)
			}
		})
	}

	for name, invalid := range map[string]struct {
		body, code string
		status     int
		retry      string
	}{
		"not JSON":      {`{`, "invalid_json", 400, "false"},
		"unknown model": {string(chatRequest("nothing", false, "")), "model_not_found", 404, "false"},
		"failing model": {string(chatRequest("status:500", true, "")), "upstream_error", 502, "true"},
		"no messages":   {`{"model":"hello","messages":[]}`, "invalid_option", 400, "false"},
		"missing tool": {
			`{"model":"hello","messages":[{"role":"user","content":"x"}],"tools":[{"type":"browser_search"}]}`,
			"tool_unavailable", 400, "false",
		},
	} {
		t.Run(name, func(t *testing.T) {
			status, header, answer := c.Do("POST", "/v1/chat/completions", "application/json", []byte(invalid.body))
			if status != invalid.status || !strings.Contains(string(answer), `"code":"`+invalid.code+`"`) ||
				header.Get("x-should-retry") != invalid.retry {
				t.Errorf("%s: status %d, %s, retry %q; want %d, %s, retry %q", invalid.body, status, answer,
					header.Get("x-should-retry"), invalid.status, invalid.code, invalid.retry)
			}
		})
	}

	checkPictureReachesTheModel(t, upstream, c)
}

// checkPictureReachesTheModel sends a request with a picture. It is larger than the payload of a task, so the API passes
// it to the worker through the store.
func checkPictureReachesTheModel(t *testing.T, upstream *inferencetest.Server, c *e2e.Client) {
	t.Helper()

	picture := image.NewNRGBA(image.Rect(0, 0, 200, 200))
	for i := range picture.Pix {
		picture.Pix[i] = byte(rand.Uint32())
	}

	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	uri := "data:image/png;base64," + base64.StdEncoding.EncodeToString(file.Bytes())

	body := fmt.Appendf(nil, `{"model":"hello","messages":[{"role":"user","content":[`+
		`{"type":"text","text":"What is it?"},{"type":"image_url","image_url":{"url":%q}}]}]}`, uri)
	if status, _, answer := c.Do("POST", "/v1/chat/completions", "application/json", body); status != http.StatusOK {
		t.Errorf("with a picture: status %d, %s; want 200", status, answer)
	}

	requests := upstream.Requests()
	if last := requests[len(requests)-1]; !strings.Contains(string(last.Raw), uri) {
		t.Errorf("the model got %.200s…, want the picture in it", last.Raw)
	}
}

func TestDisconnectedClientFreesTheModel(t *testing.T) {
	t.Parallel()
	const slow = "tokens:100000@20"

	for name, tc := range map[string]struct {
		model        string
		stream       bool
		afterContent bool // the client disconnects at the first token, otherwise 100 ms after the model has the request
	}{
		"a stream at its first token":    {slow, true, true},
		"a completion that is generated": {slow, false, false},
		"a stream without content":       {"hang", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream, base := inferencetest.Start(t)
			_, c := e2e.Serve(t, map[string]string{"INFERENCE_CONFIG": chatModels(t, base, tc.model)})

			ctx, disconnect := context.WithCancel(t.Context())
			defer disconnect()

			if !tc.afterContent {
				go func() {
					if upstream.WaitRequests(ctx, 1) == nil {
						time.AfterFunc(100*time.Millisecond, disconnect)
					}
				}()
			}

			res, err := c.PostJSON(ctx, "/v1/chat/completions", chatRequest(tc.model, tc.stream, ""))
			if err == nil {
				for lines := bufio.NewScanner(res.Body); lines.Scan(); {
					if tc.afterContent && tokensIn(lines.Text()) > 0 {
						disconnect()
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
				t.Errorf("usage %s, want completion tokens in it", usage)
			}
		})
	}
}

func TestStreamOfAKilledWorkerEndsWithAnError(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	fleet := newFleet(t)
	env := map[string]string{
		"INFERENCE_CONFIG": chatModels(t, base, "tokens:100000@50", "hello"),
		"WORKER_QUEUES":    "infer",
	}
	_, c := fleet.API(env)
	worker := fleet.Worker(env)
	var once sync.Once
	last := ""
	readStream(t, c, t.Context(), chatRequest("tokens:100000@50", true, ""), func(data string) bool {
		once.Do(func() {
			worker.Signal(syscall.SIGKILL)
			fleet.Worker(env)
		})
		last = data

		return true
	})

	if !strings.Contains(last, `{"error":{"message":"the worker that ran this request ended`) {
		t.Errorf("last event %s, want the error that the worker ended", last)
	}

	if content, last := streamedText(t, c, chatRequest("hello", true, "")); content != "Hello, world!" ||
		last != "[DONE]" {
		t.Errorf("the next stream: %q, last event %q; want Hello, world! and [DONE]", content, last)
	}
}
