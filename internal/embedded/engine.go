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

// EngineOptions configures an Engine.
type EngineOptions struct {
	// Program is llama-server of llama.cpp, whisper-server of whisper.cpp, or a program with the same options: a
	// file, or a name in PATH. Required.
	Program string
	// Model is the path of the model file. Required.
	Model string
	// Log receives restarts as warnings and the engine's output at level debug. Default: discard.
	Log *slog.Logger
}

// Engine runs a model server on a free loopback port. It restarts the server when it dies and ends it with the
// parent.
type Engine struct {
	EngineOptions
	address string
	binary  string

	mu         sync.Mutex
	stop, kill context.CancelFunc // as in Redis; nil before Start has succeeded
	done       chan struct{}      // closed when the supervisor has ended
}

// NewEngine finds the program and a free port. It does not start the program. It returns an error if the program or the
// model file is missing, or if no port is free.
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

// freeAddress returns a free loopback address. The port must stay free until the engine listens, and during a
// restart. It is therefore below the range that systems assign to connections and to listeners on port 0.
func freeAddress() (string, error) {
	const first, count, tries = 30_000, 2_768, 100
	var last error

	for range tries {
		var listen net.ListenConfig

		l, err := listen.Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(count)))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
		last = err
	}

	return "", last
}

// Address returns the engine's host:port.
func (e *Engine) Address() string { return e.address }

// Transcribes reports whether the engine transcribes recordings, judged by the program's name.
func (e *Engine) Transcribes() bool { return strings.Contains(filepath.Base(e.Program), "whisper") }

// Start starts the engine and waits until it answers. The engine may still be loading its model. The error of an engine
// that ends has its last lines of output.
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
	// ctx bounds the start only; the engine runs until Stop.
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

// inherited lists the environment variables that an engine needs. The rest of the environment holds secrets.
func inherited() (env []string) {
	for _, name := range []string{
		"HOME", "PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES",
	} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}

	return env
}

// spawn starts the engine's process.
func (e *Engine) spawn() (*child, error) {
	host, port, err := net.SplitHostPort(e.address)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}

	args := []string{"-m", e.Model, "--host", host, "--port", port}
	if e.Transcribes() {
		args = append(args, "--inference-path", "/v1/audio/transcriptions")
	} else {
		args = append(args, "--jinja") // tool calls need the model's own template
	}
	// The child must outlive every context here; the supervisor ends it.
	cmd := exec.CommandContext(context.Background(), e.binary, args...)
	cmd.Env = inherited()

	return launch(cmd, e.Log)
}

// Stop ends the engine. It kills the engine when ctx ends. The error is always nil.
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
