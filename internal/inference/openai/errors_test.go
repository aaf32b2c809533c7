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
	// Parsing the error once for each level would take longer than complete allows.
	_, _, err := complete(t, newGateway(m), chat(t, "m"))
	if e := inference.AsError(err); e == nil || e.Status != 502 {
		t.Errorf("got %v, want status 502", e)
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
				t.Errorf("got %+v, %v; want the finish reason %s", deltas, err, want)
			case want == "" && (e == nil || e.Status != 502 || e.Code != inference.UpstreamError):
				t.Errorf("got %+v, %v; want status 502", deltas, err)
			case want == "" && reason != "null" && !strings.Contains(e.Message, reason):
				t.Errorf("got the message %s, want the reason in it", e.Message)
			}

			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, chunk(reason))
			}))
			defer web.Close()
			a, _, err := complete(t, newGateway(model("m", inference.Plain, web.URL)), chat(t, "m"))

			if reason == "null" {
				want = "stop" // an answer that is not streamed is complete without a reason
			}

			if (err == nil) != (want != "") || err == nil && a.Choices[0].FinishReason != want {
				t.Errorf("not streamed: got %+v, %v; want the finish reason %q", a, err, want)
			}
		})
	}
}

// TestErrorsOfAllEnginesAreRead has a row for each form in which an engine writes its errors.
func TestErrorsOfAllEnginesAreRead(t *testing.T) {
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
		t.Run(body, func(t *testing.T) {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, body)
			}))
			defer web.Close()

			_, _, err := complete(t, newGateway(model("m", inference.Plain, web.URL)), chat(t, "m"))

			e := inference.AsError(err)
			if e == nil || string(e.Code) != want.code || e.Message != want.message || e.Param != want.param {
				t.Errorf("got %+v, want %+v", e, want)
			}
		})
	}
}

// An error in a chunk may name its status. If the caller did not cause the error, its text is for the log only.
func TestErrorsInAStreamHaveTheirStatus(t *testing.T) {
	t.Parallel()

	for body, status := range map[string]int{
		`{"error":{"message":"m m","code":400}}`:                 http.StatusBadRequest,
		`{"error":"m m"}`:                                        http.StatusBadGateway,
		`{"object":"error","message":"m m","code":503}`:          http.StatusServiceUnavailable,
		`{"x_groq":{"error":{"message":"m m","code":"broken"}}}`: http.StatusBadGateway,
	} {
		t.Run(body, func(t *testing.T) {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "data: "+body)
			}))
			defer web.Close()
			m := model("m", inference.Plain, web.URL)
			m.Routing.Retries = new(0)

			_, _, err := complete(t, newGateway(m), chat(t, "m"))
			if e := inference.AsError(err); e == nil || e.Status != status || !strings.Contains(e.Error(), "m m") {
				t.Errorf("got %v, want status %d and the text", e, status)
			}
		})
	}
}
