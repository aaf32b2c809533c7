package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/internal/embedded"
	"presswork/internal/test/public"
)

// dataDir creates a directory for a server and its socket.
func dataDir(t *testing.T) string {
	t.Helper()

	if testing.Short() {
		t.Skip("needs redis-server; `make test` runs this test")
	}

	return public.Dir(t)
}

// newRedis returns a server that is not started.
func newRedis(t *testing.T, dir string) *embedded.Redis {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))

	r, err := embedded.New(embedded.Options{Dir: dir, Log: log})
	if err != nil {
		t.Fatal(err)
	}

	return r
}

// startRedis starts a server that is stopped after the test.
func startRedis(t *testing.T, dir string) *embedded.Redis {
	t.Helper()
	r := newRedis(t, dir)
	startAndCleanUp(t, r)

	return r
}

// startAndCleanUp starts r and stops it after the test.
func startAndCleanUp(t *testing.T, r *embedded.Redis) {
	t.Helper()
	t.Cleanup(func() { r.Stop(context.Background()) })

	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// startParent starts another process that starts the server, and waits until it is ready.
func startParent(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), parentVariable+"="+dir)

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})

	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the parent wrote %q, %v; want ready", line, err)
	}

	return cmd
}

// client returns a client of the server.
func client(t *testing.T, r *embedded.Redis) *redis.Client {
	t.Helper()

	o, err := redis.ParseURL(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { c.Close() })

	return c
}

// serverPID returns the process id of the server.
func serverPID(t *testing.T, c *redis.Client) int {
	t.Helper()

	for line := range strings.Lines(c.Info(t.Context(), "server").Val()) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "process_id:"); ok {
			pid, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}

			return pid
		}
	}
	t.Fatal("INFO has no process_id")

	return 0
}

// signal sends a signal to a process.
func signal(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()

	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// hasEnded reports whether a process has ended. A zombie of an orphan counts as ended.
func hasEnded(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}

	return strings.Contains(string(b), ") Z ")
}
