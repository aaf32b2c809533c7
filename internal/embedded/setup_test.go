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

// directory creates a directory for a server and its socket.
func directory(t *testing.T) string {
	t.Helper()

	if testing.Short() {
		t.Skip("needs redis-server; `make test` runs this test")
	}

	return public.Dir(t)
}

func wired(t *testing.T, dir string) *embedded.Redis {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))

	r, err := embedded.New(embedded.Options{Dir: dir, Log: log})
	if err != nil {
		t.Fatal(err)
	}

	return r
}

func start(t *testing.T, dir string) *embedded.Redis {
	t.Helper()
	r := wired(t, dir)
	run(t, r)

	return r
}

func run(t *testing.T, r *embedded.Redis) {
	t.Helper()
	t.Cleanup(func() { r.Stop(context.Background()) })

	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// startParent starts a separate process that is the server's parent.
func startParent(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), parentOf+"="+dir)

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
		t.Fatalf("the parent said %q, %v", line, err)
	}

	return cmd
}

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
	t.Fatal("the server does not tell its process id")

	return 0
}

func kill(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()

	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// gone reports whether a process has ended. A zombie of an orphan counts as ended.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}

	return strings.Contains(string(b), ") Z ")
}
