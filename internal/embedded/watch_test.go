package embedded

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"presswork/internal/test/wait"
)

// TestWatchEndsAProcessAfterItsParent checks that a parent may end in any way: the watch sees that its pipe is closed.
func TestWatchEndsAProcessAfterItsParent(t *testing.T) {
	t.Parallel()

	victim := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	// The parent watches the victim and then kills itself, so that Go cannot close the pipe for it.
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWatchParentHelper$")
	parent.Env = append(os.Environ(), "PRESSWORK_TEST_WATCH="+strconv.Itoa(victim.Process.Pid))

	out, err := parent.CombinedOutput()
	if parent.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the parent ended with %v, want SIGKILL\n%s", err, out)
	}

	ended := make(chan error, 1)
	go func() { ended <- victim.Wait() }()

	defer victim.Process.Kill()
	wait.Receive(t, "the end of the watched process", ended)
}

// TestWatchParentHelper is the parent process of TestWatchEndsAProcessAfterItsParent. As a test it does nothing.
func TestWatchParentHelper(t *testing.T) {
	pid, err := strconv.Atoi(os.Getenv("PRESSWORK_TEST_WATCH"))
	if err != nil {
		return // not started by TestWatchEndsAProcessAfterItsParent
	}

	if _, err := watch(pid); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

func TestReleasedWatchDoesNotEndTheProcess(t *testing.T) {
	t.Parallel()
	victim := exec.CommandContext(t.Context(), "cat")

	in, err := victim.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}

	release, err := watch(victim.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	release()
	in.Close()

	if err := victim.Wait(); err != nil {
		t.Errorf("the process was ended: %v", err)
	}
}
