package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/embedded"
	"presswork/internal/test/wait"
)

// parentOf is the environment variable with the data directory. A process that has it starts the server as its
// parent in TestMain and runs until it is killed.
const parentOf = "PRESSWORK_TEST_PARENT_OF"

func TestMain(m *testing.M) {
	if os.Getenv(embedded.FakeOllama) != "" {
		embedded.ServeOllama()
	}

	if os.Getenv(fakeEngine) != "" {
		serveEngine()
	}

	dir := os.Getenv(parentOf)
	if dir == "" {
		os.Exit(m.Run())
	}

	r, err := embedded.New(embedded.Options{Dir: dir})
	if err == nil {
		err = r.Start(context.Background())
	}

	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")

	select {}
}

func TestDataOutlivesTheServer(t *testing.T) {
	t.Parallel()

	dir := directory(t)
	for n := range 3 {
		r := start(t, dir)
		if got := client(t, r).Incr(t.Context(), "starts").Val(); got != int64(n+1) {
			t.Fatalf("start %d: the counter is %d", n+1, got)
		}

		for range 2 {
			if err := r.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAKilledServerComesBackWithItsData(t *testing.T) {
	t.Parallel()
	r := start(t, directory(t))

	c := client(t, r)
	for n := range 3 {
		if err := c.Set(t.Context(), "k", n, 0).Err(); err != nil {
			t.Fatal(err)
		}
		// With everysec, an acknowledged write may wait in memory during an earlier sync. A kill would lose it.
		wait.Until(t, "the write has left the server", func() bool {
			return strings.Contains(c.Info(t.Context(), "persistence").Val(), "aof_buffer_length:0\r\n")
		})
		pid := serverPID(t, c)
		kill(t, pid, syscall.SIGKILL)
		var got int
		wait.Until(t, "the server is back", func() bool {
			var err error
			got, err = c.Get(t.Context(), "k").Int()

			return err == nil
		})

		if got != n {
			t.Fatalf("the value is %d, want %d", got, n)
		}
	}
}

func TestTheServerEndsWithAKilledParent(t *testing.T) {
	t.Parallel()
	dir := directory(t)
	parent := startParent(t, dir)
	r := wired(t, dir)

	c := client(t, r)
	if err := c.Set(t.Context(), "k", "kept", 0).Err(); err != nil {
		t.Fatal(err)
	}
	pid := serverPID(t, c)
	kill(t, parent.Process.Pid, syscall.SIGKILL)
	wait.Until(t, "the server has ended", func() bool { return gone(pid) })
	run(t, r)

	if got := c.Get(t.Context(), "k").Val(); got != "kept" {
		t.Errorf("the successor finds %q", got)
	}
}

// A server that dies slowly blocks its successor: two servers would damage the append-only file.
func TestASuccessorWaitsForAnOrphan(t *testing.T) {
	t.Parallel()
	dir := directory(t)
	parent := startParent(t, dir)
	r := wired(t, dir)
	pid := serverPID(t, client(t, r))

	o, err := redis.ParseURL(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	o.MaxRetries, o.ReadTimeout = -1, wait.Patience // a retry would ask the successor
	busy := redis.NewClient(o)
	t.Cleanup(func() { busy.Close() })
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })

	err = busy.ConfigSet(t.Context(), "lua-time-limit", "1").Err()
	if err != nil { // the server reports that it is busy afterwards
		t.Fatal(err)
	}
	// SIGSTOP does not work here: the kernel wakes a stopped process when its parent ends.
	go busy.Eval(t.Context(), "while true do end", nil)
	wait.Until(t, "the server is busy", func() bool {
		err := busy.Ping(t.Context()).Err()
		return err != nil && strings.HasPrefix(err.Error(), "BUSY")
	})
	kill(t, parent.Process.Pid, syscall.SIGKILL)
	parent.Wait()

	cause := errors.New("waited long enough")

	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, cause)
	defer cancel()

	if err := r.Start(ctx); !errors.Is(err, cause) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("with the orphan alive: got %v", err)
	}
	kill(t, pid, syscall.SIGKILL)
	run(t, r)
}

