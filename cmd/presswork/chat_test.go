package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/cmd/presswork/command"
	"presswork/internal/inference/inferencetest"
)

func TestChatPrintsTheAnswerOfAModel(t *testing.T) {
	t.Parallel()
	models, base := inferencetest.Start(t)

	server := strings.TrimSuffix(base, "/v1")

	for _, tc := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"", []string{"--model", "echo", "one", "two"}, "one two\n"},
		{"from a pipe", []string{"--model", "echo"}, "from a pipe\n"},
		{"a file", []string{"--model", "echo", "say:"}, "say:\n\na file\n"},
		{"", []string{"--model", "hello", "hi", "--system", "Be brief."}, "Hello, world!\n"},
	} {
		t.Run(tc.want, func(t *testing.T) {
			got, stderr, err := runWithInput(t, tc.stdin, map[string]string{"PRESSWORK_API_KEY": "hush"},
				append([]string{"chat", "--server", server}, tc.args...)...)
			if err != nil || got != tc.want {
				t.Errorf("chat %q: got %q, stderr %q, error %v; want %q", tc.args, got, stderr, err, tc.want)
			}
		})
	}
	requests := models.Requests()

	last := requests[len(requests)-1]
	if last.Header.Get("Authorization") != "Bearer hush" || !strings.Contains(string(last.Raw), "Be brief.") {
		t.Errorf("got request %v %s; want the key and the system prompt", last.Header, last.Raw)
	}
	// Without --model, it uses the first model that the server lists.
	_, _, err := runWithInput(t, "x", nil, "chat", "--server", server)
	if err != nil && strings.Contains(err.Error(), "model") {
		t.Error(err)
	}

	_, _, err = runWithInput(t, "", nil, "chat", "--server", server, "--model", "echo")
	if err == nil || !strings.Contains(err.Error(), "prompt is missing") {
		t.Errorf("without a prompt: got %v, want \"prompt is missing\"", err)
	}

	_, _, err = runWithInput(t, "x", nil, "chat", "--server", "http://me:hush@127.0.0.1:1", "--model", "echo")
	if err == nil ||
		!strings.HasPrefix(err.Error(), "http://me:xxxxx@127.0.0.1:1: the model's server does not answer") {
		t.Errorf("without a server: got %v, want its address without the password", err)
	}

	_, _, err = runWithInput(t, strings.Repeat("x", 8<<20+1), nil, "chat", "--server", server, "--model", "echo")
	if err == nil || !strings.Contains(err.Error(), "larger than 8 MB") {
		t.Errorf("a prompt over the limit: got %v, want \"larger than 8 MB\"", err)
	}
	// The address may have the suffix that other clients need.
	got, _, err := runWithInput(t, "x", nil, "chat", "--server", base+"/", "--model", "echo")
	if got != "x\n" || err != nil {
		t.Errorf("--server %s/: got %q, %v; want %q", base, got, err, "x\n")
	}
}

func TestChatSendsToolsAndPictures(t *testing.T) {
	t.Parallel()
	models, base := inferencetest.Start(t)
	picture := filepath.Join(t.TempDir(), "dot.png")

	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
	if err := os.WriteFile(picture, []byte(png), 0o600); err != nil {
		t.Fatal(err)
	}
	chat := func(args ...string) (string, string, error) {
		return runWithInput(t, "", nil,
			append([]string{"chat", "--server", base, "--model", "executed", "How many?"}, args...)...)
	}

	out, stderr, err := chat("--tools", "code,search", "--image", picture, "--image", "https://example.org/a.png")
	if err != nil || out != "Let me count. Two.\n" || stderr != "\n[python] print(1+1)\n2\n" {
		t.Errorf("got %q, stderr %q, error %v; want the answer and the code that ran", out, stderr, err)
	}

	for _, part := range []string{`"tools":[{"type":"code_interpreter"},{"type":"browser_search"}]`, `"url":"data:image/png;base64,iVBORw0KGgo`, `"url":"https://example.org/a.png"`} {
		t.Run(part, func(t *testing.T) {
			if raw := string(models.Requests()[0].Raw); !strings.Contains(raw, part) {
				t.Errorf("the server got no %s: %s", part, raw)
			}
		})
	}

	if _, _, err := chat("--tools", "hands"); err == nil || !strings.Contains(err.Error(), "allowed: code, search") {
		t.Errorf("an unknown tool: got %v, want the allowed tools", err)
	}

	if _, _, err := chat("--api", "grpc"); err == nil ||
		!strings.Contains(err.Error(), "allowed: chat, responses, messages") {
		t.Errorf("an unknown wire format: got %v, want the allowed ones", err)
	}

	for _, name := range []string{"chat_test.go", "none.png"} {
		if _, _, err := chat("--image", name); err == nil || !strings.Contains(err.Error(), "--image "+name) {
			t.Errorf("%s as a picture: got %v, want an error that names the flag", name, err)
		}
	}
}

