// Package redistest starts a private redis-server for a test.
package redistest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Start runs a redis-server on a unix socket in a directory of its own and
// returns its unix:// address. The server ends with the test. Under -short the
// test is skipped: `make test` runs it.
func Start(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs redis-server; `make test` runs this test")
	}
	// Not t.TempDir: a unix socket's path must stay under 104 bytes.
	dir, err := os.MkdirTemp("", "pwr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	sock := filepath.Join(dir, "s")
	cmd := exec.Command("redis-server", "--port", "0", "--unixsocket", sock, "--dir", dir,
		"--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")
	if err := cmd.Start(); err != nil {
		t.Fatalf("redis-server: %v (`make setup` installs it)", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: sock})
	defer client.Close()
	deadline := time.Now().Add(10 * time.Second)
	for client.Ping(t.Context()).Err() != nil {
		if time.Now().After(deadline) {
			t.Fatal("redis-server did not answer within 10 s")
		}
		time.Sleep(5 * time.Millisecond)
	}
	return "unix://" + sock
}
