package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watch starts a shell that ends the process when the caller's process dies. The shell reads from a pipe whose
// other end only the caller holds: the kernel closes it when the caller ends, for any reason. On Linux the death
// signal replaces watch.
func watch(pid int) (release func(), err error) {
	release = func() {}

	r, w, err := os.Pipe()
	if err != nil {
		return release, fmt.Errorf("watch: %w", err)
	}
	defer r.Close()
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", `while read -r _; do :; done; kill -TERM "$0"`,
		strconv.Itoa(pid))
	cmd.Stdin = r

	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return release, fmt.Errorf("watch: %w", err)
	}

	return func() {
		cmd.Process.Kill() // before the pipe closes, because the process has already ended
		_ = cmd.Wait()     // the shell was killed, so the error is ignored
		w.Close()
	}, nil
}
