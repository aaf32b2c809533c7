package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
)

// wire has the cases of unusual streams, failures and time-outs.
var wire = map[string]func(){
	"E32": func() {
		for _, scenario := range []string{"crlf", "bare", "noisy", "no-done", "no-end", "two-lines", "split-bytes"} {
			got := contentOf(must(read(ask(scenario))))
			check(got == "Grüße, 世界!", "%s: %q", scenario, got)
		}
	},
	"E33": func() {
		text := "a\u2028b\u2029c\u0085d\n\ne\r\nf\u0000g data: [DONE]\n\n 𝄞\"\\"
		got := contentOf(must(read(say("echo", text))))
		check(got == text, "%q", got)
	},
	"E34": func() {
		check(contentOf(must(read(ask("late:11s")))) == hello, "another answer")
	},
	"E35": func() {
		n := len(contentOf(must(read(ask("big-line")))))
		check(n == 16*90_000, "%d bytes", n)
	},
	"E36": func() {
		for _, scenario := range []string{"cut", "error-frame", "cut-clean"} {
			chunks, err := read(ask(scenario))
			check(
				err != nil && strings.HasPrefix(contentOf(chunks), "Hello") &&
					strings.Contains(err.Error(), "model's server"),
				"%s: %q %v",
				scenario,
				contentOf(chunks),
				err,
			)
		}
	},
	"E37": func() {
		stream := sdk.Chat.Completions.NewStreaming(ctx, ask("hello"))
		for stream.Next() {
		}
		must(0, stream.Err())
		stream.Close()
		stream.Close()
	},

	"F38": func() {
		_, err := complete(ask("hello"), option.WithAPIKey("wrong"))
		e := rejected(err)
		check(e.StatusCode == 401 && e.Code == "invalid_api_key" && e.Type == "invalid_request_error", "%v", err)
	},
	"F39": func() {
		p := ask("hello")
		p.Model = "nothing"
		_, err := complete(p)
		e := rejected(err)
		check(e.StatusCode == 404 && e.Code == "model_not_found" && e.Param == "model", "%v", err)
	},
	"F40": func() {
		e := rejected(sdk.Get(ctx, "nowhere", nil, nil))
		check(e.StatusCode == 404 && e.Code == "unknown_url", "%v", e)
	},
	"F41": func() {
		_, err := complete(say("hello", strings.Repeat("x", 50<<20)))
		check(
			rejected(err).StatusCode == 413 && rejected(err).Code == "content_too_large",
			"%v",
			rejected(err).RawJSON(),
		)
	},
	"F42": func() {
		for field, set := range map[string]option.RequestOption{
			"messages": option.WithJSONSet("messages", []any{}), "temperature": option.WithJSONSet("temperature", 3),
			"n":                option.WithJSONSet("n", 2),
			"messages[0].role": option.WithJSONSet("messages.0.role", "wizard"),
		} {
			_, err := complete(ask("hello"), set)
			check(rejected(err).StatusCode == 400 && rejected(err).Param == field, "%v", err)
		}
	},
	"F43": func() {
		// The key allows one request at a time. The stream uses it until the server rejects the client with retries.
		slow := option.WithAPIKey("slow-" + client)
		stream := sdk.Chat.Completions.NewStreaming(ctx, ask("hang-middle:slow"), slow)
		check(stream.Next(), "%v", stream.Err())
		_, err := complete(ask("hello"), slow)
		again, _ := strconv.Atoi(rejected(err).Response.Header.Get("Retry-After"))
		check(rejected(err).StatusCode == 429 && again >= 1, "%v", err)
		began := time.Now()
		must(
			complete(
				ask("hello"),
				slow,
				option.WithMaxRetries(20),
				option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
					res, err := next(r)
					if err == nil && res.StatusCode == http.StatusTooManyRequests {
						stream.Close()
					}

					return res, err
				}),
			),
		)
		check(time.Since(began) >= 900*time.Millisecond, "the client did not wait for Retry-After")
	},
	"F44": func() {
		for scenario, want := range map[string]struct{ status, tries int }{
			"status:500": {502, 3}, "status:401": {502, 1}, "status:404": {502, 1}, "status:422": {422, 1},
			"html": {502, 3}, "garbage": {502, 3}, "context": {400, 1},
		} {
			var counts []string
			_, err := complete(ask(scenario), option.WithMaxRetries(2), tries(&counts))
			check(
				rejected(err).StatusCode == want.status && len(counts) == want.tries &&
					counts[len(counts)-1] == strconv.Itoa(want.tries-1),
				"%s: %v %v",
				scenario,
				err,
				counts,
			)
			check(!strings.Contains(rejected(err).RawJSON(), "127.0.0.1"), "the error reveals an internal address")
		}
	},
	"F45": func() {
		stream := sdk.Chat.Completions.NewStreaming(ctx, ask("narrow"))
		check(stream.Next(), "%v", stream.Err())

		short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		_, err := sdk.Chat.Completions.New(short, ask("narrow"))
		check(errors.Is(err, context.DeadlineExceeded), "%v", err)
		time.Sleep(5 * time.Second) // the server checks every few seconds whether the client is connected
		stream.Close()
		must(complete(ask("narrow")))
		check(len(asked("hang-once")) == 2, "a request without a caller reached the model")
	},
	"F46": func() {
		for len(asked("hang")) == 0 { // the request must reach the model before it can be cancelled
			_, err := complete(ask("hang"), option.WithRequestTimeout(time.Second))
			check(err != nil, "no error")
		}
		left("hang")
	},
}
