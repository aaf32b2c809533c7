package embedded

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"presswork/internal/test/wait"
)

// The pipe's closing is what the watch sees of a parent's death, whatever the
// parent died of.
func TestTheWatchEndsAProcessWhoseParentHasGone(t *testing.T) {
	t.Parallel()

	victim := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	// A parent that dies at once: it watches over the victim and is killed by
	// its own hand, so that nothing of Go's can close the pipe for it.
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
		return // this is no test but the parent of the one above
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
