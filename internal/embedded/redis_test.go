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

// parentVariable is an environment variable with a data directory. A test process with the variable starts the server
// as its child in TestMain, and runs until it is killed.
const parentVariable = "PRESSWORK_TEST_PARENT_OF"

func TestMain(m *testing.M) {
	if os.Getenv(embedded.FakeOllama) != "" {
		embedded.ServeOllama()
	}

	if os.Getenv(fakeEngine) != "" {
		serveEngine()
	}

	dir := os.Getenv(parentVariable)
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

	dir := dataDir(t)
	for n := range 3 {
		r := startRedis(t, dir)
		if got := client(t, r).Incr(t.Context(), "starts").Val(); got != int64(n+1) {
			t.Fatalf("start %d: the counter is %d, want %d", n+1, got, n+1)
		}

		for range 2 {
			if err := r.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestKilledServerIsRestartedWithItsData(t *testing.T) {
	t.Parallel()
	r := startRedis(t, dataDir(t))

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
		signal(t, pid, syscall.SIGKILL)
		var got int
		wait.Until(t, "the server answers again", func() bool {
			var err error
			got, err = c.Get(t.Context(), "k").Int()

			return err == nil
		})

		if got != n {
			t.Fatalf("the value is %d, want %d", got, n)
		}
	}
}

func TestServerEndsWithAKilledParent(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	parent := startParent(t, dir)
	r := newRedis(t, dir)

	c := client(t, r)
	if err := c.Set(t.Context(), "k", "kept", 0).Err(); err != nil {
		t.Fatal(err)
	}
	pid := serverPID(t, c)
	signal(t, parent.Process.Pid, syscall.SIGKILL)
	wait.Until(t, "the server has ended", func() bool { return hasEnded(pid) })
	startAndCleanUp(t, r)

	if got := c.Get(t.Context(), "k").Val(); got != "kept" {
		t.Errorf("the next server has the value %q, want kept", got)
	}
}

// TestStartWaitsForAnOrphanedServer has an old server that ends late. Two servers would damage the append-only file.
func TestStartWaitsForAnOrphanedServer(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	parent := startParent(t, dir)
	r := newRedis(t, dir)
	pid := serverPID(t, client(t, r))

	o, err := redis.ParseURL(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	o.MaxRetries, o.ReadTimeout = -1, wait.Patience // a retry would reach the next server
	busy := redis.NewClient(o)
	t.Cleanup(func() { busy.Close() })
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })

	// After this time in a script, in milliseconds, the server reports that it is busy.
	err = busy.ConfigSet(t.Context(), "lua-time-limit", "1").Err()
	if err != nil {
		t.Fatal(err)
	}
	// SIGSTOP does not work here: the kernel wakes a stopped process when its parent ends.
	go busy.Eval(t.Context(), "while true do end", nil)
	wait.Until(t, "the server is busy", func() bool {
		err := busy.Ping(t.Context()).Err()
		return err != nil && strings.HasPrefix(err.Error(), "BUSY")
	})
	signal(t, parent.Process.Pid, syscall.SIGKILL)
	parent.Wait()

	errTimeout := errors.New("waited long enough")

	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errTimeout)
	defer cancel()

	if err := r.Start(ctx); !errors.Is(err, errTimeout) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("while the orphan runs: got %v, want %v with the directory", err, errTimeout)
	}
	signal(t, pid, syscall.SIGKILL)
	startAndCleanUp(t, r)
}

func TestStartWaitsForAnotherParent(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := startRedis(t, dir)
	second := newRedis(t, dir)

	started := make(chan error, 1)
	go func() { started <- second.Start(t.Context()) }()
	t.Cleanup(func() { second.Stop(context.Background()) })

	if err := client(t, first).Set(t.Context(), "k", "first", 0).Err(); err != nil {
		t.Fatal(err)
	}

	select {
	case err := <-started:
		t.Fatalf("the second Start returned while the first server runs: %v", err)
	case <-time.After(200 * time.Millisecond):
	}

	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if err := <-started; err != nil {
		t.Fatal(err)
	}

	if got := client(t, second).Get(t.Context(), "k").Val(); got != "first" {
		t.Errorf("the second server has the value %q, want first", got)
	}
}

func TestLongDataDirectoryGetsAShortSocket(t *testing.T) {
	t.Parallel()
	long := filepath.Join(dataDir(t), strings.Repeat("long directory/", 20))

	r := startRedis(t, long)
	if err := client(t, r).Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}

	socket := strings.TrimPrefix(r.URL(), "unix://")
	if len(socket) > 103 || strings.HasPrefix(socket, long) {
		t.Errorf("the socket is %s, want up to 103 bytes outside the data directory", socket)
	}

	if info, err := os.Stat(filepath.Dir(socket)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory of the socket is %v, %v; want the mode 0700", info, err)
	}

	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if _, err := os.Stat(filepath.Dir(socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stop left %s (%v)", socket, err)
	}
}

func TestDataDirectoryMayHaveSpecialCharacters(t *testing.T) {
	t.Parallel()

	r := startRedis(t, filepath.Join(dataDir(t), `it's "my" data %41`))
	if err := client(t, r).Set(t.Context(), "k", 1, 0).Err(); err != nil {
		t.Error(err)
	}
}

func TestServerHasItsOwnProcessGroupAndNoEnvironment(t *testing.T) {
	t.Parallel()
	pid := serverPID(t, client(t, startRedis(t, dataDir(t))))

	group, err := syscall.Getpgid(pid)
	if err != nil || group == syscall.Getpgrp() {
		t.Errorf("Ctrl-C would reach the server: group %d, ours %d, %v", group, syscall.Getpgrp(), err)
	}

	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && len(b) > 0 {
		t.Errorf("the environment of the server is %q, want it empty", b)
	}
}

func TestServerHasOurConfiguration(t *testing.T) {
	t.Parallel()

	c := client(t, startRedis(t, dataDir(t)))
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

func TestStartReturnsTheOutputOfAServerWithDamagedData(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)

	r := startRedis(t, dir)
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

	if err := os.WriteFile(files[0], []byte("damaged\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	again := newRedis(t, dir)
	if err := again.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "Bad file format") {
		t.Errorf("got %v, want the output \"Bad file format\"", err)
	}

	if err := again.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestServerThatDoesNotStopIsKilled(t *testing.T) {
	t.Parallel()
	r := startRedis(t, dataDir(t))
	pid := serverPID(t, client(t, r))
	signal(t, pid, syscall.SIGSTOP)
	errTimeout := errors.New("the drain took too long")

	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errTimeout)
	defer cancel()

	if err := r.Stop(ctx); !errors.Is(err, errTimeout) {
		t.Errorf("got %v, want %v", err, errTimeout)
	}

	if !hasEnded(pid) {
		t.Error("the server still runs")
	}
}

func TestMissingServerErrorSaysHowToInstallIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())

	_, err := embedded.New(embedded.Options{Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "make setup") {
		t.Errorf("got %v, want \"make setup\"", err)
	}
}
