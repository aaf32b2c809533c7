// Package public makes what other users of the machine can reach, whatever the umask:
// a browser or a sandbox of a root process is another user's.
package public

import (
	"os"
	"syscall"
	"testing"
)

// Dir is a directory that everybody can pass through, which t.TempDir of root is
// not, and whose path is so short that a unix socket can lie in it: a socket's path
// stays under 104 bytes. It goes with the test.
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

// File writes a file that everybody can read.
func File(t testing.TB, path, text string) {
	t.Helper()
	write(t, path, text, 0o644)
}

// Program writes a script that everybody can run. A child that another test starts
// meanwhile would hold the file open until it runs its own program, and the kernel
// runs nothing that is open for writing.
func Program(t testing.TB, path, text string) {
	t.Helper()

	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	write(t, path, text, 0o755)
}

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
