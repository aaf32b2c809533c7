package openai_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/openai"
)

func TestADeeplyNestedErrorIsParsedOnce(t *testing.T) {
	t.Parallel()
	const depth = 9000
	bomb := strings.Repeat(`{"error":`, depth) + `"` + strings.Repeat("x", 4<<20) + `"` + strings.Repeat("}", depth)

	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", bomb)
	}))
	defer web.Close()
	m := model("m", inference.Plain, web.URL)
	m.Routing.Retries = new(0)
	// Reading it once for each level takes longer than complete allows.
	_, _, err := complete(t, newGateway(m), parse(t, `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`))
	if e := inference.AsError(err); e == nil || e.Status != 502 {
		t.Error(e)
	}
}

func TestOnlyAKnownFinishReasonEndsAnAnswer(t *testing.T) {
	t.Parallel()

	chunk := func(reason string) string {
		return fmt.Sprintf(
			`{"choices":[{"index":0,"delta":{"content":"Hi"},"message":{"content":"Hi"},"finish_reason":%s}]}`,
			reason,
		)
	}
	for reason, want := range map[string]string{
		`"stop"`: "stop", `"STOP"`: "stop", `"end_turn"`: "stop", `"max_tokens"`: "length", `"function_call"`: "tool_calls",
		`"RECITATION"`: "content_filter", `"content_filter: PROHIBITED_CONTENT"`: "content_filter",
		`"insufficient_system_resource"`: "", `"error"`: "", `"abort"`: "", `"x"`: "", `null`: "",
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			deltas, err := openai.Stream(t.Context(), "data: "+chunk(reason)+"\n\ndata: [DONE]\n\n")

			e := inference.AsError(err)
			switch {
			case want != "" && (err != nil || deltas[0].Finish != want):
				t.Errorf("%+v, %v", deltas, err)
			case want == "" && (e == nil || e.Status != 502 || e.Code != inference.UpstreamError):
				t.Errorf("%+v, %v", deltas, err)
			case want == "" && reason != "null" && !strings.Contains(e.Message, reason):
				t.Errorf("the message does not name the reason: %s", e.Message)
			}

			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, chunk(reason))
			}))
			defer web.Close()
			a, _, err := complete(t, newGateway(model("m", inference.Plain, web.URL)),
				parse(t, `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`))

			if reason == "null" {
				want = "stop" // a whole answer is complete without one
			}

			if (err == nil) != (want != "") || err == nil && a.Choices[0].FinishReason != want {
				t.Errorf("a whole answer: %+v, %v", a, err)
			}
		})
	}
}

// Engines write their errors in forms of their own.
func TestAnUpstreamsErrorIsReadInItsForm(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]struct{ code, message, param string }{
		`{"error":{"message":"m","type":"invalid_request_error","param":"p","code":"c"}}`: {"c", "m", "p"},
		`{"error":"m"}`: {"invalid_request", "m", ""}, // Ollama's older form
		`{"object":"error","message":"m","param":null,"code":400}`: {"invalid_request", "m", ""},
		`{"detail":"m"}`: {"invalid_request", "m", ""},
		`{"error":{"code":400,"message":"m","type":"exceed_context_size_error"}}`: {string(inference.ContextLength), "m", ""},
		`{"error":{"message":["m"],"code":{}}}`:                                   {"invalid_request", "the model's server rejected the request", ""},
		`<html>`:                                                                  {"invalid_request", "the model's server rejected the request", ""},
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, body)
		}))
		defer web.Close()

		_, _, err := complete(t, newGateway(model("m", inference.Plain, web.URL)),
			parse(t, `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`))

		e := inference.AsError(err)
		if e == nil || string(e.Code) != want.code || e.Message != want.message || e.Param != want.param {
			t.Errorf("%s: got %+v", body, e)
		}
	}
	// One that comes in a chunk may name its status; what it says of others is for the log.
	for body, status := range map[string]int{
		`{"error":{"message":"m m","code":400}}`:                 http.StatusBadRequest,
		`{"error":"m m"}`:                                        http.StatusBadGateway,
		`{"object":"error","message":"m m","code":503}`:          http.StatusServiceUnavailable,
		`{"x_groq":{"error":{"message":"m m","code":"broken"}}}`: http.StatusBadGateway,
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: "+body)
		}))
		defer web.Close()
		m := model("m", inference.Plain, web.URL)
		m.Routing.Retries = new(0)

		_, _, err := complete(t, newGateway(m), parse(t, `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`))
		if e := inference.AsError(err); e == nil || e.Status != status || !strings.Contains(e.Error(), "m m") {
			t.Errorf("%s in a chunk: %v", body, e)
		}
	}
}
