package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"presswork/storage"
	"presswork/storage/storagetest"
)

func openDisk(t testing.TB, dir string) *storage.Disk {
	t.Helper()

	d, err := storage.OpenDisk(storage.DiskOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}

	return d
}

func TestDiskConforms(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storage.Store {
		return openDisk(t, filepath.Join(t.TempDir(), "made", "as", "needed"))
	})
}

func TestDiskDeleteRemovesHeadersAndFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	d := openDisk(t, dir)
	for _, key := range []string{storage.ArtifactKeyOf("01J", ""), storage.SourceKey("01J", "01K"), storage.AssetKey("01J", "01K", "0")} {
		put(t, d, key, "x")
	}

	for _, key := range []string{storage.ArtifactKeyOf("01J", ""), storage.AssetKey("01J", "01K", "0"), storage.SourceKey("01J", "01K")} {
		if err := d.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}

	if got := listFiles(t, dir); got != ".lock .tmp" {
		t.Errorf("the directory has %s, want no objects", got)
	}
}

func TestDiskStoresBytesUnderTheKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, openDisk(t, dir), storage.ArtifactKeyOf("01J", ""), "%PDF")

	if b, err := os.ReadFile(filepath.Join(dir, "artifacts", "01J.pdf")); string(b) != "%PDF" {
		t.Errorf("the file has %q (%v), want %%PDF", b, err)
	}

	if got := listFiles(t, dir); got != ".lock .tmp artifacts artifacts/.01J.pdf.json artifacts/01J.pdf" {
		t.Errorf("the directory has %s, want a header and a file", got)
	}
}

// Each row simulates the state after a crash.
func TestDiskDoesNotReturnPartialObjects(t *testing.T) {
	t.Parallel()

	for name, damage := range map[string]func(data, header string) error{
		"header without bytes": func(data, _ string) error { return os.Remove(data) },
		"bytes without header": func(_, header string) error { return os.Remove(header) },
		"bytes cut short":      func(data, _ string) error { return os.Truncate(data, 1) },
		"empty header":         func(_, header string) error { return os.Truncate(header, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d := openDisk(t, dir)
			put(t, d, "renders/h.pdf", "bytes")

			err := damage(filepath.Join(dir, "renders/h.pdf"), filepath.Join(dir, "renders/.h.pdf.json"))
			if err != nil {
				t.Fatal(err)
			}

			if _, err := d.Stat(t.Context(), "renders/h.pdf"); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("Stat: got %v, want ErrNotFound", err)
			}

			if _, err := d.Copy(t.Context(), "renders/h.pdf", "artifacts/1.pdf"); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("Copy: got %v, want ErrNotFound", err)
			}

			for info := range d.List(t.Context(), "") {
				t.Errorf("List returned %+v, want nothing", info)
			}
			put(t, d, "renders/h.pdf", "again")

			if info, err := d.Stat(t.Context(), "renders/h.pdf"); err != nil || info.Size != 5 {
				t.Errorf("after another Put: got %+v, %v; want 5 bytes", info, err)
			}
		})
	}
}

func TestDiskDeletesOnlyOldTemporaryFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openDisk(t, dir)

	for name, age := range map[string]time.Duration{"crashed": 2 * time.Hour, "writing": time.Minute} {
		file := filepath.Join(dir, ".tmp", name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}

		then := time.Now().Add(-age)
		if err := os.Chtimes(file, then, then); err != nil {
			t.Fatal(err)
		}
	}
	openDisk(t, dir)

	if got := listFiles(t, dir); got != ".tmp .tmp/writing" {
		t.Errorf("the directory has %s, want .tmp and .tmp/writing", got)
	}
}

func TestDiskFollowsNoLinkOutOfItsDirectory(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()

	d := openDisk(t, dir)
	if err := os.Symlink(outside, filepath.Join(dir, "artifacts")); err != nil {
		t.Fatal(err)
	}

	if _, err := d.Put(t.Context(), "artifacts/x.pdf", strings.NewReader("x"), 1, storage.Attrs{}); err == nil {
		t.Error("Put through a link out of the store succeeded")
	}

	if got := listFiles(t, outside); got != "" {
		t.Errorf("the linked directory has %s, want nothing", got)
	}
}

func TestDiskCreatesADeletedDirectoryAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "output")
	d := openDisk(t, dir)
	put(t, d, "a", "1")

	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}

	if _, err := d.Stat(t.Context(), "a"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	put(t, d, "a", "2")
}

// Each Disk has a lock descriptor of its own, like a process of its own.
func TestOnlyOneOfManyProcessesPutsAnObject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	var disks []*storage.Disk
	for range 8 {
		disks = append(disks, openDisk(t, dir))
	}

	for n := range 300 {
		var successes atomic.Int32
		var wg sync.WaitGroup
		start := make(chan struct{})

		for _, d := range disks {
			wg.Go(func() {
				<-start

				_, err := d.Put(t.Context(), "renders/"+pdfName(n), strings.NewReader("x"), 1, storage.Attrs{})
				if err == nil {
					successes.Add(1)
				} else if !errors.Is(err, storage.ErrExists) {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()

		if successes.Load() != 1 {
			t.Fatalf("round %d: %d Puts succeeded, want one", n, successes.Load())
		}
	}
}

func TestDiskCopySharesTheBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openDisk(t, dir)
	put(t, d, "renders/h.pdf", "bytes")

	if _, err := d.Copy(t.Context(), "renders/h.pdf", "artifacts/1.pdf"); err != nil {
		t.Fatal(err)
	}
	a, errA := os.Stat(filepath.Join(dir, "renders/h.pdf"))

	b, errB := os.Stat(filepath.Join(dir, "artifacts/1.pdf"))
	if err := errors.Join(errA, errB); err != nil || !os.SameFile(a, b) {
		t.Errorf("the copy is another file (%v), want a hard link", err)
	}
}

func put(t testing.TB, s storage.Store, key, body string) {
	t.Helper()

	if _, err := s.Put(t.Context(), key, strings.NewReader(body), int64(len(body)), storage.Attrs{}); err != nil {
		t.Fatal(err)
	}
}

// listFiles returns the paths of all files and folders in dir, separated by spaces.
func listFiles(t *testing.T, dir string) string {
	t.Helper()
	var names []string

	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		if name != "." {
			names = append(names, name)
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return strings.Join(names, " ")
}

func BenchmarkDisk(b *testing.B) {
	body := bytes.Repeat([]byte("0123456789"), 3000)

	for name, prefix := range map[string]string{"durable": storage.Artifacts, "volatile": storage.Renders} {
		b.Run("Put 30 KB "+name, func(b *testing.B) {
			d := openDisk(b, b.TempDir())
			for n := 0; b.Loop(); n++ {
				_, err := d.Put(b.Context(), prefix+pdfName(n), bytes.NewReader(body), int64(len(body)),
					storage.Attrs{})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("Copy 30 KB to "+name, func(b *testing.B) {
			d := openDisk(b, b.TempDir())
			put(b, d, "a", string(body))

			for n := 0; b.Loop(); n++ {
				// A copy is a hard link, which is cheap up to the file system's limit of 65 000.
				if _, err := d.Copy(b.Context(), "a", prefix+pdfName(n)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("Stat", func(b *testing.B) {
		d := openDisk(b, b.TempDir())
		put(b, d, "artifacts/x.pdf", string(body))

		for b.Loop() {
			if _, err := d.Stat(b.Context(), "artifacts/x.pdf"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// pdfName returns the name of object n.
func pdfName(n int) string { return fmt.Sprintf("01J%023d.pdf", n) }
