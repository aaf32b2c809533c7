//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presswork/internal/inference/sandbox"
	"presswork/internal/test/wait"
)

// smallShare is the memory of a session with 64 MiB: its processes, two folders of 64 MiB, and /dev/shm.
const smallShare = (64 + 2*64 + 1) << 20

// newSmallPool returns a pool of sessions with 64 MiB each, and the given memory for all of them.
func newSmallPool(t *testing.T, budget int64) *sandbox.Pool {
	t.Helper()

	p, err := sandbox.NewPool(
		sandbox.PoolOptions{Box: openBox(t), Timeout: longTimeout, Cells: 8, Memory: 64 << 20, Budget: budget},
	)
	if err != nil {
		t.Fatal(err)
	}

	return p
}

func TestCellsWaitForTheMemoryOfAllSessions(t *testing.T) {
	t.Parallel()
	p := newSmallPool(t, smallShare)
	busy, next := newSession(t, p), newSession(t, p)
	ctx, cancel := context.WithCancel(t.Context())

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = busy.Run(ctx, "import time\ntime.sleep(1000)")
	}()
	wait.Until(t, "a cell waits while another has reserved all memory", func() bool {
		waitCtx, stopWaiting := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer stopWaiting()
		_, err := next.Run(waitCtx, "1")

		return errors.Is(err, context.DeadlineExceeded)
	})
	outputs := make(chan string, 1)

	go func() {
		r, err := next.Run(t.Context(), "40 + 2")
		if err != nil {
			r.Output = err.Error()
		}
		outputs <- r.Output
	}()
	cancel()
	<-ended

	if got := wait.Receive(t, "the answer after the other cell", outputs); !strings.HasSuffix(got, "42") {
		t.Errorf("the waiting cell returned %s, want 42", got)
	}
}

func TestIdleInterpreterReturnsItsMemory(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		name   string
		budget int64
		kept   bool
	}{
		{"another cell needs it", smallShare + 30<<20, false},
		{"no other cell needs it", smallShare + 120<<20, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newSmallPool(t, test.budget)
			idle, other := newSession(t, p), newSession(t, p)
			run(t, idle, "x = bytes(range(256)) * (30 << 12)")

			if got := run(t, other, "40 + 2"); got.Output != "42" {
				t.Errorf("the other session returned %s, want 42", got.Output)
			}

			got := run(t, idle, "len(x) >> 20")
			if kept := got.Output == "30"; kept != test.kept {
				t.Errorf("the variable is kept: %v, want %v; output %s", kept, test.kept, got.Output)
			}

			if !test.kept && !strings.Contains(got.Output, "variables and files of earlier calls are gone") {
				t.Errorf("the output does not say that its variables are gone: %s", got.Output)
			}
		})
	}
}

func TestAnIdleInterpreterDoesNotGrow(t *testing.T) {
	t.Parallel()

	for name, grow := range map[string]string{
		"in memory": "kept.append(b'x' * (40 << 20))",
		"in files":  "open('big', 'wb').write(bytes(40 << 20))",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, newSmallPool(t, 2*smallShare))
			run(
				t,
				s,
				"import threading, time\nkept = []\ndef grow():\n    time.sleep(1)\n    "+grow+"\n    time.sleep(1000)\nthreading.Thread(target=grow).start()",
			)
			wait.Until(t, "the end of the interpreter", func() bool { return s.Ended() })

			if got := run(t, s, "1"); !strings.Contains(got.Output, "while no code was to run") {
				t.Errorf("output is %s, want the end of the idle interpreter", got.Output)
			}
		})
	}
}

func TestBudgetBelowOneSessionIsRejected(t *testing.T) {
	t.Parallel()

	_, err := sandbox.NewPool(sandbox.PoolOptions{Box: openBox(t), Budget: 100 << 20})
	if err == nil || !strings.Contains(err.Error(), "100 MiB; one session takes up to 641 MiB") {
		t.Errorf("error is %v, want one with the budget and the memory of a session", err)
	}
}

func TestBudgetRespectsControlGroupLimits(t *testing.T) {
	t.Parallel()

	root := t.TempDir()
	for file, content := range map[string]string{
		"system.slice/presswork.service/memory.max": "max\n",
		"system.slice/memory.max":                   "3000\n", // limits of the parents apply as well
		"memory/docker/1/memory.limit_in_bytes":     "2000\n",
		"memory/memory.limit_in_bytes":              "9223372036854771712\n", // version 1 has no word for "no limit"
	} {
		name := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	// The keys are the content of /proc/self/cgroup.
	for own, want := range map[string]int64{
		"":                                     10000,
		"0::/\n":                               10000,
		"0::/system.slice/presswork.service\n": 3000,
		"0::/system.slice/other.service/x\n":   3000,
		"4:memory:/docker/1\n0::/\n":           2000,
		"4:memory:/\n3:cpu:/docker/1\n":        10000,
	} {
		t.Run(own, func(t *testing.T) {
			if got := sandbox.MemoryWithin(10000, root, own); got != want {
				t.Errorf("MemoryWithin(10000, root, %q) = %d bytes, want %d", own, got, want)
			}
		})
	}
}

// TestKernelEndsSandboxFirst checks that the kernel ends a sandbox first when memory is short, and that its
// code cannot change that.
func TestKernelEndsSandboxFirst(t *testing.T) {
	t.Parallel()

	// The shell writes its own value; cat reads its value as a child of the shell.
	code := "cat /proc/self/oom_score_adj; { echo 0 >/proc/self/oom_score_adj; } 2>/dev/null; cat /proc/self/oom_score_adj"

	out, err := openBox(t).Run(t.Context(), shell(code))
	if err != nil || string(out.Stdout) != "1000\n1000\n" {
		t.Errorf("oom_score_adj is %q before and after the write, %v; want 1000 twice", out.Stdout, err)
	}
}
