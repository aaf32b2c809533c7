package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

// anthropicModels writes a models.yaml and returns its path. Its upstream has the Messages API, and for the model plain
// chat completions.
func anthropicModels(t *testing.T, base string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("models:\n")

	for _, name := range []string{"claude-text", "claude-call", "claude-cite", "claude-529"} {
		fmt.Fprintf(&b, "  - {id: %s, capabilities: [chat, tools, vision, reasoning], routing: {retries: 0}, "+
			"upstreams: [{kind: anthropic, base_url: %q, api_key: k}]}\n", name, base)
	}
	fmt.Fprintf(&b, "  - {id: plain, fallbacks: [claude-text], upstreams: [{base_url: %q, model: hello}]}\n", base)

	return writeFile(t, "models.yaml", b.String())
}

func TestMessagesReachAnUpstreamOfTheMessagesAPIUnchanged(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": anthropicModels(t, base), "WORKER_QUEUES": "infer",
	})

	const tools = `"tools":[{"name":"weather","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],`
	first := `{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}},` +
		`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"D"},"citations":{"enabled":true}}]}`
	head := `{"model":"claude-call","max_tokens":99,"thinking":{"type":"adaptive"},"context_management":{"edits":[]},` + tools

	status, header, body := c.Do("POST", "/v1/messages", "application/json", []byte(head+`"messages":[`+first+`]}`))
	var message struct {
		Content json.RawMessage `json:"content"`
		Usage   json.RawMessage `json:"usage"`
	}

	if err := json.Unmarshal(body, &message); status != 200 || err != nil {
		t.Fatalf("status %d, %s (%v); want 200 and a message", status, body, err)
	}

	if warning := header.Get("X-Presswork-Warning"); warning != "" {
		t.Errorf("the warning is %q, want none", warning)
	}

	want := `"input_tokens":7,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":12`
	if !strings.Contains(string(message.Usage), want) {
		t.Errorf("the usage is %s, want %s", message.Usage, want)
	}

	// The signatures of the upstream are "signed" and "hidden" in base64.
	for _, secret := range []string{"c2lnbmVk", "aGlkZGVu"} {
		if strings.Contains(string(message.Content), secret) {
			t.Errorf("the answer has the signature %s of the upstream, want one of the server", secret)
		}
	}

	// The client sends the answer back with the results. The upstream gets its own signatures.
	results := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"12 °C"},` +
		`{"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":"gone"}]}`

	status, _, body = c.Do("POST", "/v1/messages", "application/json", []byte(head+`"messages":[`+first+
		`,{"role":"assistant","content":`+string(message.Content)+`},`+results+`]}`))
	if status != 200 || !strings.Contains(string(body), "Sunny.") {
		t.Fatalf("with results: status %d, %s; want 200 and Sunny.", status, body)
	}
	sent := string(server.Requests()[1].Raw)

	for _, want := range []string{
		`{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}`,
		`{"citations":{"enabled":true},"source":{"type":"text","media_type":"text/plain","data":"D"},"type":"document"}`,
		`{"type":"thinking","thinking":"Which city?","signature":"c2lnbmVk"},{"type":"redacted_thinking","data":"aGlkZGVu"}`,
		`"tool_use_id":"toolu_2","content":[{"type":"text","text":"gone"}],"is_error":true`,
		`"thinking":{"type":"adaptive"}`, `"context_management":{"edits":[]}`, `"max_tokens":99`,
		`"input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}`,
	} {
		if !strings.Contains(sent, want) {
			t.Errorf("the upstream got %s, want %s in it", sent, want)
		}
	}

	// The server rejects an altered signature.
	altered := strings.Replace(string(message.Content), `"signature":"presswork-2.`, `"signature":"presswork-2.A`, 1)
	status, _, body = c.Do("POST", "/v1/messages", "application/json", []byte(head+`"messages":[`+first+
		`,{"role":"assistant","content":`+altered+`},`+results+`]}`))

	if status != 400 || !strings.Contains(string(body), "signature") {
		t.Errorf("an altered signature: status %d, %s; want 400", status, body)
	}
}

func TestUpstreamOfTheMessagesAPIAnswersInEveryFormat(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": anthropicModels(t, base), "WORKER_QUEUES": "infer",
	})

	for _, tc := range []struct {
		name, path, body string
		status           int
		want, warning    string
	}{
		{
			"chat", "/v1/chat/completions",
			`{"model":"claude-call","messages":[{"role":"user","content":"Hi"}],"min_p":0.1,"reasoning_effort":"high",` +
				`"tools":[{"type":"function","function":{"name":"weather"}}]}`,
			200, `"thinking_blocks":[{"type":"thinking","thinking":"Which city?","signature":"c2lnbmVk"}`,
			"fields_ignored: min_p",
		},
		{
			"responses", "/v1/responses",
			`{"model":"claude-call","input":"Hi","include":["reasoning.encrypted_content"],` +
				`"tools":[{"type":"function","name":"weather"}]}`,
			200, `"encrypted_content":"signed.`, "",
		},
		{
			"citations", "/v1/messages", `{"model":"claude-cite","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`,
			200, `"citations":[{"type":"char_location"`, "",
		},
		{
			"streamed citations", "/v1/messages",
			`{"model":"claude-cite","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"Hi"}]}`,
			200, `"delta":{"type":"citations_delta","citation":{"type":"char_location"`, "",
		},
		{
			"overloaded", "/v1/messages", `{"model":"claude-529","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`,
			529, `"overloaded_error"`, "",
		},
		{
			"fields that a translated model ignores", "/v1/messages",
			`{"model":"plain","max_tokens":9,"speed":"fast","thinking":{"type":"adaptive"},` +
				`"messages":[{"role":"user","content":"Hi"}]}`,
			200, `"type":"message"`, "fields_ignored: speed",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, header, body := c.Do("POST", tc.path, "application/json", []byte(tc.body))
			if status != tc.status || !strings.Contains(string(body), tc.want) {
				t.Errorf("status %d, %s; want %d and %s", status, body, tc.status, tc.want)
			}

			if got := header.Get("X-Presswork-Warning"); got != tc.warning {
				t.Errorf("the warning is %q, want %q", got, tc.warning)
			}
		})
	}
}
