// Package embedded runs a private redis-server for a Presswork that was given
// none: durable, on a unix socket, alive exactly as long as its parent.
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

// Options wire a Redis.
type Options struct {
	// Dir holds the data, and the socket where its path is short enough. It is
	// made when missing, for its owner alone. Mandatory.
	Dir string
	// Log gets restarts as warnings, and the server's output at debug level.
	// Default: discard.
	Log *slog.Logger
}

// The supervisor's patience.
const (
	// backoffMin doubles with every failed start up to backoffMax, and is
	// forgotten after a life of backoffMax times two.
	backoffMin = 50 * time.Millisecond
	backoffMax = 5 * time.Second
	// pollEvery is how often the lock and a starting server are asked.
	pollEvery = 10 * time.Millisecond
)

// Redis supervises one redis-server child. The data directory is locked for as
// long as a parent or a child uses it, so that a successor waits; a child that
// dies is started again; a child never outlives its parent, not even one that
// was killed.
type Redis struct {
	Options
	binary string
	socket string

	mu      sync.Mutex
	stopped bool
	// stop and kill make the supervisor end its child, by SIGTERM or at once;
	// done is closed when it has. All are nil until Start has succeeded.
	stop, kill context.CancelFunc
	done       chan struct{}
}

// New finds the server program and settles where the socket is.
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

// URL is the address of the server, unix:///…; it stays the same over restarts.
func (r *Redis) URL() string {
	return (&url.URL{Scheme: "unix", Path: r.socket}).String()
}

// Start locks the data directory, waiting for a predecessor until ctx ends,
// and starts the server. It returns when the server has read its data and
// answers.
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

	c, err := r.first(ctx, lock)
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
		// While the lock is held: a successor puts its socket there.
		if err := errors.Join(r.removeSocketDir(), lock.Close()); err != nil {
			r.Log.Warn("the private redis-server left something behind", "error", err)
		}
	}()

	return nil
}

// first starts the server and waits for its first answer.
func (r *Redis) first(ctx context.Context, lock *os.File) (*child, error) {
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

// Stop ends the server, which writes its data to the medium first. When ctx
// ends before the server does, the server is killed.
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

// FindServer looks for any of the servers that speak the protocol and keep an
// append-only file.
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
