package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

// TestTokensAreCountedByTheEngine checks the count of the engine, and the estimate of the server if the engine does not
// count.
func TestTokensAreCountedByTheEngine(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	models := []map[string]any{}

	for id, kind := range map[string]string{
		"hello": "vllm", "count-broken": "vllm", "claude-text": "anthropic", "plain": "plain",
	} {
		upstream := map[string]any{"base_url": base, "kind": kind}
		models = append(models, map[string]any{"id": id, "upstreams": []any{upstream}})
	}
	_, c := e2e.Serve(t, map[string]string{"INFERENCE_CONFIG": writeModelList(t, models), "WORKER_QUEUES": "infer"})

	for _, row := range []struct {
		model   string
		counted bool // by the engine
	}{
		{"hello", true},
		{"claude-text", true},
		{"count-broken", false},
		{"plain", false},
	} {
		t.Run(row.model, func(t *testing.T) {
			message := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"Hi"}]}`, row.model)
			response := fmt.Sprintf(`{"model":%q,"input":"Hi"}`, row.model)

			for path, body := range map[string]string{
				"/v1/messages/count_tokens": message, "/v1/responses/input_tokens": response,
			} {
				status, header, got := c.Do("POST", path, "application/json", []byte(body))
				counted := strings.Contains(string(got), fmt.Sprintf(`"input_tokens":%d`, inferencetest.Counted))

				if status != 200 || counted != row.counted {
					t.Errorf("%s: status %d, %s; want 200 and the count of the engine: %t", path, status, got,
						row.counted)
				}

				if warned := header.Get("X-Presswork-Warning") == "tokens_estimated"; warned == row.counted {
					t.Errorf("%s: the warning is %q, want tokens_estimated: %t",
						path, header.Get("X-Presswork-Warning"), !row.counted)
				}
			}
		})
	}
}
