// Command openaigo runs the cases of internal/test/compat with the official Go SDK of OpenAI. It is its own module,
// because Presswork does not need its dependencies.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"sync"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

var (
	client    = os.Getenv("COMPAT_CLIENT")
	base      = os.Getenv("COMPAT_BASE") + "/v1"
	laxBase   = os.Getenv("COMPAT_LAX_BASE") + "/v1"
	toolsBase = os.Getenv("COMPAT_TOOLS_BASE") + "/v1"
	key       = "key-" + client
)

// row is the result of a case, as the test reads it.
type row struct {
	Case    string `json:"case"`
	OK      bool   `json:"ok"`
	Error   string `json:"error,omitempty"`
	Without string `json:"without,omitempty"`
}

// failed is the panic value of a failed case.
type failed string

// check panics with a message unless ok is true.
func check(ok bool, format string, args ...any) {
	if !ok {
		panic(failed(fmt.Sprintf(format, args...)))
	}
}

// must returns v. It panics if err is not nil.
func must[T any](v T, err error) T {
	check(err == nil, "%v", err)
	return v
}

// main runs the cases four at a time, and prints a row for each.
func main() {
	out := json.NewEncoder(os.Stdout)
	var mu sync.Mutex
	print := func(r row) {
		mu.Lock()
		defer mu.Unlock()
		out.Encode(r)
	}
	slots := make(chan struct{}, 4)
	var running sync.WaitGroup
	maps.Copy(cases, wire)
	maps.Copy(cases, builtin)
	maps.Copy(cases, media)
	maps.Copy(cases, responding)

	for id, run := range cases {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r := row{Case: id, OK: true}
			func() {
				defer func() {
					// Checks of the cases panic.
					if p := recover(); p != nil {
						r.OK, r.Error = false, fmt.Sprint(p)
					}
				}()
				run()
			}()
			print(r)
		})
	}
	running.Wait()
}

// open returns a client without retries for the strict server, unless options say otherwise.
func open(options ...option.RequestOption) openai.Client {
	defaults := []option.RequestOption{option.WithBaseURL(base), option.WithAPIKey(key), option.WithMaxRetries(0)}
	return openai.NewClient(append(defaults, options...)...)
}

// model returns the name of a model for this client alone. Its upstream follows the scenario.
func model(scenario string) string { return client + "/" + scenario }

// ask returns a request with the message Hi.
func ask(scenario string) openai.ChatCompletionNewParams { return say(scenario, "Hi") }

// say returns a request with a message.
func say(scenario, text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model(scenario),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
	}
}

// control returns the answer of a control address of the upstream.
func control(what, scenario string) []byte {
	address := os.Getenv("COMPAT_CONTROL") + "/" + what + "?model=" + url.QueryEscape(model(scenario))

	res := must(http.Get(address)) //nolint:bodyclose // the linter does not look through must
	defer res.Body.Close()
	check(res.StatusCode == http.StatusOK, "%s of %s: %s", what, scenario, res.Status)

	return must(io.ReadAll(res.Body))
}

// left waits until a request to the model has been cancelled.
func left(scenario string) { control("left", scenario) }

// asked returns the requests that the model has received, oldest first.
func asked(scenario string) (requests []map[string]any) {
	must(0, json.Unmarshal(control("asked", scenario), &requests))
	return requests
}

// recording returns a WAV file with two seconds of 4 000 samples of two bytes.
func recording() []byte {
	b := []byte("RIFF\xa4\x3e\x00\x00WAVEfmt " +
		"\x10\x00\x00\x00\x01\x00\x01\x00\xa0\x0f\x00\x00\x40\x1f\x00\x00\x02\x00\x10\x00data\x80\x3e\x00\x00")

	return append(b, bytes.Repeat([]byte{0, 0x40}, 8000)...)
}
