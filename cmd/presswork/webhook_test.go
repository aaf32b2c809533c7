package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestWebhookListenPrintsDeliveriesUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	stdout, stdoutEnd := io.Pipe()
	stderr, stderrEnd := io.Pipe()
	code := make(chan int, 1)

	go func() {
		code <- run(ctx, []string{"webhook", "listen", "--addr", "127.0.0.1:0"}, func(string) string { return "" },
			stdoutEnd, stderrEnd)
	}()

	greeting, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}

	address := regexp.MustCompile(`http://[0-9.:]+/`).FindString(greeting)
	if address == "" {
		t.Fatalf("the command printed %q, which has no address", greeting)
	}
	sent := make(chan error, 1)

	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address,
			strings.NewReader(`{"type":"job.failed"}`))
		if err != nil {
			sent <- err
			return
		}

		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			answer.Body.Close()
		}
		sent <- err
	}()

	line, err := bufio.NewReader(stdout).ReadString('\n')
	if !strings.Contains(line, "job.failed (signature not checked") {
		t.Errorf("printed %q (%v), want the type and the state of the signature", line, err)
	}

	go func() { _, _ = io.Copy(io.Discard, stdout) }()

	if err := <-sent; err != nil {
		t.Error(err)
	}
	interrupt()

	if got := <-code; got != 0 {
		t.Errorf("exit status %d after Ctrl-C, want 0", got)
	}
}
