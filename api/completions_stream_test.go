package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presswork/api"
	"presswork/internal/inference"
	"presswork/internal/test/wait"
	"presswork/tasks/stream"
)

func TestSilentStreamsBeginWithComments(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	h := serveChat(t, func(ctx context.Context, run *stream.Run) error {
		<-release
		return answerHello(t, run)
	}, func(o *api.Options) { o.Inference.Patience = 300 * time.Millisecond })

	req, err := http.NewRequestWithContext(t.Context(), "POST", h.url("/v1/chat/completions"),
		strings.NewReader(streamBody))
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
	for range 2 {
		// A comment has one line end. Some clients take an empty line for an event.
		if line, err := lines.ReadString('\n'); line != ": ping\n" || res.StatusCode != http.StatusOK {
			t.Fatalf("got %d %q, %v; want 200 and a comment", res.StatusCode, line, err)
		}
	}
	close(release)

	rest, err := io.ReadAll(lines)

	events := strings.ReplaceAll(string(rest), ": ping\n", "")
	if err != nil || !strings.Contains(events, "Hello") || !strings.HasSuffix(events, "\n\ndata: [DONE]\n\n") {
		t.Errorf("got %s, %v; want Hello and [DONE]", rest, err)
	}
}

func TestErrorsBeforeTheFirstTokenHaveAStatus(t *testing.T) {
	t.Parallel()
	failure := inference.Frame{
		Error: inference.Errorf(http.StatusServiceUnavailable, inference.UpstreamUnavailable,
			"the model is at capacity"),
	}
	failure.Error.RetryAfter = 1500 * time.Millisecond

	h := serveChat(t, func(_ context.Context, run *stream.Run) error {
		if run.Call.Tier == stream.Performance {
			send(t, run, firstFrame())
			send(t, run, contentFrame("Hel"))
		}

		return finish(run, failure)
	})
	for _, body := range []string{chatBody, streamBody} {
		res := h.chat(body)
		res.want(t, http.StatusServiceUnavailable, inference.UpstreamUnavailable)

		header := res.Header
		if header.Get("Retry-After") != "2" || header.Get("Retry-After-Ms") != "1500" ||
			header.Get("X-Should-Retry") != "true" {
			t.Errorf("the headers are %v, want a retry after 1500 ms", header)
		}
	}

	res := h.chat(strings.Replace(streamBody, "{", `{"service_tier":"performance",`, 1))

	body := string(res.body)
	if res.StatusCode != http.StatusOK || !strings.Contains(body, "Hel") || strings.Contains(body, "[DONE]") ||
		!strings.HasSuffix(
			body,
			`data: {"error":{"message":"the model is at capacity","type":"service_unavailable","code":"upstream_unavailable"}}`+"\n\n",
		) {
		t.Errorf("got %d %s, want 200, the text and the error", res.StatusCode, body)
	}
	h.chat(strings.Replace(chatBody, "{", `{"service_tier":"performance",`, 1)).
		want(t, http.StatusServiceUnavailable, inference.UpstreamUnavailable)
}

func TestStopWaitsForRunningStreams(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var calls atomic.Int32
	h := serveChat(t, func(ctx context.Context, run *stream.Run) error {
		if calls.Add(1) > 2 { // a call that started before Stop
			return answerHello(t, run)
		}
		send(t, run, firstFrame())
		send(t, run, contentFrame("Hel"))

		if run.Call.Tier == stream.Performance { // a call that does not end
			<-ctx.Done()
			return context.Cause(ctx)
		}
		<-release

		return answerHello(t, run)
	})
	// start sends a request and reads its first event.
	start := func(body string) *bufio.Reader {
		conn, err := net.Dial("tcp", h.server.Address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })

		req, err := http.NewRequest("POST", h.url("/v1/chat/completions"), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Api-Key", testKey)

		if err := req.Write(conn); err != nil {
			t.Fatal(err)
		}

		res, err := http.ReadResponse(bufio.NewReader(conn), req)
		if err != nil {
			t.Fatal(err)
		}

		r := bufio.NewReader(res.Body)
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}

		return r
	}
	short, endless := start(streamBody), start(strings.Replace(streamBody, "{", `{"service_tier":"performance",`, 1))
	stopped := make(chan error, 1)

	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 24*time.Second) // streams get half of it
		defer cancel()
		stopped <- h.server.Stop(ctx)
	}()
	wait.Until(t, "new calls are rejected",
		func() bool { return h.chat(chatBody).StatusCode == http.StatusServiceUnavailable })
	close(release)

	if rest, err := io.ReadAll(short); err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the stream that ends: got %s, %v; want [DONE]", rest, err)
	}

	rest, err := io.ReadAll(endless)
	if err != nil || !strings.Contains(string(rest), `data: {"error":{"message":"the server is shutting down"`) ||
		strings.Contains(string(rest), "[DONE]") {
		t.Errorf("the stream that does not end: got %s, %v; want an error instead of [DONE]", rest, err)
	}

	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestSlowReaderGetsAnError reads the beginning of a stream. It continues when more data waits than the server keeps and
