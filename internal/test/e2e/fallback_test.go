package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

func TestFallbackModelAnswersWhenAModelFails(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": writeFile(t, "models.yaml", fmt.Sprintf(`models:
  - {id: down, fallbacks: [secret, spare], upstreams: [{base_url: %[1]q, model: "status:503"}], routing: {retries: 0}}
  - {id: tiny, context_window: 10, fallbacks: [spare], upstreams: [{base_url: %[1]q, model: hello}]}
  - {id: secret, upstreams: [{base_url: %[1]q, model: hello}]}
  - {id: spare, aliases: [other], upstreams: [{base_url: %[1]q, model: hello}]}
`, base)),
		"KEYS_CONFIG": writeFile(t, "keys.yaml",
			"keys:\n  - {name: app, key: app-key, models: [down, tiny, spare]}\n"),
		"WORKER_QUEUES": "infer",
	})
	c.Key = "app-key"
	tooLong := strings.Repeat("word ", 100) // the context window of the model tiny has 10 tokens
	request := func(model, more string) string {
		return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"Hi"}]%s}`, model, more)
	}

	for name, tc := range map[string]struct{ path, body string }{
		"fallbacks of models.yaml": {"/v1/chat/completions", request("down", "")},
		"stream":                   {"/v1/chat/completions", request("down", `,"stream":true`)},
		"fallbacks of the request": {"/v1/chat/completions", request("down", `,"models":["other"]`)},
		"too long for the model":   {"/v1/chat/completions", strings.Replace(request("tiny", ""), "Hi", tooLong, 1)},
		"responses":                {"/v1/responses", `{"model":"down","input":"Hi"}`},
		"streamed responses":       {"/v1/responses", `{"model":"down","input":"Hi","stream":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			status, header, answer := c.Do("POST", tc.path, "application/json", []byte(tc.body))
			if status != 200 || !strings.Contains(string(answer), `"model":"spare"`) ||
				!strings.Contains(string(answer), "world") {
				t.Fatalf("status %d, %s; want 200 and an answer of spare", status, answer)
			}

			if got := header.Get("x-fallback-model"); got != "spare" {
				t.Errorf("x-fallback-model is %q, want spare", got)
			}
		})
	}

	status, header, _ := c.Do("POST", "/v1/chat/completions", "application/json", []byte(request("spare", "")))
	if status != 200 || header.Get("x-fallback-model") != "" {
		fallback := header.Get("x-fallback-model")
		t.Errorf("the requested model: status %d, x-fallback-model %q; want 200 and none", status, fallback)
	}

	forbidden := []byte(request("down", `,"models":["secret"]`))

	status, _, answer := c.Do("POST", "/v1/chat/completions", "application/json", forbidden)
	if status != 404 || !strings.Contains(string(answer), `"param":"models"`) {
		t.Errorf("a fallback that the key may not use: status %d, %s; want 404", status, answer)
	}
	wait.Until(t, "the usage is counted for the model that answered", func() bool {
		_, _, usage := c.Do("GET", "/v1/usage", "", nil)
		return strings.Contains(string(usage), `"model":"spare"`) && !strings.Contains(string(usage), `"model":"down"`)
	})
}
