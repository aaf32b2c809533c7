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
	// webhookTask is the task of docs/rest.md with receivers of webhooks.
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

// signedHeaders returns the headers of a delivery that was signed at a time.
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

// checkStoredDelivery runs the program for a delivery in files.
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
			t.Errorf("the body %s is %q (%v), want %q", body, got, err, want)
		}
	}
}

// checkReceiver starts the program and sends it deliveries.
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
		answer, err := http.Get(address) //nolint:gosec // a receiver on this machine
		if err == nil {
			answer.Body.Close()
		}

		return err == nil
	})

	stale, forged := signedHeaders(t, time.Now().Add(-time.Hour)), signedHeaders(t, time.Now())
	forged.Set("Webhook-Id", "msg_2")

	for name, test := range map[string]struct {
		header http.Header
		status int
	}{"valid": {signedHeaders(t, time.Now()), 0}, "stale": {stale, 401}, "forged": {forged, 401}} {
		if got := deliver(t, address, test.header); got != test.status && (test.status != 0 || got/100 != 2) {
			t.Errorf("%s delivery: status %d, want %d (0 is any 2xx)", name, got, test.status)
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
