// Package public creates files that other users can read, whatever the umask. The browser and the sandbox of a
// root process run as another user.
package public

import (
	"os"
	"syscall"
	"testing"
)

// Dir returns a directory that every user can enter, unlike the t.TempDir of root. Its path is short enough for a
// unix socket, whose path has at most 104 bytes. It is deleted with the test.
func Dir(t testing.TB) string {
	t.Helper()

	base := os.TempDir()
	if len(base) > 60 {
		base = "/tmp"
	}

	dir, err := os.MkdirTemp(base, "pw")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}

	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })

	return dir
}

// File writes a file that every user can read.
func File(t testing.TB, path, text string) {
	t.Helper()
	write(t, path, text, 0o644)
}

// Program writes a script that every user can run. A child of another test could hold the file open until it
// executes its own program. The kernel does not execute a file that is open for writing.
func Program(t testing.TB, path, text string) {
	t.Helper()

	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	write(t, path, text, 0o755)
}

// write writes a file with a mode, whatever the umask.
func write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()

	err := os.WriteFile(path, []byte(text), mode)
	if err == nil {
		err = os.Chmod(path, mode)
	}

	if err != nil {
		t.Fatal(err)
	}
}