func TestTheSecondOfTwoParentsWaits(t *testing.T) {
	t.Parallel()
	dir := directory(t)
	first := start(t, dir)
	second := wired(t, dir)

	started := make(chan error, 1)
	go func() { started <- second.Start(t.Context()) }()
	t.Cleanup(func() { second.Stop(context.Background()) })

	if err := client(t, first).Set(t.Context(), "k", "first", 0).Err(); err != nil {
		t.Fatal(err)
	}

	select {
	case err := <-started:
		t.Fatalf("the second did not wait: %v", err)
	case <-time.After(200 * time.Millisecond):
	}

	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if err := <-started; err != nil {
		t.Fatal(err)
	}

	if got := client(t, second).Get(t.Context(), "k").Val(); got != "first" {
		t.Errorf("the second finds %q", got)
	}
}

func TestALongDataDirectoryGetsAShortSocket(t *testing.T) {
	t.Parallel()
	long := filepath.Join(directory(t), strings.Repeat("long directory/", 20))

	r := start(t, long)
	if err := client(t, r).Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}

	socket := strings.TrimPrefix(r.URL(), "unix://")
	if len(socket) > 103 || strings.HasPrefix(socket, long) {
		t.Errorf("the socket is %s", socket)
	}

	if info, err := os.Stat(filepath.Dir(socket)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its directory: %v, %v", info, err)
	}

	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if _, err := os.Stat(filepath.Dir(socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %s (%v)", socket, err)
	}
}

func TestASpaceInThePathDoesNoHarm(t *testing.T) {
	t.Parallel()

	r := start(t, filepath.Join(directory(t), `it's "my" data %41`))
	if err := client(t, r).Set(t.Context(), "k", 1, 0).Err(); err != nil {
		t.Error(err)
	}
}

func TestTheServerHasItsOwnProcessGroupAndNoSecrets(t *testing.T) {
	t.Parallel()
	pid := serverPID(t, client(t, start(t, directory(t))))

	group, err := syscall.Getpgid(pid)
	if err != nil || group == syscall.Getpgrp() {
		t.Errorf("Ctrl-C would reach the server: group %d, ours %d, %v", group, syscall.Getpgrp(), err)
	}

	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && len(b) > 0 {
		t.Errorf("its environment: %q", b)
	}
}

func TestServerHasOurConfiguration(t *testing.T) {
	t.Parallel()

	c := client(t, start(t, directory(t)))
	for name, want := range map[string]string{
		"port": "0", "appendonly": "yes", "appendfsync": "always", "save": "",
		"maxmemory-policy": "noeviction", "unixsocketperm": "700",
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.ConfigGet(t.Context(), name).Val()[name]; got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		})
	}

	if info := c.Info(t.Context(), "server").Val(); !strings.Contains(info, "config_file:\r\n") {
		t.Errorf("a configuration file was read: %s", info)
	}
}

func TestUnreadableDataStopsTheStartWithTheServersOutput(t *testing.T) {
	t.Parallel()
	dir := directory(t)

	r := start(t, dir)
	if err := client(t, r).Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}

	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	files, err := filepath.Glob(filepath.Join(dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}

	if err := os.WriteFile(files[0], []byte("not what it was\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	again := wired(t, dir)
	if err := again.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "Bad file format") {
		t.Errorf("got %v", err)
	}

	if err := again.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAStubbornServerIsKilled(t *testing.T) {
	t.Parallel()
	r := start(t, directory(t))
	pid := serverPID(t, client(t, r))
	kill(t, pid, syscall.SIGSTOP)
	cause := errors.New("the drain took too long")

	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()

	if err := r.Stop(ctx); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}

	if !gone(pid) {
		t.Error("the server lives on")
	}
}

func TestWithoutAServerTheErrorSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())

	_, err := embedded.New(embedded.Options{Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "make setup") {
		t.Errorf("got %v", err)
	}
}
