// Package embedded runs private servers for a Presswork that has none. They are a durable redis-server on a Unix
// socket, Ollama, and model servers. They end with their parent.
//
// A [Redis] or an [Engine] starts a child and waits until it answers. It starts a child that dies again after a
// growing pause. A lock on the data directory keeps two servers from writing to it.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Options configures a Redis.
type Options struct {
	// Dir holds the data, and the socket if its path is short enough. New creates it with mode 0700. Required.
	Dir string
	// Log receives restarts as warnings and the server's output at level debug. Default: discard.
	Log *slog.Logger
}

// Times of the supervisor.
const (
	// The pause before a restart doubles from backoffMin up to backoffMax. It is reset when the server has run for two
	// times backoffMax.
	backoffMin = 50 * time.Millisecond
	backoffMax = 5 * time.Second
	// pollEvery is the interval of checks for the lock and for a starting server.
	pollEvery = 10 * time.Millisecond
)

// Redis supervises one redis-server child and restarts it when it dies. The data directory stays locked while the
// parent or the child uses it, so that a successor waits. The child never outlives its parent, not even a killed
// one.
type Redis struct {
	Options
	binary string
	socket string

	mu      sync.Mutex
	stopped bool
	// stop makes the supervisor end its child by SIGTERM, kill at once. done is closed when it has ended. All are
	// nil before Start has succeeded.
	stop, kill context.CancelFunc
	done       chan struct{}
}

// New finds the server program and chooses the socket's path. It returns an error if no server is installed.
func New(o Options) (*Redis, error) {
	if o.Dir == "" {
		return nil, errors.New("embedded: Options.Dir is empty")
	}

	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	binary, err := FindServer()
	if err != nil {
		return nil, err
	}

	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}

	return &Redis{Options: o, binary: binary, socket: socketPath(o.Dir, os.TempDir())}, nil
}

// URL returns the server's address, unix:///…. It stays the same over restarts.
func (r *Redis) URL() string {
	return (&url.URL{Scheme: "unix", Path: r.socket}).String()
}

// Start locks the data directory and starts the server. It waits for a predecessor until ctx ends, and returns
// when the server has loaded its data and answers. The error says why the server did not start, or that another
// Presswork uses the directory.
func (r *Redis) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.stopped || r.done != nil {
		return errors.New("embedded: the private Redis was started before")
	}

	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return fmt.Errorf("embedded: %w", err)
	}

	lock, err := r.lock(ctx)
	if err != nil {
		return err
	}

	c, err := r.startFirst(ctx, lock)
	if err != nil {
		return errors.Join(err, r.removeSocketDir(), lock.Close())
	}
	// The supervisor outlives the start: Stop ends it.
	stop, cancelStop := context.WithCancel(context.WithoutCancel(ctx))
	kill, cancelKill := context.WithCancel(context.WithoutCancel(ctx))

	r.stop, r.kill, r.done = cancelStop, cancelKill, make(chan struct{})
	go func() {
		defer close(r.done)
		supervise(stop, kill, c, r.Log, func(c *child) (*child, error) { return r.spawn(c.lock) })
		// Remove the socket while the lock is held: a successor creates its own at the same path.
		if err := errors.Join(r.removeSocketDir(), lock.Close()); err != nil {
			r.Log.Warn("could not remove the socket folder of the private redis-server", "error", err)
		}
	}()

	return nil
}

// startFirst starts the server and waits for its first answer.
func (r *Redis) startFirst(ctx context.Context, lock *os.File) (*child, error) {
	if err := r.makeSocketDir(); err != nil {
		return nil, err
	}

	c, err := r.spawn(lock)
	if err != nil {
		return nil, err
	}

	if err := r.awaitReady(ctx, c); err != nil {
		c.kill()
		return nil, err
	}

	return c, nil
}

// Stop ends the server, which saves its data first. If ctx ends before that, Stop kills the server and returns an
// error.
func (r *Redis) Stop(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.stopped = true
	if r.done == nil {
		return nil
	}
	r.stop()
	var err error

	select {
	case <-r.done:
	case <-ctx.Done():
		err = fmt.Errorf("embedded: the private redis-server was killed: %w", context.Cause(ctx))
		r.kill()
		<-r.done
	}
	r.kill() // releases the context

	return err
}

// FindServer returns the path of a server that speaks the Redis protocol and keeps an append-only file. The error says
// how to install one.
func FindServer() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server", "keydb-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}

	return "", errors.New(
		"no redis-server, valkey-server or keydb-server on PATH: `make setup` installs one, or set REDIS_URL to a " +
			"server that runs",
	)
}
