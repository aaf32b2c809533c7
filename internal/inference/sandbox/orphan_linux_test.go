//go:build amd64 || arm64

package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presswork/internal/inference/sandbox"
	"presswork/internal/test/wait"
)

// helperVariable turns the test program into a helper process that tests may kill. With "calls" the helper runs a
// thousand cells. With "busy" it keeps cells and programs running. Both then write "ready" to stdout and wait for the
// end of stdin.
const helperVariable = "PRESSWORK_SANDBOX_TEST_HELPER"

// runHelper is the main function of the helper. It returns the exit status.
func runHelper() int {
	ctx := context.Background()
	fail := func(err error) int { fmt.Println(err); return 1 }

	box, err := sandbox.Open(ctx, sandbox.Options{})
	if err != nil {
		return fail(err)
	}

	pool, err := sandbox.NewPool(sandbox.PoolOptions{Box: box, Waiting: 2})
	if err != nil {
		return fail(err)
	}

	if err := pool.Start(ctx); err != nil {
		return fail(err)
	}

	if os.Getenv(helperVariable) == "calls" {
		for range 50 {
			s, err := pool.Session(ctx, nil)
			if err != nil {
				return fail(err)
			}

			for n := range 20 {
				code := "1"
				if n == 10 { // leave processes running outside the session and the process group of the cell
					code = "import os, subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\nos.fork() or os.setsid() or os.fork() or os.execlp('sleep', 'sleep', '1000')"
				}

				if _, err := s.Run(ctx, code); err != nil {
					return fail(err)
				}
			}

			if err := s.Close(); err != nil {
				return fail(err)
			}
		}

		if err := pool.Stop(ctx); err != nil {
			return fail(err)
		}
	} else { // "busy"
		s, err := pool.Session(ctx, nil)
		if err != nil {
			return fail(err)
		}

		if _, err := s.Run(ctx, "1"); err != nil {
			return fail(err)
		}
		go func() { _, _ = s.Run(ctx, "import os, time\nif os.fork() == 0: os.setsid()\ntime.sleep(1000)") }()
		go func() { _, _ = box.Run(ctx, sandbox.Command{Program: "sleep", Args: []string{"1000"}}) }()
		go func() { // a sandbox is always about to start
			for {
				_, _ = box.Run(ctx, sandbox.Command{Program: "true"})
			}
		}()
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)

	return 0
}

// startHelper starts the helper with a task, "calls" or "busy", and waits until it is ready.
func startHelper(t *testing.T, task string) *exec.Cmd {
	t.Helper()
	openBox(t) // skips the test if this machine has no sandbox
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"="+task)

	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})

	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the helper wrote %q, %v; want ready", line, err)
	}

	return cmd
}

// children returns the processes that pid started. Each is a string "pid start-time", because ids are reused.
func children(pid string) (all []string) {
	lists, _ := filepath.Glob("/proc/" + pid + "/task/*/children") // none if the process has ended
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(b)) {
			all = append(all, child+" "+startTime(child))
		}
	}

	return all
}

// descendants returns the descendants of a process that are alive, in the form of children.
func descendants(pid string) (all []string) {
	for _, member := range children(pid) {
		child, at, _ := strings.Cut(member, " ")
		if at != "" {
			all = append(all, member)
		}
		all = append(all, descendants(child)...)
	}

	return all
}

// startTime distinguishes a process from a later one with the same id. It is "" if the process has ended.
func startTime(pid string) string {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}

	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 20 || f[0] == "Z" {
		return ""
	}

	return f[19]
}

func TestThousandCallsLeaveNoProcesses(t *testing.T) {
	t.Parallel()
	cmd := startHelper(t, "calls")

	pid := fmt.Sprint(cmd.Process.Pid)
	if left := descendants(pid); len(left) > 0 {
		t.Errorf("after the calls run %v, want no processes", left)
	}

	fds, err := os.ReadDir("/proc/" + pid + "/fd")
	if err != nil {
		t.Fatal(err)
	}

	if len(fds) > 20 {
		t.Errorf("%d descriptors are open, want up to 20", len(fds))
	}
}

func TestSandboxedProgramsEndAfterTheirServerIsKilled(t *testing.T) {
	t.Parallel()

	for range 3 {
		cmd := startHelper(t, "busy")
		var own, family []string
		wait.Until(t, "two waiting, a session and a program run, each bwrap twice", func() bool {
			own, family = children(fmt.Sprint(cmd.Process.Pid)), descendants(fmt.Sprint(cmd.Process.Pid))
			return len(family) >= 8
		})
		cmd.Process.Kill()

		for _, member := range family {
			// A bwrap ends with the helper that started it, after a short time.
			if slices.Contains(own, member) || !strings.Contains(commandLine(member), "bwrap") {
				awaitEnd(t, member)
			}
		}
		openBox(t) // sweeps the remaining processes, as the next server does

		for _, member := range family {
			awaitEnd(t, member)
		}
	}
}

// commandLine returns the command line of a process from children, or "" if it has ended.
func commandLine(member string) string {
	pid, _, _ := strings.Cut(member, " ")
	line, _ := os.ReadFile("/proc/" + pid + "/cmdline")

	return string(line)
}

// awaitEnd waits until a process from children has ended.
func awaitEnd(t *testing.T, member string) {
	t.Helper()
	pid, at, _ := strings.Cut(member, " ")
	wait.Until(t, "the end of "+pid, func() bool { return startTime(pid) != at })
}
