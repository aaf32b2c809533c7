package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

func TestKeyHasItsOwnModelsAndLimits(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	// Of ann's five requests per day, the server rejects two for other reasons.
	keys := writeFile(t, "keys.yaml", `keys:
  - {name: boss, key: boss-key, admin: true}
  - {name: ann, key: ann-key, models: [hello], tpm: 5000, rpd: 5}
`)
	_, admin := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": chatModels(t, base, "hello", "echo"), "KEYS_CONFIG": keys,
	})
	admin.Key = "boss-key"
	ann := *admin
	ann.Key = "ann-key"
	post := func(c *e2e.Client, body string) (int, http.Header, string) {
		status, header, answer := c.Do("POST", "/v1/chat/completions", "application/json", []byte(body))
		return status, header, string(answer)
	}

	hello := string(chatRequest("hello", false, "hi"))

	status, _, answer := post(&ann, string(chatRequest("echo", false, "hi")))
	if status != http.StatusNotFound || !strings.Contains(answer, "model_not_found") {
		t.Errorf("model of another key: status %d, %s; want 404", status, answer)
	}

	if _, _, answer := ann.Do("GET", "/v1/models", "", nil); strings.Contains(string(answer), "echo") {
		t.Errorf("models of ann: %s, want them without echo", answer)
	}

	status, header, answer := post(&ann, hello)
	if status != http.StatusOK || header.Get("x-ratelimit-limit-tokens") != "5000" ||
		header.Get("x-ratelimit-remaining-requests") != "3" {
		t.Errorf("status %d, %s, headers %v; want 200 with the limits of the key", status, answer, header)
	}

	status, _, answer = post(&ann,
		`{"model":"hello","max_completion_tokens":9000,"messages":[{"role":"user","content":"x"}]}`)
	if status != http.StatusRequestEntityTooLarge ||
		!strings.Contains(answer, `"type":"tokens","code":"rate_limit_exceeded"`) {
		t.Errorf("too large: status %d, %s; want 413", status, answer)
	}
	post(&ann, hello)
	post(&ann, hello)

	status, header, answer = post(&ann, hello)
	if status != http.StatusTooManyRequests || header.Get("retry-after") == "" ||
		!strings.Contains(answer, "requests per day (RPD): Limit 5, Used 5") {
		t.Errorf("over the limit: status %d, %s; want 429", status, answer)
	}

	status, header, _ = ann.Do("POST", "/v1/messages", "application/json",
		[]byte(`{"model":"hello","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`))
	reset, err := time.Parse(time.RFC3339, header.Get("anthropic-ratelimit-requests-reset"))

	if status != http.StatusTooManyRequests || header.Get("anthropic-ratelimit-requests-limit") != "5" ||
		header.Get("anthropic-ratelimit-requests-remaining") != "0" || err != nil || time.Until(reset) > 24*time.Hour {
		t.Errorf("a message over the limit: status %d, headers %v; want 429 with the limits by Anthropic's names",
			status, header)
	}

	if status, _, answer := post(admin, hello); status != http.StatusOK {
		t.Errorf("other key: status %d, %s; want 200", status, answer)
	}
	_, _, own := ann.Do("GET", "/v1/usage?group_by=key", "", nil)

	_, _, all := admin.Do("GET", "/v1/usage?group_by=key", "", nil)
	if strings.Contains(string(own), "boss") || !strings.Contains(string(own), `"key":"ann","requests":3`) ||
		!strings.Contains(string(all), `"key":"boss","requests":1`) {
		t.Errorf("usage for ann %s, for the admin %s; want 3 requests of ann for ann, and all keys for the admin",
			own, all)
	}
}
