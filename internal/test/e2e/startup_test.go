package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/redistest"
)

func TestFleetForCompletionsNeedsNoStoreAndWaitsForRedis(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	redis := redistest.StartDurable(t)
	redis.Kill()
	env := map[string]string{
		"REDIS_URL": redis.Address, "API_PORT": "0", "WORKER_ADDR": "127.0.0.1:0", "THEMES_DIR": t.TempDir(),
		"INFERENCE_CONFIG": chatModels(t, base, "hello"), "WORKER_QUEUES": "infer", "CHROMIUM_PATH": "/does/not/exist",
	}
	node, worker := e2e.Run(t, "api", env), e2e.Run(t, "worker", env)
	awaitLog(t, node, "waiting for a service")
	awaitLog(t, worker, "waiting for a service")
	redis.Restart()
	c := e2e.NewClient(t, node.Listening().Address, "")
	ops := e2e.NewClient(t, worker.Listening().Address, "")

	longRequest := `{"model":"hello","messages":[{"role":"user","content":"` + strings.Repeat("long ", 10_000) + `"}]}`
	for _, body := range []string{`{"model":"hello","messages":[{"role":"user","content":"hi"}]}`, longRequest} {
		status, _, answer := c.Do("POST", "/v1/chat/completions", "application/json", []byte(body))
		if status != http.StatusOK {
			t.Errorf("completion: status %d, %.200s; want 200", status, answer)
		}
	}

	for _, path := range []string{"/api/conversion", "/export-pdf"} {
		status, _, answer := c.Do("POST", path, "application/json", []byte(map[string]string{
			"/api/conversion": `{"content":"# x"}`, "/export-pdf": `{"url":"https://example.com"}`,
		}[path]))
		if status != http.StatusServiceUnavailable || !strings.Contains(string(answer), `"store_unavailable"`) {
			t.Errorf("%s: status %d, %s; want 503 store_unavailable", path, status, answer)
		}
	}

	for name, client := range map[string]*e2e.Client{"api": c, "worker": ops} {
		status, _, answer := client.Do("GET", "/readyz", "", nil)
		if status != http.StatusOK || strings.Contains(string(answer), `"store"`) {
			t.Errorf("readyz of the %s: status %d, %s; want 200 without a store", name, status, answer)
		}
	}
}
