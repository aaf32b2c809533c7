package storagetest

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"presswork/internal/test/freeport"
)

// MinIOVersion is the version of the Go module github.com/minio/minio that
// `make setup-test` builds.
const MinIOVersion = "v0.0.0-20260212201848-7aac2a2c5b7c"

// Endpoint is the address of a store and its credentials.
type Endpoint struct {
	Address, AccessKey, SecretKey string
}

// StartMinIO runs a MinIO server with a temporary directory on a loopback port until the test ends. The program is that
// of PRESSWORK_MINIO or of `make setup-test`. It skips the test with -short.
func StartMinIO(t testing.TB) Endpoint {
	t.Helper()
	return StartMinIOIn(t, t.TempDir()).Endpoint
}

// MinIO is a server that a test can stop and restart. Its methods are not safe for concurrent use.
type MinIO struct {
	Endpoint

	t       testing.TB
	program string
	dir     string
	cmd     *exec.Cmd
	exited  chan struct{}
	out     *bytes.Buffer
}

// StartMinIOIn is StartMinIO with the objects in dir.
func StartMinIOIn(t testing.TB, dir string) *MinIO {
	t.Helper()

	if testing.Short() {
		t.Skip("needs a MinIO server; `make test` runs this test")
	}
	m := &MinIO{
		t:        t,
		program:  minioProgram(t),
		dir:      dir,
		Endpoint: Endpoint{AccessKey: "presswork", SecretKey: rand.Text()},
	}
	t.Cleanup(m.Kill)
	m.Address = "127.0.0.1:" + freeport.Take(t)
	m.Restart()

	return m
}

// Kill ends the server with SIGKILL. It does nothing when the server has ended.
func (m *MinIO) Kill() {
	if m.cmd == nil {
		return
	}
	m.cmd.Process.Kill()
	<-m.exited
	m.cmd = nil
}

// Signal sends a signal to the running server.
func (m *MinIO) Signal(signal syscall.Signal) {
	m.t.Helper()

	if err := m.cmd.Process.Signal(signal); err != nil {
		m.t.Fatalf("minio: %v", err)
	}
}

// minioProgram returns the path of the server's program, or fails the test.
func minioProgram(t testing.TB) string {
	t.Helper()

	program := os.Getenv("PRESSWORK_MINIO")
	if program == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		program = filepath.Join(cache, "presswork", "bin", "minio-"+MinIOVersion)
	}

	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("%v (`make setup-test` builds it)", err)
	}

	return program
}

// Restart starts the server after Kill, with the same objects, and waits until it is ready.
func (m *MinIO) Restart() {
	m.t.Helper()
	m.out = &bytes.Buffer{}
	m.cmd = exec.Command(m.program, "server", "--quiet", "--address", m.Address, filepath.Join(m.dir, "data"))
	m.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir,
		"MINIO_ROOT_USER=" + m.AccessKey, "MINIO_ROOT_PASSWORD=" + m.SecretKey,
		"MINIO_BROWSER=off", "MINIO_UPDATE=off",
	}

	m.cmd.Stdout, m.cmd.Stderr = m.out, m.out
	if err := m.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	exited, cmd := make(chan struct{}), m.cmd
	m.exited = exited

	go func() {
		cmd.Wait()
		close(exited)
	}()
	// The server starts within seconds, except on a machine under load. Poll health/cluster: health/ready responds with
	// 200 before buckets and keys are loaded.
	client := http.Client{Timeout: 5 * time.Second}

	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		select {
		case <-exited:
			m.t.Fatalf("the MinIO server ended: %s", m.out)
		case <-time.After(20 * time.Millisecond):
		}

		if r, err := client.Get("http://" + m.Address + "/minio/health/cluster"); err == nil {
			r.Body.Close()

			if r.StatusCode == http.StatusOK {
				return
			}
		}
	}
	m.Kill() // stops all writes to m.out
	m.t.Fatalf("the MinIO server was not ready within 2 min: %s", m.out)
}
