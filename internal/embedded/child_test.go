package embedded

import (
	"log/slog"
	"os/exec"
	"syscall"
	"testing"

	"presswork/internal/test/wait"
)

// TestEndedChildIsNotSignalled gives the id of an ended child to another process, as the kernel may do.
func TestEndedChildIsNotSignalled(t *testing.T) {
	t.Parallel()

	c, err := launch(exec.CommandContext(t.Context(), "true"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	wait.Receive(t, "the end of the child", c.exited)
	other := exec.CommandContext(t.Context(), "cat") // runs until its input ends
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	c.cmd.Process.Pid = other.Process.Pid
	c.end(t.Context())
	c.kill()
	in.Close()

	if err := other.Wait(); err != nil {
		t.Errorf("the other process ended with %v, want no signal", err)
	}
}
