package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// EngineOptions wire an Engine.
type EngineOptions struct {
	// Program is llama-server of llama.cpp, whisper-server of whisper.cpp, or what
	// takes their options: a name in PATH or a file. Mandatory.
	Program string
	// Model is the file of its model. Mandatory.
	Model string
	// Log gets restarts as warnings, and the engine's output at debug level.
	// Default: discard.
	Log *slog.Logger
}

// Engine is a model server of our own: on a free port of loopback, started again when it dies,
// and gone with its parent.
type Engine struct {
	EngineOptions
	address string
	binary  string

	mu         sync.Mutex
	stop, kill context.CancelFunc // nil until Start has succeeded
	done       chan struct{}
}

// NewEngine finds the program and a free port; it starts nothing yet.
func NewEngine(o EngineOptions) (*Engine, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	binary, err := exec.LookPath(o.Program)
	if err != nil {
		return nil, fmt.Errorf("embedded: there is no program %q", o.Program)
	}

	if _, err := os.Stat(o.Model); err != nil {
		return nil, fmt.Errorf("embedded: the engine's model: %w", err)
	}

	address, err := freeAddress()
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}

	return &Engine{EngineOptions: o, binary: binary, address: address}, nil
}

// freeAddress is one of loopback that nobody listens at. Nobody does either until the engine
// has begun, and while it is started again: so its port is below those that systems take the
// ports of connections, and of listeners without a wish, from.
func freeAddress() (string, error) {
	const first, count, tries = 30_000, 2_768, 100
	var last error

	for range tries {
		l, err := new(
			net.ListenConfig,
		).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(count)))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
		last = err
	}

	return "", last
}

// Address is the engine's host:port.
func (e *Engine) Address() string { return e.address }

// Transcribes reports whether the engine is one for recordings: by its program's name.
func (e *Engine) Transcribes() bool { return strings.Contains(filepath.Base(e.Program), "whisper") }

// Start starts the engine and waits until it answers, be it that its model is still
// being loaded.
func (e *Engine) Start(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()

	if e.done != nil {
		return errors.New("embedded: the engine was started before")
	}

	c, err := e.spawn()
	if err != nil {
		return err
	}

	for {
		if _, err := statusOf(ctx, "http://"+e.address+"/health"); err == nil {
			break
		}

		select {
		case <-c.exited:
			return fmt.Errorf("embedded: %s did not start: %w; it said: %s", e.binary, c.err, c.words.tail())
		case <-ctx.Done():
			c.kill()
			return fmt.Errorf("embedded: %s is not ready: %w", e.binary, context.Cause(ctx))
		case <-time.After(pollEvery):
		}
	}
	stop, cancelStop := context.WithCancel(context.WithoutCancel(ctx))
	kill, cancelKill := context.WithCancel(context.WithoutCancel(ctx))

	e.stop, e.kill, e.done = cancelStop, cancelKill, make(chan struct{})
	go func() {
		defer close(e.done)
		supervise(stop, kill, c, e.Log, func(*child) (*child, error) { return e.spawn() })
	}()
	e.Log.Info("private engine started", "program", e.binary, "model", e.Model, "pid", c.cmd.Process.Pid)

	return nil
}

// inherited is what an engine needs of the environment, where secrets of ours are.
func inherited() (env []string) {
	for _, name := range []string{"HOME", "PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}

	return env
}

func (e *Engine) spawn() (*child, error) {
	host, port, err := net.SplitHostPort(e.address)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}

	args := []string{"-m", e.Model, "--host", host, "--port", port}
	if e.Transcribes() {
		args = append(args, "--inference-path", "/v1/audio/transcriptions")
	} else {
		args = append(args, "--jinja") // calls of tools need the model's own template
	}
	// The child's end is its own business: it must outlive any context here.
	cmd := exec.CommandContext(context.Background(), e.binary, args...)
	cmd.Env = inherited()

	return launch(cmd, e.Log)
}

// Stop ends the engine; when ctx ends before it does, it is killed.
func (e *Engine) Stop(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()

	if e.done == nil {
		return nil
	}
	e.stop()

	select {
	case <-e.done:
	case <-ctx.Done():
		e.kill()
		<-e.done
	}
	e.kill() // releases the context

	return nil
}
