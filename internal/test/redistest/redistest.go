// Package redistest starts private Redis servers for a test: one server, a primary with a replica and a sentinel, or a
// Cluster.
package redistest

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/freeport"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// Start runs a redis-server on a unix socket until the test ends, and returns its unix:// address. It skips the test
// under -short.
func Start(t testing.TB) string {
	t.Helper()
	return run(t, "--appendonly", "no").Address
}

// StartSmall is Start with a limit on the memory, such as "24mb".
func StartSmall(t testing.TB, memory string) string {
	t.Helper()
	return run(t, "--appendonly", "no", "--maxmemory", memory).Address
}

// StartDurable runs a redis-server with an append-only file, so that the test can kill and restart it. It uses
// appendfsync always: with everysec Redis keeps acknowledged writes in memory during a slow sync, and a kill loses
// them.
func StartDurable(t testing.TB) *Server {
	t.Helper()
	return run(t, "--appendonly", "yes", "--appendfsync", "always")
}

// StartDurableIn is StartDurable on a port of 127.0.0.1, with a directory for its file and additional arguments.
func StartDurableIn(t testing.TB, dir string, args ...string) *Server {
	t.Helper()
	port := freeport.Take(t)
	s := run(t, append([]string{
		"--port", port, "--bind", "127.0.0.1", "--dir", dir,
		"--appendonly", "yes", "--appendfsync", "always",
	}, args...)...)
	s.Address, s.port = "redis://127.0.0.1:"+port, port

	return s
}

// Server is a redis-server of a test.
type Server struct {
	// Address is its unix:// or redis:// address, the same after a restart.
	Address string

	t    testing.TB
	sock string
	port string
	args []string
	cmd  *exec.Cmd
}

// run starts a redis-server on a socket, with additional arguments.
func run(t testing.TB, args ...string) *Server {
	t.Helper()

	if testing.Short() {
		t.Skip("needs redis-server; `make test` runs this test")
	}
	dir := public.Dir(t)
	sock := filepath.Join(dir, "s")
	s := &Server{
		Address: "unix://" + sock,
		t:       t,
		sock:    sock,
		args: append([]string{
			"--port", "0", "--unixsocket", sock, "--dir", dir,
			"--save", "", "--maxmemory-policy", "noeviction",
		}, args...),
	}
	t.Cleanup(s.Kill)
	s.Restart()

	return s
}

// Kill ends the server at once, as kill -9 does. A second call does nothing.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Kill()
	s.cmd.Wait()
	s.cmd = nil
}

// Signal sends a signal to the running server.
func (s *Server) Signal(signal syscall.Signal) {
	s.t.Helper()

	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatalf("redis-server: %v", err)
	}
}

// Restart starts a killed server on its data and waits until it answers. Call Kill first for a server that has exited.
func (s *Server) Restart() {
	s.t.Helper()
	s.cmd = exec.Command("redis-server", s.args...)
	var output bytes.Buffer

	s.cmd.Stdout = &output
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		s.t.Fatalf("redis-server: %v (`make setup` installs it)", err)
	}

	client := s.Client()
	defer client.Close()

	answers := func() bool { return client.Ping(s.t.Context()).Err() == nil }
	if !wait.For(wait.Patience, answers) { // the server loads its file first
		s.Kill()
		s.t.Fatalf("redis-server did not answer within %s:\n%s", wait.Patience,
			output.Bytes()[max(0, output.Len()-4000):])
	}
}

// fileComplete reports whether the server's file has all of its data. After a synchronisation with a primary, a server
// rewrites its file. A server that is killed before the end starts with the old data. fileComplete repeats a rewrite
// that failed, for example on a full disk: the server itself waits for up to an hour.
func (s *Server) fileComplete(ctx context.Context) bool {
	client := s.Client()
	defer client.Close()

	info := client.Info(ctx, "persistence").Val()
	if strings.Contains(info, "aof_last_bgrewrite_status:err") {
		client.BgRewriteAOF(ctx)
	}

	return strings.Contains(info, "aof_rewrite_in_progress:0") && strings.Contains(info, "aof_rewrite_scheduled:0") &&
		strings.Contains(info, "aof_last_bgrewrite_status:ok")
}

// Client returns a client of this server only, whatever its role.
func (s *Server) Client() *redis.Client {
	return redis.NewClient(&redis.Options{Network: "unix", Addr: s.sock})
}
