package storagetest

import (
	"bytes"
	"crypto/rand"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// MinIOVersion is the server that `make setup-test` builds, as a version of the
// Go module github.com/minio/minio.
const MinIOVersion = "v0.0.0-20260212201848-7aac2a2c5b7c"

// Endpoint is where a store listens, and what opens it.
type Endpoint struct {
	Address, AccessKey, SecretKey string
}

// StartMinIO runs a MinIO server on a loopback port with directories of its
// own. The server ends with the test. The program is PRESSWORK_MINIO, or what
// `make setup-test` has built. Under -short the test is skipped.
func StartMinIO(t testing.TB) Endpoint {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a MinIO server; `make test` runs this test")
	}
	program := minioProgram(t)
	for range 3 { // another process may take the port first
		if e, ok := startMinIO(t, program); ok {
			return e
		}
	}
	t.Fatal("no MinIO server started")
	return Endpoint{}
}

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

func startMinIO(t testing.TB, program string) (Endpoint, bool) {
	t.Helper()
	dir := t.TempDir()
	e := Endpoint{Address: freePort(t), AccessKey: "presswork", SecretKey: rand.Text()}
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, "server", "--quiet", "--address", e.Address, filepath.Join(dir, "data"))
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
		"MINIO_ROOT_USER=" + e.AccessKey, "MINIO_ROOT_PASSWORD=" + e.SecretKey,
		"MINIO_BROWSER=off", "MINIO_UPDATE=off",
	}
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		cmd.Wait()
		close(exited)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-exited
	})
	client := http.Client{Timeout: time.Second}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		select {
		case <-exited:
			t.Logf("minio: %s", &out)
			return e, false
		case <-time.After(20 * time.Millisecond):
		}
		if r, err := client.Get("http://" + e.Address + "/minio/health/ready"); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return e, true
			}
		}
	}
	t.Fatal("the MinIO server was not ready within 30 s")
	return e, false
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
