package api_test

import (
	"net/http"
	"strings"
	"testing"

	"presswork/api"
)

func TestErrorsBelowV1HaveTheOpenAIForm(t *testing.T) {
	t.Parallel()
	h := serveChat(t, sayHello(t))

	big := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", 50<<20) + `"}]}`
	for name, tc := range map[string]struct {
		res    reply
		status int
		code   string
	}{
		"unknown":          {h.get("/v1/nothing"), 404, "unknown_url"},
		"unknown, Groq's":  {h.do("POST", "/openai/v1/nothing", nil), 404, "unknown_url"},
		"audio":            {h.do("POST", "/v1/audio/transcriptions", nil), 415, "unsupported_media_type"},
		"audio, Groq's":    {h.do("POST", "/openai/v1/audio/speech", nil), 415, "unsupported_media_type"},
		"the root":         {h.get("/v1"), 404, "unknown_url"},
		"delete a model":   {h.do("DELETE", "/v1/models/a/b", nil), 405, "method_not_allowed"},
		"wrong method":     {h.get("/openai/v1/chat/completions"), 405, "method_not_allowed"},
		"no media type":    {h.do("POST", "/v1/chat/completions", strings.NewReader(chatBody)), 415, "unsupported_media_type"},
		"compressed":       {h.chat(chatBody, "Content-Encoding: gzip"), 415, "unsupported_media_type"},
		"too large":        {h.chat(big), 413, "content_too_large"},
		"not UTF-8":        {h.chat("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}"), 400, "content_not_utf8"},
		"not JSON":         {h.chat("model=m"), 400, "invalid_json"},
		"empty":            {h.chat(""), 400, "invalid_json"},
		"an array":         {h.chat("[]"), 400, "invalid_type"},
		"a long key":       {h.chat(chatBody, "Idempotency-Key: "+strings.Repeat("k", 256)), 400, "invalid_option"},
		"no API key":       {h.chat(chatBody, "-X-API-Key"), 401, "invalid_api_key"},
		"a foreign origin": {h.do("OPTIONS", "/v1/chat/completions", nil, "Origin: https://evil.example", "Access-Control-Request-Method: POST"), 403, "origin_not_allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			var e struct {
				Error struct{ Message, Type, Code string }
			}
			tc.res.decode(t, &e)

			if tc.res.StatusCode != tc.status || e.Error.Code != tc.code || e.Error.Message == "" ||
				e.Error.Type == "" || tc.res.Header.Get("X-Should-Retry") != "false" ||
				tc.res.Header.Get("Content-Type") != "application/json" {
				t.Errorf("got %d %v %s; want %d, %s in the form of the SDKs", tc.res.StatusCode, tc.res.Header,
					tc.res.body, tc.status, tc.code)
			}

			if allow := tc.res.Header.Get("Allow"); tc.status == 405 && allow == "" {
				t.Error("the 405 has no Allow header")
			}
		})
	}

	for _, path := range []string{"/v1/models", "/openai/v1/models", "/v1/models/m", "/openai/v1/models/m"} {
		t.Run(path, func(t *testing.T) {
			if res := h.do("HEAD", path, nil); res.StatusCode != http.StatusOK || len(res.body) != 0 {
				t.Errorf("HEAD %s: got %d with %d bytes, want 200 without a body", path, res.StatusCode, len(res.body))
			}
		})
	}
}

func TestPagesOfListedOriginsMayCall(t *testing.T) {
	t.Parallel()
	h := serveChat(t, sayHello(t),
		func(o *api.Options) { o.AllowedOrigins = []string{"https://app.example"} })

	res := h.do("OPTIONS", "/v1/chat/completions", nil, "-X-API-Key", "Origin: https://app.example",
		"Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: authorization, content-type, x-stainless-timeout, idempotency-key")

	allowed := res.Header.Get("Access-Control-Allow-Headers")
	if res.StatusCode != http.StatusNoContent || strings.Count(allowed, ",") != 3 {
		t.Errorf("preflight: got %d %v, want 204 and the four allowed headers", res.StatusCode, res.Header)
	}
	res = h.chat(streamBody, "Origin: https://app.example")

	exposed := strings.ToLower(res.Header.Get("Access-Control-Expose-Headers"))
	for _, name := range []string{"x-request-id", "x-should-retry", "x-ratelimit-remaining-tokens", "x-queue-time-ms"} {
		if !strings.Contains(exposed, name) {
			t.Errorf("%s is not exposed: %s", name, exposed)
		}
	}

	if res.StatusCode != http.StatusOK || res.Header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("completion: got %d %v, want 200 and the allowed origin", res.StatusCode, res.Header)
	}
}
