package e2e_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"presswork/internal/test/e2e"
	"presswork/internal/test/freeport"
	"presswork/internal/test/wait"
)

// fleetScript is a running scripts/up.sh.
type fleetScript struct {
	t   *testing.T
	cmd *exec.Cmd
	api string

	mu    sync.Mutex
	lines []string
}

// startFleetScript runs scripts/up.sh on free ports until the test ends.
func startFleetScript(t *testing.T) *fleetScript {
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

// fleetEnv returns the environment of a fleet with a private directory and free ports, and the address of its API.
func fleetEnv(t *testing.T) (env []string, api string) {
	t.Helper()
	binary, dir := e2e.Binary(t), t.TempDir()
	api = "127.0.0.1:" + freeport.Take(t)

	return append(os.Environ(), "PRESSWORK="+binary, "UP_DIR="+dir+"/a folder", "CACHE_DIR="+dir+"/cache",
		"LOG_FORMAT=json", "REDIS_PORT="+freeport.Take(t), "S3_ENDPOINT=127.0.0.1:"+freeport.Take(t),
		"API_PORT="+strings.TrimPrefix(api, "127.0.0.1:"), "WORKER1_PORT="+freeport.Take(t),
		"WORKER2_PORT="+freeport.Take(t)), api
}

// follow keeps the lines that the script prints.
func (f *fleetScript) follow(r io.Reader) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		f.mu.Lock()
		f.lines = append(f.lines, lines.Text())
		f.mu.Unlock()
	}
}

// starts returns the process ids of all starts of name, in their order.
func (f *fleetScript) starts(name string) (pids []int) {
	f.mu.Lock()
	defer f.mu.Unlock()

	started := regexp.MustCompile(`^up: ` + name + ` started \(pid (\d+)\)$`)
	for _, line := range f.lines {
		if m := started.FindStringSubmatch(line); m != nil {
			pid, _ := strconv.Atoi(m[1])
			pids = append(pids, pid)
		}
	}

	return pids
}

// hasLogged reports whether a process has logged a line with the text in it.
func (f *fleetScript) hasLogged(name, text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	for _, line := range f.lines {
		if strings.HasPrefix(line, name) && strings.Contains(line, text) {
			return true
		}
	}

	return false
}

func TestFleetScriptRestartsKilledProcesses(t *testing.T) {
	t.Parallel()

	f := startFleetScript(t)
	for _, name := range []string{"api", "worker1", "worker2"} {
		wait.Until(t, name+" listens", func() bool { return f.hasLogged(name, `"listening"`) })
	}
	c := e2e.NewClient(t, f.api, "")
	// Both workers are killed, so that the job needs a restarted one.
	for _, name := range []string{"worker1", "worker2", "redis"} {
		t.Run(name, func(t *testing.T) {
			wait.Until(t, "the script has started "+name,
				func() bool { return len(f.starts(name)) > 0 })

			if err := syscall.Kill(f.starts(name)[0], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		})
	}
	wait.Until(t, "the killed processes run again", func() bool {
		return len(f.starts("worker1")) > 1 && len(f.starts("worker2")) > 1 && len(f.starts("redis")) > 1
	})
	wait.Until(t, "Redis answers the API again", func() bool {
		status, _, _, err := c.Try("GET", "/api/conversion", "", nil)
		return err == nil && status == 200
	})
	c.Completed(c.Submit(e2e.Submission{Content: "# Still here"}).JobID)

	if n := len(f.starts("api")); n != 1 {
		t.Errorf("the API was started %d times, want once", n)
	}
}

// TestDemoPrintsEveryDocument runs a short `make demo`.
func TestDemoPrintsEveryDocument(t *testing.T) {
	t.Parallel()
	env, _ := fleetEnv(t)
	demo := exec.Command("../../../scripts/demo.sh")
	demo.Env = append(env, "DEMO_SECONDS=2", "DEMO_KILL=1")

	out, err := demo.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	verdict := regexp.MustCompile(`(\d+) workers killed, 0 submissions refused; ` +
		`of (\d+) accepted documents (\d+) are printed, 0 are not`).FindSubmatch(out)
	if verdict == nil || string(verdict[1]) == "0" || string(verdict[2]) == "0" ||
		string(verdict[2]) != string(verdict[3]) {
		t.Errorf("got %s, want killed workers and as many printed documents as accepted ones", out)
	}
}
