//go:build compat

package compat

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"presswork/internal/test/freeport"
	"presswork/internal/test/wait"
)

const (
	// webhookTask is the number of the section of docs/rest.md with receivers of webhooks.
	webhookTask   = "7"
	webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	delivery      = `{"type":"job.completed","data":{"title":"ü"}}`
)

// TestDocumentedReceiversCheckSignatures sends valid and forged deliveries to the programs of docs/rest.md.
func TestDocumentedReceiversCheckSignatures(t *testing.T) {
	t.Parallel()

	for _, p := range programs(t) {
		if p.task != webhookTask {
			continue
		}
		t.Run(p.language, func(t *testing.T) {
			t.Parallel()

			if p.language == "curl" {
				checkStoredDelivery(t, p)
			} else {
				checkReceiver(t, p)
			}
		})
	}
}

// signedHeaders returns the headers of a delivery that is signed at a time.
func signedHeaders(t *testing.T, at time.Time) http.Header {
	t.Helper()

	signer, err := standardwebhooks.NewWebhook(webhookSecret)
	if err != nil {
		t.Fatal(err)
	}

	signature, err := signer.Sign("msg_1", at, []byte(delivery))
	if err != nil {
		t.Fatal(err)
	}

	return http.Header{
		"Webhook-Id":        {"msg_1"},
		"Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)},
		"Webhook-Signature": {"v1,b3RoZXI= " + signature},
	}
}

// checkStoredDelivery runs a program that checks a delivery in files. It must print whether the delivery is valid.
func checkStoredDelivery(t *testing.T, p program) {
	t.Helper()

	for body, want := range map[string]string{delivery: "valid", "{}": "forged"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "body.json"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		h := signedHeaders(t, time.Now())
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", p.text)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "WEBHOOK_SECRET="+webhookSecret, "WEBHOOK_ID="+h.Get("Webhook-Id"),
			"WEBHOOK_TIMESTAMP="+h.Get("Webhook-Timestamp"), "WEBHOOK_SIGNATURE="+h.Get("Webhook-Signature"))

		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); got != want || (err == nil) != (want == "valid") {
			t.Errorf("the program printed %q (%v) for the body %s, want %q", got, err, body, want)
		}
	}
}

// checkReceiver runs a receiver and sends it valid, stale and forged deliveries.
func checkReceiver(t *testing.T, p program) {
	t.Helper()
	dir, port := t.TempDir(), freeport.Take(t)
	file, command := runners[p.language](os.Getenv("PRESSWORK_COMPAT"), dir)

	if err := os.WriteFile(file, []byte(p.text), 0o600); err != nil {
		t.Fatal(err)
	}

	if p.language == "Go" { // `go run` would leave its child running
		build := exec.CommandContext(t.Context(), "go", "build", "-o", "receiver", "main.go")
		build.Dir = dir

		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		command = []string{filepath.Join(dir, "receiver")}
	}
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+webhookSecret, "PORT="+port)

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	address := "http://127.0.0.1:" + port + "/"
	wait.Until(t, "the receiver listens", func() bool {
		answer, err := http.Get(address)
		if err == nil {
			answer.Body.Close()
		}

		return err == nil
	})

	stale, forged := signedHeaders(t, time.Now().Add(-time.Hour)), signedHeaders(t, time.Now())
	forged.Set("Webhook-Id", "msg_2")

	for name, test := range map[string]struct {
		header   http.Header
		accepted bool
	}{"valid": {signedHeaders(t, time.Now()), true}, "stale": {stale, false}, "forged": {forged, false}} {
		if got := deliver(t, address, test.header); test.accepted && got/100 != 2 || !test.accepted && got != 401 {
			t.Errorf("%s delivery: status %d, want 2xx for a valid one and 401 for others", name, got)
		}
	}

	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "job.completed" {
		t.Errorf("the receiver printed %q (%v), want job.completed", line, err)
	}
}

// deliver sends the delivery and returns the status of the answer.
func deliver(t *testing.T, address string, header http.Header) int {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(delivery))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header

	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()

	return answer.StatusCode
}
