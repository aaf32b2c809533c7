package input_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"presswork/internal/input"
	"presswork/internal/test/wait"
)

func TestOnlyRegularFilesAreReadWithoutBlocking(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(
		os.WriteFile(file, []byte("text"), 0o600),
		os.Symlink("file", link),
		syscall.Mkfifo(pipe, 0o600),
	); err != nil {
		t.Fatal(err)
	}

	read := func(path string, limit int64) error {
		t.Helper()
		done := make(chan error, 1)

		go func() {
			data, err := input.ReadFile(path, limit)
			if err == nil && string(data) != "text" {
				t.Errorf("%s: read %q", path, data)
			}
			done <- err
		}()

		return wait.Receive(t, path+" is read", done)
	}
	for _, path := range []string{file, link} {
		if err := read(path, 4); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}

	if err := read(file, 3); err == nil || !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Errorf("too large: %v", err)
	}

	for i, path := range []string{pipe, dir, "/dev/zero"} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if err := read(path, 4); !errors.Is(err, input.ErrNotRegular) {
				t.Errorf("%s: %v", path, err)
			}
		})
	}

	if err := read(filepath.Join(dir, "none"), 4); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}
