package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// child is one life of a server.
type child struct {
	cmd     *exec.Cmd
	lock    *os.File // nil without one
	words   *lastWords
	started time.Time
	// exited is closed at the end; err is how it ended, and is read after it only.
	exited chan struct{}
	err    error
}

// spawn starts the server. It inherits the data directory's lock, which is
// therefore held until the last of parent and child has gone.
func (r *Redis) spawn(lock *os.File) (*child, error) {
	// The child's end is its own business: it must outlive any context here.
	cmd := exec.CommandContext(context.Background(), r.binary, r.arguments()...)
	cmd.Env = []string{} // the parent's secrets are none of its business
	cmd.ExtraFiles = []*os.File{lock}

	c, err := launch(cmd, r.Log)
	if err == nil {
		c.lock = lock
	}

	return c, err
}

// lastWordsWait is how long what a server that has ended started may still hold its output
// open: the program may be a script, and the server a child of it.
const lastWordsWait = time.Second

// launch starts a server that ends with its parent.
func launch(cmd *exec.Cmd, log *slog.Logger) (*child, error) {
	words := &lastWords{log: log, name: filepath.Base(cmd.Path)}
	cmd.Stdout, cmd.Stderr = words, words
	cmd.WaitDelay = lastWordsWait
	cmd.SysProcAttr = attributes()
	c := &child{cmd: cmd, words: words, started: time.Now(), exited: make(chan struct{})}
	begun := make(chan error, 1)

	go func() {
		// On Linux the child's death signal hangs on the thread that started
		// it, so this thread must live as long as the child.
		runtime.LockOSThread()

		defer close(c.exited)

		if err := cmd.Start(); err != nil {
			begun <- err
			return
		}

		release, err := guard(cmd.Process.Pid)
		if err != nil {
			cmd.Process.Kill()
		}
		begun <- err

		c.err = cmd.Wait()
		if c.err == nil {
			c.err = errors.New("it ended by itself")
		}
		release()
		c.signal(syscall.SIGKILL) // what is left of its group would be in the way of the next
	}()

	if err := <-begun; err != nil {
		<-c.exited
		return nil, fmt.Errorf("embedded: start %s: %w", cmd.Path, err)
	}

	return c, nil
}

// arguments are the whole configuration: without a file argument the server
// reads none, the system's /etc/redis included.
func (r *Redis) arguments() []string {
	return []string{
		"--port", "0",
		"--unixsocket", r.socket,
		"--unixsocketperm", "700",
		"--dir", r.Dir,
		"--daemonize", "no",
		// An accepted job survives a crash of the server and of the machine. With
		// everysec a server that is killed while a sync is slow loses writes that
		// it has answered: it holds them back for up to two seconds.
		"--appendonly", "yes",
		"--appendfsync", "always",
		"--save", "",
		// A queue must refuse rather than forget.
		"--maxmemory-policy", "noeviction",
	}
}

// awaitReady returns once the server has loaded its data, or the reason why it
// never will.
func (r *Redis) awaitReady(ctx context.Context, c *child) error {
	client := redis.NewClient(
		&redis.Options{Network: "unix", Addr: r.socket, MaxRetries: -1, ContextTimeoutEnabled: true},
	)
	defer client.Close()

	for {
		// PING fails while the server is loading.
		if client.Ping(ctx).Err() == nil {
			return checkVersion(ctx, client)
		}

		select {
		case <-c.exited:
			return fmt.Errorf("embedded: %s did not start: %w; it said: %s", r.binary, c.err, c.words.tail())
		case <-ctx.Done():
			return fmt.Errorf("embedded: %s is not ready: %w", r.binary, context.Cause(ctx))
		case <-time.After(pollEvery):
		}
	}
}

// checkVersion refuses servers without the commands the queue needs (LMOVE
// came with 6.2).
func checkVersion(ctx context.Context, client *redis.Client) error {
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return fmt.Errorf("embedded: %w", err)
	}

	for line := range strings.Lines(info) {
		version, ok := strings.CutPrefix(strings.TrimSpace(line), "redis_version:")
		if !ok {
			continue
		}

		var major, minor int
		if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err == nil &&
			(major > 6 || major == 6 && minor >= 2) {
			return nil
		}

		return fmt.Errorf(
			"embedded: the installed redis-server is version %s; 6.2 or newer is needed (packages.redis.io has it "+
				"for Debian and Ubuntu)",
			version,
		)
	}

	return errors.New("embedded: the installed redis-server does not tell its version")
}

// end asks the child to write its data and go, and waits; when kill ends
// first, it is killed.
func (c *child) end(kill context.Context) {
	c.signal(syscall.SIGTERM)

	select {
	case <-c.exited:
	case <-kill.Done():
		c.kill()
	}
}

func (c *child) kill() {
	c.signal(syscall.SIGKILL)
	<-c.exited
}

// signal sends a signal to the server's process group, of which attributes make it the
// leader. When all have gone, the group's id may be another's.
func (c *child) signal(s syscall.Signal) {
	select {
	case <-c.exited:
	default:
		_ = syscall.Kill(-c.cmd.Process.Pid, s)
	}
}
