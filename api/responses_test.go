package api_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/test/wait"
	"presswork/tasks/stream"
)

// respond sends a request to the Responses API.
func (h *harness) respond(path, body string) reply {
	h.t.Helper()

	return h.do("POST", path, strings.NewReader(body), "Content-Type: application/json")
}

func TestResponseIsSentWholeOrAsAStream(t *testing.T) {
	t.Parallel()
	h := serveChat(t, sayHello(t))

	var whole struct {
		ID, Object, Status string
		Output             []struct {
			Type    string
			Content []struct{ Text string }
		}
		Usage struct {
			Total int `json:"total_tokens"`
		}
	}
	h.respond("/v1/responses", `{"model":"m","input":"Hi"}`).decode(t, &whole)

	if !strings.HasPrefix(whole.ID, "resp_") || whole.Object != "response" || whole.Status != "completed" ||
		len(whole.Output) != 1 || whole.Output[0].Content[0].Text != "Hello" || whole.Usage.Total != 3 {
		t.Errorf("got %+v, want a completed response with the text Hello and 3 tokens", whole)
	}

	res := h.respond("/openai/v1/responses", `{"model":"m","input":"Hi","stream":true}`)

	events := strings.Split(strings.TrimSpace(string(res.body)), "\n\n")
	if res.Header.Get("Content-Type") != "text/event-stream" ||
		!strings.HasPrefix(events[0], "event: response.created\n") ||
		!strings.HasPrefix(events[len(events)-1], "event: response.completed\n") {
		t.Errorf("got %v %s, want the events created to completed", res.Header, res.body)
	}
}

func TestResponseErrorsBeforeTheFirstTokenHaveAStatus(t *testing.T) {
	t.Parallel()
	h := serveChat(t, func(_ context.Context, run *stream.Run) error {
		return finish(run, inference.Frame{Error: inference.Errorf(http.StatusBadRequest, inference.ContextLength,
			"the request is too long")})
	})

	h.respond("/v1/responses", `{"model":"m","input":"Hi"}`).want(t, http.StatusBadRequest, inference.ContextLength)
	var res reply
	// A stream begins without a status if the worker takes half a second.
	wait.Until(t, "an error precedes the stream", func() bool {
		res = h.respond("/v1/responses", `{"model":"m","input":"Hi","stream":true}`)
		return res.StatusCode != http.StatusOK
	})
	res.want(t, http.StatusBadRequest, inference.ContextLength)
	h.respond("/v1/responses", `{"model":"none","input":"Hi"}`).want(t, http.StatusNotFound, inference.ModelNotFound)
	h.respond("/v1/responses", `{"model":"m","input":"Hi","previous_response_id":"resp_1"}`).
		want(t, http.StatusBadRequest, fault.InvalidOption)
}

func TestQueuedResponseStreamBeginsAtOnceAndRepeatsItsState(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	h := serveChat(t, func(_ context.Context, run *stream.Run) error {
		<-release
		return answerHello(t, run)
	}, func(o *api.Options) { o.Inference.Patience = 200 * time.Millisecond })

	req, err := http.NewRequestWithContext(t.Context(), "POST", h.url("/v1/responses"),
		strings.NewReader(`{"model":"m","input":"Hi","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+testKey)

	res, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)

	for _, want := range []string{"created", "in_progress", "in_progress", "in_progress"} {
		name, err := lines.ReadString('\n')
		if err != nil || name != "event: response."+want+"\n" {
			t.Fatalf("got %q, %v; want the event %s", name, err, want)
		}

		for range 2 { // the data and the empty line
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(release)

	rest, err := io.ReadAll(lines)
	if err != nil || !strings.Contains(string(rest), "event: response.completed\n") {
		t.Errorf("got %s, %v; want the event completed", rest, err)
	}
}

func TestResponseErrorsInAStreamAreEvents(t *testing.T) {
	t.Parallel()
	h := serveChat(t, func(_ context.Context, run *stream.Run) error {
		send(t, run, firstFrame())
		send(t, run, contentFrame("Hel"))
		e := inference.Errorf(http.StatusServiceUnavailable, inference.UpstreamUnavailable, "the model is at capacity.")
		e.RetryAfter = 1500 * time.Millisecond

		return finish(run, inference.Frame{Error: e})
	})
	res := h.respond("/v1/responses", `{"model":"m","input":"Hi","stream":true}`)

	events := strings.Split(strings.TrimSpace(string(res.body)), "\n\n")
	last := events[len(events)-1]

	if !strings.HasPrefix(last, "event: response.failed\n") || !strings.Contains(last,
		`"error":{"code":"rate_limit_exceeded","message":"the model is at capacity. Please try again in 2s."}`) {
		t.Errorf("the last event is %s, want failed with a retry in 2s", last)
	}
}

func TestInputTokensAreEstimated(t *testing.T) {
	t.Parallel()
	h := serveChat(t, sayHello(t))

	res := h.respond("/v1/responses/input_tokens", `{"model":"m","input":"Twelve bytes"}`)
	if want := `{"object":"response.input_tokens","input_tokens":10,"estimated":true}`; string(res.body) != want {
		t.Errorf("got %d %s, want %s", res.StatusCode, res.body, want)
	}

	if got := res.Header.Get("X-Presswork-Warning"); got != "tokens_estimated" {
		t.Errorf("the warning is %q, want tokens_estimated", got)
	}
}
