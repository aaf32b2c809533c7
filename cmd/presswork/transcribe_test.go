package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presswork/internal/test/wait"
)

// The interruption comes while the server's answer is on the way: the job is accepted and may already run.
func TestAnInterruptedTranscribeCancelsAJobStillBeingAccepted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancelCause(t.Context())
	cancelled := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			cancelled <- r.URL.Path
			return
		}

		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		interrupt(errors.New("interrupt signal received"))

		select {
		case <-r.Context().Done(): // the client has stopped waiting for the answer
		case <-time.After(100 * time.Millisecond): // the delay of the answer
		}
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, `{"job_id":"one","status":"queued"}`)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(writeFiles(t, map[string]string{"a.wav": "RIFF"}), "a.wav")

	args := []string{"transcribe", "--model", "ears", "--server", server.URL, file}
	if code := run(ctx, args, func(string) string { return "" }, io.Discard, io.Discard); code != exitInterrupted {
		t.Errorf("exit status %d", code)
	}

	select {
	case path := <-cancelled:
		if path != "/api/conversion/one" {
			t.Errorf("cancelled %s", path)
		}
	default:
		t.Error("the job was not cancelled")
	}
}

// An interrupted upload ends at once: the server would reject half a form.
func TestAnInterruptionOfTranscribeEndsItsUpload(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancelCause(t.Context())
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		interrupt(errors.New("interrupt signal received"))
		<-over
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(writeFiles(t, map[string]string{"a.wav": strings.Repeat("RIFF", 8<<20)}), "a.wav")

	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"transcribe", "--model", "ears", "--server", server.URL, file}, func(string) string { return "" }, io.Discard, io.Discard)
	}()
	got := wait.Receive(t, "its end", code)
	close(over)

	if got != exitInterrupted {
		t.Errorf("exit status %d", got)
	}
}

func TestTranscribeChecksItsFlagsBeforeSending(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"a.wav": "RIFF", "sub/b.wav": "RIFF"})

	recording := filepath.Join(dir, "a.wav")
	for _, c := range []struct {
		args       []string
		code       int
		wantStderr string
	}{
		{nil, exitUsage, "takes FILE"},
		{[]string{recording, "--format", "stt"}, exitUsage, `--format: "stt" is not a format; did you mean "srt"?; allowed: json, text`},
		{[]string{recording, "--server", "localhost"}, exitUsage, "--server: "},
		{[]string{filepath.Join(dir, "none.wav")}, exitFailed, "no such file"},
		{[]string{filepath.Join(dir, "sub")}, exitFailed, "sub: it is a folder"},
		{[]string{recording, "-o", filepath.Join(dir, "none", "a.txt")}, exitFailed, "none does not exist"},
		{[]string{recording, "-o", filepath.Join(dir, "sub")}, exitFailed, "sub: it is a folder"},
	} {
		t.Run(c.wantStderr, func(t *testing.T) {
			args := append([]string{"transcribe", "--model", "ears"}, c.args...)
			got := runCommand(t, args...)
			got.check(t, c.code, c.wantStderr)
			got.checkNoOutput(t)
		})
	}
}
