package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// ollamaAddress is the address on which Ollama listens by default.
const ollamaAddress = "127.0.0.1:11434"

// OllamaInstalled reports whether PATH has an ollama program.
func OllamaInstalled() bool {
	_, err := exec.LookPath("ollama")
	return err == nil
}

// OllamaRunning reports whether an Ollama answers on this machine.
func OllamaRunning(ctx context.Context) bool { return answers(ctx, ollamaAddress) }

// answers reports whether an Ollama answers at an address.
func answers(ctx context.Context, address string) bool {
	status, err := statusOf(ctx, "http://"+address+"/api/version")
	return err == nil && status == http.StatusOK
}

// statusTimeout is how long a local server may take to report its status. It allows for a busy machine.
const statusTimeout = 10 * time.Second

// statusOf requests the status of a local server.
func statusOf(ctx context.Context, url string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}

	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	res.Body.Close()

	return res.StatusCode, nil
}

// Ollama runs a private `ollama serve` that ends with its parent.
type Ollama struct {
	address string
	log     *slog.Logger
	child   *child
}

// NewOllama returns an Ollama that is not started.
func NewOllama(log *slog.Logger) *Ollama { return &Ollama{address: ollamaAddress, log: log} }

// Start starts the program and waits until it answers. If an Ollama already answers, Start uses that one. Errors:
// ollama is not installed, it ended (with its last lines of output), or ctx ended.
func (o *Ollama) Start(ctx context.Context) error {
	if answers(ctx, o.address) {
		return nil
	}

	binary, err := exec.LookPath("ollama")
	if err != nil {
		return errors.New("embedded: ollama is not installed; see https://ollama.com/download")
	}
	// Ollama needs the user's home, which has the models, but no secret of Presswork.
	cmd := exec.CommandContext(context.Background(), binary, "serve")

	cmd.Env = []string{"HOME=" + os.Getenv("HOME"), "PATH=" + os.Getenv("PATH"), "OLLAMA_HOST=" + o.address}
	if folder := os.Getenv("OLLAMA_MODELS"); folder != "" {
		cmd.Env = append(cmd.Env, "OLLAMA_MODELS="+folder)
	}

	c, err := launch(cmd, o.log)
	if err != nil {
		return err
	}

	for !answers(ctx, o.address) {
		select {
		case <-c.exited:
			return fmt.Errorf("embedded: ollama did not start: %w; it said: %s", c.err, c.words.tail())
		case <-ctx.Done():
			c.kill()
			return fmt.Errorf("embedded: ollama is not ready: %w", context.Cause(ctx))
		case <-time.After(pollEvery):
		}
	}
	o.child = c
	o.log.Info("private ollama started", "pid", c.cmd.Process.Pid, "address", o.address)

	return nil
}

// Stop ends the child that Start has started, if any. It kills the child when ctx ends. The error is always nil.
func (o *Ollama) Stop(ctx context.Context) error {
	if o.child != nil {
		o.child.end(ctx)
	}

	return nil
}
