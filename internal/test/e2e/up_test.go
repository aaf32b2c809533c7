package e2e_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"presswork/internal/test/e2e"
)

// fleetScript is scripts/up.sh at work, on ports of its own.
type fleetScript struct {
	t   *testing.T
	cmd *exec.Cmd
	api string

	mu    sync.Mutex
	lines []string
}

func up(t *testing.T) *fleetScript {
	t.Helper()
	env, api := fleetEnv(t)
	f := &fleetScript{t: t, cmd: exec.Command("../../../scripts/up.sh"), api: api}
	f.cmd.Env = env
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	f.cmd.Stderr = f.cmd.Stdout
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		f.follow(out)
	}()
	t.Cleanup(func() {
		f.cmd.Process.Signal(syscall.SIGTERM)
		<-read
		if f.cmd.Wait(); t.Failed() {
			t.Logf("--- scripts/up.sh\n%s", strings.Join(f.lines, "\n"))
		}
	})
	return f
}

// fleetEnv are the settings of a fleet on ports and in a folder of its own, and
// where its API listens.
func fleetEnv(t *testing.T) (env []string, api string) {
	t.Helper()
	binary, dir := e2e.Binary(t), t.TempDir()
	ports := freePorts(t, 5)
	return append(os.Environ(), "PRESSWORK="+binary, "UP_DIR="+dir+"/up", "CACHE_DIR="+dir+"/cache", "LOG_FORMAT=json",
		"REDIS_PORT="+ports[0], "S3_ENDPOINT=127.0.0.1:"+ports[1], "API_PORT="+ports[2], "WORKER1_PORT="+ports[3], "WORKER2_PORT="+ports[4]), "127.0.0.1:" + ports[2]
}

func (f *fleetScript) follow(r io.Reader) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		f.mu.Lock()
		f.lines = append(f.lines, lines.Text())
		f.mu.Unlock()
	}
}

// starts returns the ids of the processes that have run under a name.
func (f *fleetScript) starts(name string) (pids []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	said := regexp.MustCompile(`^up: ` + name + ` started \(pid (\d+)\)$`)
	for _, line := range f.lines {
		if m := said.FindStringSubmatch(line); m != nil {
			pid, _ := strconv.Atoi(m[1])
			pids = append(pids, pid)
		}
	}
	return pids
}

// logged reports whether a process has written a line with the text in it.
func (f *fleetScript) logged(name, text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, line := range f.lines {
		if strings.HasPrefix(line, name) && strings.Contains(line, text) {
			return true
		}
	}
	return false
}

func freePorts(t testing.TB, n int) (ports []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	return ports
}

func TestAFleetOutlivesTheDeathOfItsProcesses(t *testing.T) {
	t.Parallel()
	f := up(t)
	for _, name := range []string{"api", "worker1", "worker2"} {
		await(t, name+" listens", func() bool { return f.logged(name, `"listening"`) })
	}
	c := e2e.NewClient(t, f.api, "")
	// Every worker, so that the job needs one that was started again; and Redis.
	for _, name := range []string{"worker1", "worker2", "redis"} {
		if err := syscall.Kill(f.starts(name)[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the killed processes run again", func() bool {
		return len(f.starts("worker1")) == 2 && len(f.starts("worker2")) == 2 && len(f.starts("redis")) == 2
	})
	await(t, "Redis answers the API again", func() bool {
		status, _, _, err := c.Try("GET", "/api/conversion", "", nil)
		return err == nil && status == 200
	})
	c.Completed(c.Submit(e2e.Submission{Content: "# Still here"}).JobID)
	if n := len(f.starts("api")); n != 1 {
		t.Errorf("the API was started %d times", n)
	}
}

// TestTheDemoCountsEveryDocument runs `make demo`, shorter.
func TestTheDemoCountsEveryDocument(t *testing.T) {
	t.Parallel()
	env, _ := fleetEnv(t)
	demo := exec.Command("../../../scripts/demo.sh")
	demo.Env = append(env, "DEMO_SECONDS=3", "DEMO_KILL=1")
	out, err := demo.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	verdict := regexp.MustCompile(`(\d+) workers killed, 0 submissions refused; of (\d+) accepted documents (\d+) are printed, 0 are not`).FindSubmatch(out)
	if verdict == nil || string(verdict[1]) == "0" || string(verdict[2]) == "0" || string(verdict[2]) != string(verdict[3]) {
		t.Errorf("%s", out)
	}
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(50 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
