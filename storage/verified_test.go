package storage_test

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/storage"
)

func TestDiskWithholdsTheEndOfADamagedObject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log strings.Builder

	d, err := storage.OpenDisk(storage.DiskOptions{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	put(t, d, "artifacts/a.pdf", "what was put")
	damage(t, dir, "artifacts/a.pdf")

	r, info, err := d.Get(t.Context(), "artifacts/a.pdf", storage.Range{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()

	got, err := io.ReadAll(io.LimitReader(r, info.Size)) // a server reads like this after it has sent the size
	if !errors.Is(err, storage.ErrCorrupt) || int64(len(got)) >= info.Size {
		t.Errorf("got %q, %v; want ErrCorrupt before the last byte", got, err)
	}

	if !strings.Contains(log.String(), "artifacts/a.pdf") {
		t.Errorf("the log does not name the object: %s", &log)
	}

	part, _, err := d.Get(t.Context(), "artifacts/a.pdf", storage.Range{Length: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()

	if got, err := io.ReadAll(part); err != nil || len(got) != 4 {
		t.Errorf("a range: got %q, %v; want four bytes", got, err)
	}
}

// damage changes the first byte of an object on disk and keeps its size.
func damage(t *testing.T, dir, key string) {
	t.Helper()

	f, err := os.OpenFile(filepath.Join(dir, key), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte{0}, 0)
	}

	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}
