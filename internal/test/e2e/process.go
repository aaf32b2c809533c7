// Package e2e runs the real program for end-to-end tests and benchmarks. The program uses a real Redis, a real browser
// and a real store, in private directories and on free loopback ports.
package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"presswork/internal/test/wait"
)

// build compiles the program once for all tests of the process. It writes the program next to the test binary, whose
// folder `go test` deletes at the end.
var build = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(self+".program", "presswork")

	out, err := exec.Command("go", "build", "-o", binary, "presswork/cmd/presswork").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}

	return binary, nil
})

// Binary returns the path of the built program. It skips the test under -short.
func Binary(t testing.TB) string {
	t.Helper()

	if testing.Short() {
		t.Skip("needs Redis, Chromium and MinIO; `make test` runs this test")
	}

	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}

	return binary
}

// Process is one running role of the program.
type Process struct {
	t   testing.TB
	cmd *exec.Cmd
	// Address is host:port of its listener, once it listens.
	Address string

	mu     sync.Mutex
	lines  []string      // the log
	listen chan string   // receives the address of the listener
	ended  chan struct{} // closed when the process has ended
}

// Run starts the program with a command and its arguments, and stops it at the end of the test. The environment has only
// env and the variables that every process needs. Run does not wait until the program listens; see Listening.
func Run(t testing.TB, command string, env map[string]string) *Process {
	t.Helper()
	p := &Process{t: t, listen: make(chan string, 1), ended: make(chan struct{})}
	p.cmd = exec.Command(Binary(t), strings.Fields(command)...)

	// Settings of the machine must not change the test.
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LOG_FORMAT=json"}
	for k, v := range env {
		p.cmd.Env = append(p.cmd.Env, k+"="+v)
	}
	p.cmd.Dir = t.TempDir()

	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.follow(stderr)
	t.Cleanup(func() {
		p.Stop()

		if t.Failed() {
			t.Logf("--- log of presswork %s\n%s", command, p.Log())
		}
	})

	return p
}

// follow keeps the log and reports the address on which the process listens.
func (p *Process) follow(r io.Reader) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)

	for sc.Scan() {
		p.mu.Lock()
		p.lines = append(p.lines, sc.Text())
		p.mu.Unlock()

		var line struct{ Msg, Address string }
		if json.Unmarshal(sc.Bytes(), &line) == nil && line.Msg == "listening" {
			select {
			case p.listen <- line.Address:
			default:
			}
		}
	}
	p.cmd.Wait()
	close(p.ended)
}

// Listening waits until the process listens, sets Address and returns p.
func (p *Process) Listening() *Process {
	p.t.Helper()

	select {
	case p.Address = <-p.listen:
	case <-p.ended:
		p.t.Fatalf("presswork ended at its start:\n%s", p.Log())
	case <-time.After(wait.Patience):
		p.t.Fatalf("presswork did not listen within %s:\n%s", wait.Patience, p.Log())
	}

	return p
}

// Log returns everything that the process has logged.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()

	return strings.Join(p.lines, "\n")
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal to the process alone.
func (p *Process) Signal(s syscall.Signal) {
	p.t.Helper()

	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("signal %s: %v", s, err)
	}
}

// Ended returns a channel that is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// ExitCode returns the exit status of an ended process.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Stop ends the process with SIGTERM. If the process does not end in time, Stop kills it and fails the test.
func (p *Process) Stop() {
	p.cmd.Process.Signal(syscall.SIGTERM)

	select {
	case <-p.ended:
	case <-time.After(wait.Patience):
		p.cmd.Process.Kill()
		<-p.ended
		p.t.Errorf("presswork did not stop within %s of SIGTERM:\n%s", wait.Patience, p.Log())
	}
}
