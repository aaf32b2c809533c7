//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// killOrphans ends processes that a killed bwrap leaves behind. bwrap may be killed after its fork and before its first
// message to the child. That child waits for the message and has run nothing yet. Other processes end with bwrap.
func (w *bubblewrap) killOrphans() {
	paths, _ := filepath.Glob("/proc/[0-9]*") // without /proc there is no bwrap either
	for _, path := range paths {
		if !w.isSandbox(path) {
			continue
		}
		var levels int
		var parent string

		status, _ := os.ReadFile(path + "/status") // empty if the process has ended
		for line := range strings.Lines(string(status)) {
			switch key, value, _ := strings.Cut(line, ":"); key {
			case "PPid":
				parent = strings.TrimSpace(value)
			case "NSpid": // one id for each namespace it is in
				levels = len(strings.Fields(value))
			}
		}

		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil || levels < 2 || w.isSandbox("/proc/"+parent) {
			continue
		}

		if p, err := os.FindProcess(pid); err == nil {
			if w.isSandbox(path) { // the pid may belong to another process by now
				p.Kill()
			}
			_ = p.Release()
		}
	}
}

// isSandbox reports whether the process in this folder of /proc is a bwrap that a server like this one started.
func (w *bubblewrap) isSandbox(process string) bool {
	line, err := os.ReadFile(process + "/cmdline")

	return err == nil &&
		strings.HasPrefix(string(line), strings.Join(append([]string{w.bwrap}, ownArguments...), "\x00"))
}
