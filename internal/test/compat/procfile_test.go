//go:build compat

package compat

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"presswork/internal/test/e2e"
	"presswork/internal/test/freeport"
	"presswork/internal/test/wait"
)

// TestHonchoDrainsTheFleetInOrder stops a fleet under honcho while it prints. Every process must exit with status 0, and
// the workers must end before Redis.
func TestHonchoDrainsTheFleetInOrder(t *testing.T) {
	t.Parallel()
	tools, binary, dir := os.Getenv("PRESSWORK_COMPAT"), e2e.Binary(t), t.TempDir()
	env := append(os.Environ(), "PYTHONPATH="+tools+"/honcho-2.0.0", "PYTHONUNBUFFERED=1", "PRESSWORK="+binary,
		"UP_DIR="+dir+"/up", "CACHE_DIR="+dir+"/cache", "LOG_FORMAT=json", "TZ=UTC")
	address := map[string]string{}

	for _, setting := range []string{"REDIS_PORT", "S3_ENDPOINT", "API_PORT", "WORKER1_PORT", "WORKER2_PORT"} {
		port := freeport.Take(t)

		address[setting] = "127.0.0.1:" + port
		if setting == "S3_ENDPOINT" {
			port = address[setting]
		}
		env = append(env, setting+"="+port)
	}

	log, err := os.Create(dir + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	output := func() string {
		b, _ := os.ReadFile(log.Name())
		return string(b)
	}
	// By default honcho kills all processes five seconds after the first has ended. A drain may take longer.
	honcho := exec.Command("python3", "-c",
		"import honcho.command, honcho.manager; honcho.manager.KILL_WAIT = 80; honcho.command.main()", "-f",
		"Procfile", "start")

	honcho.Dir, honcho.Env, honcho.Stdout, honcho.Stderr = "../../..", env, log, log
	if err := honcho.Start(); err != nil {
		t.Fatal(err)
	}

	ended := make(chan error, 1)
	go func() { ended <- honcho.Wait() }()
	t.Cleanup(func() {
		if honcho.Process.Signal(syscall.SIGTERM) == nil {
			<-ended
		}

		if t.Failed() {
			t.Logf("--- honcho\n%s", output())
		}
	})

	for _, name := range []string{"api", "worker1", "worker2"} {
		wait.Until(t, name+" listens",
			func() bool { return regexp.MustCompile(name + `\.1.*"listening"`).MatchString(output()) })
	}

	c := e2e.NewClient(t, address["API_PORT"], "")

	for i := range 6 {
		text := fmt.Sprintf("# Document %d\n\n%s", i, strings.Repeat("Words of a line.\n\n", 200))
		c.Submit(e2e.Submission{Content: text})
	}

	if err := honcho.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wait.Receive(t, "the end of honcho", ended)

	stopped := regexp.MustCompile(`(\w+)\.1 stopped \(rc=(-?\d+)\)`).FindAllStringSubmatch(output(), -1)
	for _, m := range stopped {
		if m[2] != "0" {
			t.Errorf("%s ended with status %s, want 0", m[1], m[2])
		}
	}

	if len(stopped) != 5 {
		t.Errorf("honcho reports the end of %d processes, want 5", len(stopped))
	}
	// honcho does not report the ends in their real order, so the test compares the times in the logs.
	shutdown := regexp.MustCompile(`(\d+ \w+ \d+ [\d:.]+) # User requested shutdown`).FindStringSubmatch(output())
	if shutdown == nil {
		t.Fatalf("log %s, want the shutdown of Redis in it", output())
	}

	end, err := time.Parse("02 Jan 2006 15:04:05.000", shutdown[1])
	if err != nil {
		t.Fatal(err)
	}

	for _, m := range regexp.MustCompile(`worker\d\.1 .*"time":"([^"]+)"`).FindAllStringSubmatch(output(), -1) {
		if at, err := time.Parse(time.RFC3339Nano, m[1]); err != nil || at.Truncate(time.Millisecond).After(end) {
			t.Errorf("a worker logged at %s (%v), want no line after the shutdown of Redis at %s: %s", at, err, end,
				m[0])
		}
	}

	if strings.Contains(output(), "connection refused") &&
		strings.LastIndex(output(), "connection refused") > strings.Index(output(), "SIGTERM received") {
		t.Error("a process logged connection refused after SIGTERM, want Redis and the store to end last")
	}
}
