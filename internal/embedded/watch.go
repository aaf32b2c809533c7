package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watch starts a shell that ends the process when the caller's process dies:
// its input is a pipe whose other end nobody else holds, so that the kernel
// closes it with the caller, however that dies. Where the kernel offers a
// death signal (Linux), that serves instead.
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
		cmd.Process.Kill() // before the pipe closes: the process is gone already
		_ = cmd.Wait()     // it was killed
		w.Close()
	}, nil
}
