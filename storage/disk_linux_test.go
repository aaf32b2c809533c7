package storage_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"presswork/storage"
)

// TestDiskFull runs itself again in its own mount namespace. There it may mount a small file system and fill it.
func TestDiskFull(t *testing.T) {
	t.Parallel()

	if os.Getenv("PRESSWORK_TEST_MOUNT") == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDiskFull$", "-test.v")
		cmd.Env = append(os.Environ(), "PRESSWORK_TEST_MOUNT=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}

		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) ||
			bytes.Contains(out, []byte("mount: operation not permitted")) {
			t.Skip(
				"needs user namespaces, which this machine forbids; where they are allowed `make test` runs this test",
			)
		}

		if err != nil || !bytes.Contains(out, []byte("--- PASS: TestDiskFull")) {
			t.Fatalf("%v\n%s", err, out)
		}

		return
	}

	dir := t.TempDir()
	if err := syscall.Mount("presswork", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatalf("mount: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	d := openDisk(t, dir)
	put(t, d, "artifacts/small.pdf", "fits")

	_, err := d.Put(t.Context(), "artifacts/big.pdf", strings.NewReader(strings.Repeat("x", 2<<20)), -1,
		storage.Attrs{})
	if !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, storage.ErrFull) {
		t.Errorf("got %v, want ENOSPC and ErrFull", err)
	}

	if got := listFiles(t, dir); got != ".lock .tmp artifacts artifacts/.small.pdf.json artifacts/small.pdf" {
		t.Errorf("the directory has %s, want only the small object", got)
	}

	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}

	if err := d.Health(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Health with a full disk: got %v, want ENOSPC", err)
	}

	if got := listFiles(t, filepath.Join(dir, ".tmp")); got != "" {
		t.Errorf(".tmp has %s, want nothing", got)
	}
}
