package embedded

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"presswork/internal/test/wait"
)

// The watch notices a parent's death by the closed pipe, whatever the cause of death.
func TestTheWatchEndsAProcessWhoseParentHasGone(t *testing.T) {
	t.Parallel()

	victim := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	// The parent watches the victim and then kills itself, so that Go cannot close the pipe for it.
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheWatchAsAParent$")
	parent.Env = append(os.Environ(), "PRESSWORK_TEST_WATCH="+strconv.Itoa(victim.Process.Pid))

	out, err := parent.CombinedOutput()
	if parent.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the parent: %v\n%s", err, out)
	}

	ended := make(chan error, 1)
	go func() { ended <- victim.Wait() }()

	defer victim.Process.Kill()
	wait.Receive(t, "the end of the parent's process", ended)
}

func TestTheWatchAsAParent(t *testing.T) {
	pid, err := strconv.Atoi(os.Getenv("PRESSWORK_TEST_WATCH"))
	if err != nil {
		return // this process is the parent of the test above
	}

	if _, err := watch(pid); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

func TestAReleasedWatchLeavesTheProcessAlone(t *testing.T) {
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