// the connection buffers.
func TestSlowReaderGetsAnError(t *testing.T) {
	t.Parallel()
	started, sent := make(chan struct{}), make(chan struct{})
	var h *harness
	// entries returns the number of frames of the answer in Redis.
	entries := func() (n int64) {
		keys, _, err := h.redis.ScanType(t.Context(), 0, "*", 1000, "stream").Result()
		for _, key := range keys {
			n = max(n, h.redis.XLen(t.Context(), key).Val())
		}

		if err != nil {
			t.Error(err)
		}

		return n
	}
	h = serveChat(t, func(ctx context.Context, run *stream.Run) error {
		send(t, run, firstFrame())

		select {
		case <-started:
		case <-ctx.Done():
			return ctx.Err()
		}
		long := contentFrame(strings.Repeat("x", 250<<10))
		// The limit is MaxUnread, and the connections buffer a few MB. Each frame is published by itself: joined
		// frames would be too large to publish and would be fetched when they are read.
		for range 2 * stream.MaxUnread / (250 << 10) {
			before := entries()
			send(t, run, long)
			wait.Until(t, "the frame is published", func() bool { return entries() > before })
		}
		err := finish(run, inference.Frame{Result: &inference.Result{}})
		close(sent)

		return err
	}, func(o *api.Options) { o.WriteTimeout = time.Hour }) // the server must not drop the slow reader earlier

	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url(""), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	if err := conn.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(
		conn,
		"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
		testKey,
		len(streamBody),
		streamBody,
	)

	answer := bufio.NewReader(conn)
	for line := ""; !strings.HasPrefix(line, "data: "); {
		if line, err = answer.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	close(started)
	wait.Receive(t, "the whole answer is sent", sent)
	wait.Until(t, "the server has read it", func() bool {
		clients, err := h.redis.Do(t.Context(), "CLIENT", "LIST", "TYPE", "PUBSUB").Text()
		return err == nil && !regexp.MustCompile(`omem=[1-9]`).MatchString(clients)
	})

	rest, err := io.ReadAll(answer)

	end := rest[max(0, len(rest)-1000):]
	if err != nil || !strings.Contains(string(end), `"code":"reader_too_slow"`) ||
		!strings.Contains(string(end), "16 MiB") || strings.Contains(string(end), "[DONE]") {
		t.Errorf("after %d bytes got %.300s, %v; want reader_too_slow", len(rest), end, err)
	}
}

func TestErrorsListTheExecutedTools(t *testing.T) {
	t.Parallel()
	h := serveChat(t, func(_ context.Context, run *stream.Run) error {
		send(t, run, firstFrame())
		send(t, run, inference.Frame{Chunk: &inference.Chunk{Executed: []inference.ExecutedTool{
			{
				BuiltinCall: inference.BuiltinCall{
					Name:      inference.PythonFunction,
					Arguments: `{"code":"6*7"}`,
				},
				ToolResult: inference.ToolResult{Output: "42"},
			},
		}}})

		return finish(
			run,
			inference.Frame{
				Error: inference.Errorf(http.StatusBadRequest, inference.ToolUseFailed, "it called on and on"),
			},
		)
	})
	res := h.chat(chatBody)
	res.contains(t, `"code":"tool_use_failed"`, `"executed_tools":[{`, `"output":"42"`)

	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("got status %d, want 400", res.StatusCode)
	}
	// In a stream, the tools come before the error.
	res = h.chat(streamBody)

	text := string(res.body)
	if res.StatusCode != http.StatusOK || strings.Count(text, `"output":"42"`) != 1 ||
		!strings.Contains(text, `"code":"tool_use_failed"}}`) {
		t.Errorf("got %d %s, want 200, the output and the error", res.StatusCode, res.body)
	}
}
