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

// child is one process of a server.
type child struct {
	cmd     *exec.Cmd
	lock    *os.File      // nil if the server needs no lock
	words   *recentOutput // the end of its output
	started time.Time
	// exited is closed when the process ends. err is the reason; read it only after that.
	exited chan struct{}
	err    error
}

// spawn starts the server. The child inherits the data directory's lock, so the lock is held until both parent and
// child have ended.
func (r *Redis) spawn(lock *os.File) (*child, error) {
	// The child must outlive every context here; the supervisor ends it.
	cmd := exec.CommandContext(context.Background(), r.binary, r.arguments()...)
	cmd.Env = []string{} // the parent's environment holds secrets
	cmd.ExtraFiles = []*os.File{lock}

	c, err := launch(cmd, r.Log)
	if err == nil {
		c.lock = lock
	}

	return c, err
}

// outputWait limits how long a descendant of an ended server may keep its output open. The program may be a
// script whose child is the server.
const outputWait = time.Second

// launch starts a server that ends with its parent.
func launch(cmd *exec.Cmd, log *slog.Logger) (*child, error) {
	words := &recentOutput{log: log, name: filepath.Base(cmd.Path)}
	cmd.Stdout, cmd.Stderr = words, words
	cmd.WaitDelay = outputWait
	cmd.SysProcAttr = processAttributes()
	c := &child{cmd: cmd, words: words, started: time.Now(), exited: make(chan struct{})}
	begun := make(chan error, 1)

	go func() {
		// Linux sends the child's death signal when the thread that started it ends, so this thread must live as
		// long as the child.
		runtime.LockOSThread()

		defer close(c.exited)

		if err := cmd.Start(); err != nil {
			begun <- err
			return
		}

		release, err := endWithParent(cmd.Process.Pid)
		if err != nil {
			cmd.Process.Kill()
		}
		begun <- err

		c.err = cmd.Wait()
		if c.err == nil {
			c.err = errors.New("the program exited")
		}
		release()
		c.signal(syscall.SIGKILL) // a remaining process of the group would block the next start
	}()

	if err := <-begun; err != nil {
		<-c.exited
		return nil, fmt.Errorf("embedded: start %s: %w", cmd.Path, err)
	}

	return c, nil
}

// arguments are the complete configuration. Without a file argument the server reads no configuration file, not
// even /etc/redis.
func (r *Redis) arguments() []string {
	return []string{
		"--port", "0",
		"--unixsocket", r.socket,
		"--unixsocketperm", "700",
		"--dir", r.Dir,
		"--daemonize", "no",
		// An accepted job must survive a crash of the server and of the machine. With everysec, a server killed
		// during a slow sync loses up to two seconds of writes that it has acknowledged.
		"--appendonly", "yes",
		"--appendfsync", "always",
		"--save", "",
		// A queue must reject writes rather than evict keys.
		"--maxmemory-policy", "noeviction",
	}
}

// awaitReady returns when the server has loaded its data, or with the reason why it will not.
func (r *Redis) awaitReady(ctx context.Context, c *child) error {
	client := redis.NewClient(&redis.Options{
		Network: "unix", Addr: r.socket, MaxRetries: -1, ContextTimeoutEnabled: true,
	})
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

// checkVersion rejects servers without the commands that the queue needs (LMOVE came with 6.2).
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

		_, err := fmt.Sscanf(version, "%d.%d", &major, &minor)
		if err == nil && (major > 6 || major == 6 && minor >= 2) {
			return nil
		}

		return fmt.Errorf("embedded: the installed redis-server is version %s; 6.2 or newer is needed "+
			"(packages.redis.io has it for Debian and Ubuntu)", version)
	}

	return errors.New("embedded: the installed redis-server does not report its version")
}

// end asks the child to save its data and exit, and waits. It kills the child when kill ends.
func (c *child) end(kill context.Context) {
	c.signal(syscall.SIGTERM)

	select {
	case <-c.exited:
	case <-kill.Done():
		c.kill()
	}
}

// kill ends the child at once, and waits.
func (c *child) kill() {
	c.signal(syscall.SIGKILL)
	<-c.exited
}

// signal sends a signal to the server's process group, which the server leads. It does nothing after the last
// process of the group has ended: the id may then belong to another group.
func (c *child) signal(s syscall.Signal) {
	select {
	case <-c.exited:
	default:
		_ = syscall.Kill(-c.cmd.Process.Pid, s)
	}
}
