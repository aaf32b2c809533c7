package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

func TestImagesAndModerationsArePassedOn(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	models := "models:\n"

	for _, name := range []string{"relay", "relay-large", "relay-broken", "relay-limited"} {
		models += fmt.Sprintf("  - {id: %s, capabilities: [images, moderations], routing: {retries: 0}, "+
			"upstreams: [{base_url: %q}]}\n", name, base)
	}
	models += fmt.Sprintf("  - {id: chat, upstreams: [{base_url: %q, model: hello}]}\n", base)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": writeFile(t, "models.yaml", models),
		"KEYS_CONFIG": writeFile(t, "keys.yaml",
			"keys:\n  - {name: app, key: app-key, admin: true}\n  - {name: chatty, key: chat-key, models: [chat]}\n"),
		"WORKER_QUEUES": "infer",
	})
	c.Key = "app-key"

	const images, moderations = "/v1/images/generations", "/v1/moderations"

	for _, tc := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{
			"images", images, `{"model":"relay","prompt":"a fox","size":"64x64","vendor_field":{"a":1}}`, 200,
			`"got":{"model":"relay","prompt":"a fox","size":"64x64","vendor_field":{"a":1}}`,
		},
		{"large images", images, `{"model":"relay-large","prompt":"a fox"}`, 200, strings.Repeat("aGkh", 1<<18)},
		{"moderation", "/openai" + moderations, `{"model":"relay","input":["a","b"]}`, 200, `"flagged":true`},
		{"moderation without a model", moderations, `{"input":"a"}`, 200, `"got":{"input":"a","model":"relay"}`},
		{"no prompt", images, `{"model":"relay"}`, 400, `"param":"prompt"`},
		{"stream of images", images, `{"model":"relay","prompt":"a","stream":true}`, 400, `"param":"stream"`},
		{"too many images", images, `{"model":"relay","prompt":"a","n":11}`, 400, `"param":"n"`},
		{"no input", moderations, `{"model":"relay"}`, 400, `"param":"input"`},
		{
			"an address instead of a data URI", moderations,
			`{"model":"relay","input":[{"type":"image_url","image_url":{"url":"http://169.254.169.254/a.png"}}]}`, 400,
			`must be a data URI`,
		},
		{"another capability", images, `{"model":"chat","prompt":"a"}`, 400, "does not support images"},
		{"unknown model", images, `{"model":"absent","prompt":"a"}`, 404, "model_not_found"},
		{"broken answer", images, `{"model":"relay-broken","prompt":"a"}`, 502, "upstream_error"},
		{"limited", images, `{"model":"relay-limited","prompt":"a"}`, 429, "rate_limit_exceeded"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, _, body := c.Do("POST", tc.path, "application/json", []byte(tc.body))
			if status != tc.status || !strings.Contains(string(body), tc.want) {
				t.Errorf("status %d, %.300s; want %d and %.300s", status, body, tc.status, tc.want)
			}
		})
	}

	for _, r := range server.Requests() {
		if strings.Contains(string(r.Raw), "169.254") {
			t.Errorf("the upstream got %s, want no address that it might load", r.Raw)
		}
	}
	wait.Until(t, "the usage has the tokens of the upstream", func() bool {
		_, _, body := c.Do("GET", "/v1/usage?group_by=model", "", nil)

		return strings.Contains(string(body), `"model":"relay-large"`) &&
			strings.Contains(string(body), `"completion_tokens":7`)
	})

	c.Key = "chat-key"
	if status, _, body := c.Do("POST", moderations, "application/json", []byte(`{"input":"a"}`)); status != 400 {
		t.Errorf("a key without such models: status %d, %s; want 400", status, body)
	}
}
