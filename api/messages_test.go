package api_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"presswork/api"
	"presswork/internal/inference"
	"presswork/tasks/stream"
)

const askMessage = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`

// message sends a request to the Messages API.
func (h *harness) message(path, body string, headers ...string) reply {
	h.t.Helper()

	return h.do("POST", path, strings.NewReader(body), append(headers, "Content-Type: application/json")...)
}

func TestMessageIsSentWholeOrAsAStream(t *testing.T) {
	t.Parallel()
	h := serveChat(t, sayHello(t))

	var whole struct {
		ID, Type, Role, Model string
		Content               []struct{ Type, Text string }
		Reason                string `json:"stop_reason"`
	}
	res := h.message("/v1/messages?beta=true", askMessage,
		"Anthropic-Version: 2023-06-01", "Anthropic-Beta: a-2025-01-01,unknown", "X-Request-Id: req-of-client")
	res.decode(t, &whole)

	text := ""
	if len(whole.Content) > 0 {
		text = whole.Content[0].Text
	}

	if !strings.HasPrefix(whole.ID, "msg_") || whole.Type != "message" || whole.Role != "assistant" ||
		whole.Model != "m" || text != "Hello" || whole.Reason != "end_turn" {
		t.Errorf("got %+v, want a message with the text Hello", whole)
	}

	if id := res.Header.Get("Request-Id"); id != "req-of-client" || res.Header.Get("X-Queue-Time-Ms") == "" {
		t.Errorf("got the headers %v, want request-id and x-queue-time-ms", res.Header)
	}

	res = h.message("/v1/messages", strings.Replace(askMessage, "{", `{"stream":true,`, 1),
		"-X-API-Key: ", "Authorization: Bearer "+testKey)

	events := strings.Split(strings.TrimSpace(string(res.body)), "\n\n")
	if res.Header.Get("Content-Type") != "text/event-stream" ||
		!strings.HasPrefix(events[0], "event: message_start\n") ||
		!strings.HasPrefix(events[len(events)-1], "event: message_stop\n") {
		t.Errorf("got %v %s, want the events message_start to message_stop", res.Header, res.body)
	}
}

func TestMessageErrorsHaveAnthropicsForm(t *testing.T) {
	t.Parallel()
	h := serveChat(t, func(_ context.Context, run *stream.Run) error {
		return finish(run, inference.Frame{Error: inference.Errorf(http.StatusServiceUnavailable,
			inference.UpstreamUnavailable, "the model is at capacity")})
	}, func(o *api.Options) { o.Inference.Patience = time.Minute })

	for name, tc := range map[string]struct {
		body    string
		headers []string
		status  int
		want    string
	}{
		"capacity":        {askMessage, nil, 529, "overloaded_error"},
		"streamed":        {strings.Replace(askMessage, "{", `{"stream":true,`, 1), nil, 529, "overloaded_error"},
		"a wrong key":     {askMessage, []string{"X-API-Key: wrong"}, 401, "authentication_error"},
		"an old model":    {strings.Replace(askMessage, `"m"`, `"none"`, 1), nil, 404, "not_found_error"},
		"no JSON":         {`{`, nil, 400, "invalid_request_error"},
		"no max_tokens":   {`{"model":"m"}`, nil, 400, "invalid_request_error"},
		"another type":    {askMessage, []string{"Content-Type: text/plain"}, 415, "invalid_request_error"},
		"a bad retry key": {askMessage, []string{"Idempotency-Key: " + strings.Repeat("x", 300)}, 400, "invalid_request_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			res := h.do("POST", "/v1/messages", strings.NewReader(tc.body),
				append([]string{"Content-Type: application/json"}, tc.headers...)...)
			if body := string(res.body); res.StatusCode != tc.status ||
				!strings.HasPrefix(body, `{"type":"error","error":{"type":"`+tc.want+`","message":"`) ||
				!strings.HasSuffix(body, `"request_id":"`+res.Header.Get("Request-Id")+`"}`) {
				t.Errorf("got %d %s, want %d %s", res.StatusCode, res.body, tc.status, tc.want)
			}
		})
	}
}

func TestMessageErrorsInAStreamAreEvents(t *testing.T) {
	t.Parallel()
	h := serveChat(t, func(_ context.Context, run *stream.Run) error {
		send(t, run, firstFrame())
		send(t, run, contentFrame("Hel"))

		return finish(
			run,
			inference.Frame{Error: inference.Errorf(http.StatusBadGateway, inference.UpstreamError, "Gone.")},
		)
	})
	res := h.message("/v1/messages", strings.Replace(askMessage, "{", `{"stream":true,`, 1))

	want := "event: error\ndata: " + `{"type":"error","error":{"type":"api_error","message":"Gone."},"request_id":"` +
		res.Header.Get("Request-Id") + "\"}\n\n"
	if res.StatusCode != http.StatusOK || !strings.HasSuffix(string(res.body), want) {
		t.Errorf("got %d %s, want it to end with %s", res.StatusCode, res.body, want)
	}
}

func TestQueuedMessageStreamSendsPings(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	h := serveChat(t, func(_ context.Context, run *stream.Run) error {
		<-release
		return answerHello(t, run)
	}, func(o *api.Options) { o.Inference.Patience = 200 * time.Millisecond })

	req, err := http.NewRequestWithContext(t.Context(), "POST", h.url("/v1/messages"),
		strings.NewReader(strings.Replace(askMessage, "{", `{"stream":true,`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", testKey)

	res, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	var names []string

	for lines.Scan() {
		name, found := strings.CutPrefix(lines.Text(), "event: ")
		if !found {
			continue
		}

		if names = append(names, name); len(names) == 3 {
			close(release)
		}
	}

	got := strings.Join(names, " ")
	if !strings.HasPrefix(got, "message_start ping ping ") || !strings.HasSuffix(got, " message_delta message_stop") ||
		strings.Count(got, "message_start") != 1 {
		t.Errorf("got the events %s, want one message_start, pings and the answer", got)
	}
}

func TestTokensOfAMessageAreEstimated(t *testing.T) {
	t.Parallel()
	h := serveChat(t, sayHello(t))

	res := h.message(
		"/v1/messages/count_tokens?beta=true",
		`{"model":"m","messages":[{"role":"user","content":"Twelve bytes"}]}`,
	)
	if want := `{"input_tokens":10}`; string(res.body) != want {
		t.Errorf("got %d %s, want %s", res.StatusCode, res.body, want)
	}
}

func TestModelsHaveAnthropicsFormWithItsHeader(t *testing.T) {
	t.Parallel()
	h := serveChat(t, sayHello(t))

	type model struct {
		Type, ID string
		Name     string    `json:"display_name"`
		Created  time.Time `json:"created_at"`
	}
	var list struct {
		Data  []model
		More  *bool  `json:"has_more"`
		First string `json:"first_id"`
		Last  string `json:"last_id"`
	}
	h.do("GET", "/v1/models?limit=1000", nil, "Anthropic-Version: 2023-06-01").decode(t, &list)

	if len(list.Data) < 2 || list.Data[0].Type != "model" || list.Data[0].Name != list.Data[0].ID ||
		list.Data[0].Created.IsZero() || list.More == nil || *list.More ||
		list.First != list.Data[0].ID || list.Last != list.Data[len(list.Data)-1].ID {
		t.Errorf("got %+v, want a list in the form of the Messages API", list)
	}

	var one model
	h.do("GET", "/v1/models/m", nil, "Anthropic-Version: 2023-06-01").decode(t, &one)

	if one.ID != "m" || one.Type != "model" {
		t.Errorf("got %+v, want the model m", one)
	}
}