func TestAnInterruptionEndsTheWaitForAPrompt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	silent, _ := io.Pipe()
	root := newRootCommand(
		&command.Program{Getenv: func(string) string { return "" }, Stdout: io.Discard, Stderr: io.Discard},
	)
	root.SetArgs([]string{"chat", "--model", "echo"})
	root.SetIn(silent)

	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	cause := errors.New("interrupted by the test")
	cancel(cause)

	if err := <-done; !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
}

func TestAnInterruptedChatHasItsOwnExitStatus(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("terminated signal received"))
	var stderr bytes.Buffer

	code := run(ctx, []string{"chat", "--model", "echo", "hi"}, func(string) string { return "" }, io.Discard, &stderr)
	if code != exitInterrupted || stderr.String() != "presswork: interrupted\n" {
		t.Errorf("got exit status %d, %q; want %d and one line", code, stderr.String(), exitInterrupted)
	}
}

func TestModelsListsChecksAndExplainsModels(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	file := filepath.Join(t.TempDir(), "models.yaml")

	text := fmt.Sprintf(
		"models:\n  - {id: org/good, aliases: [good], upstreams: [{base_url: %q, model: hello}]}\n  - {id: bad, upstreams: [{name: gone, base_url: \"http://127.0.0.1:1/v1\"}]}\n",
		base,
	)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	env := map[string]string{"INFERENCE_CONFIG": file}

	for _, tc := range []struct {
		args   []string
		want   string
		failed string
	}{
		{[]string{"models"}, "org/good", ""},
		{[]string{"models", "--json"}, `"object":"list"`, ""},
		{[]string{"models", "check", "good"}, "ok", ""},
		{[]string{"models", "check"}, "gone", "1 of 2 upstreams"},
		{[]string{"models", "explain", "bad"}, "http://127.0.0.1:1/v1", ""},
		{[]string{"models", "explain", "goood"}, "", "goood"},
		{[]string{"models", "explain"}, "", "name one model"},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			got, _, err := runWithInput(t, "", env, tc.args...)
			if !strings.Contains(got, tc.want) || (err == nil) != (tc.failed == "") ||
				err != nil && !strings.Contains(err.Error(), tc.failed) {
				t.Errorf("%q: got %q, %v; want %q and the error %q", tc.args, got, err, tc.want, tc.failed)
			}
		})
	}
}

func TestChatSaysThatTheKeyIsMissing(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"Invalid API Key","type":"invalid_request_error","code":"invalid_api_key"}}`)
	}))
	t.Cleanup(server.Close)

	for key, want := range map[string]string{"": "no key is set", "wrong": "is not valid"} {
		t.Run(want, func(t *testing.T) {
			env := map[string]string{"PRESSWORK_API_KEY": key}

			_, _, err := runWithInput(t, "x", env, "chat", "--server", server.URL)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--key") {
				t.Errorf("with the key %q: got %v, want %q and the flag --key", key, err, want)
			}
		})
	}
}
