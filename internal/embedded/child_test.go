package embedded

import (
	"log/slog"
	"os/exec"
	"syscall"
	"testing"

	"presswork/internal/test/wait"
)

// The process id of an ended child may be reused before the child is stopped.
func TestAnEndedChildIsNotSignalled(t *testing.T) {
	t.Parallel()

	c, err := launch(exec.CommandContext(t.Context(), "true"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	wait.Receive(t, "its end", c.exited)
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
		t.Errorf("another process: %v", err)
	}
}
