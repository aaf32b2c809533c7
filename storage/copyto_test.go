package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presswork/storage"
)

func TestCopyToCopiesMissingObjects(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	from, to := openDisk(t, t.TempDir()), openDisk(t, t.TempDir())

	attrs := storage.Attrs{ContentType: "application/pdf", Meta: map[string]string{"pages": "3"}}
	// renders/ is a cache: CopyTo skips it.
	for key, text := range map[string]string{"artifacts/a.pdf": "first", "sources/b/r/content.md": "second", "renders/c.pdf": "cached"} {
		if _, err := from.Put(ctx, key, strings.NewReader(text), -1, attrs); err != nil {
			t.Fatal(err)
		}
	}

	if c, err := storage.CopyTo(ctx, to, from); err != nil || c.Objects != 2 || c.Bytes != 11 || len(c.Skipped) != 0 {
		t.Fatalf("CopyTo = %+v, %v; want 2 objects and 11 bytes", c, err)
	}

	if c, err := storage.CopyTo(ctx, to, from); err != nil || c.Objects != 0 {
		t.Errorf("second CopyTo = %+v, %v; want no objects", c, err)
	}
	var keys []string

	for info, err := range to.List(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}

	if want := []string{"artifacts/a.pdf", "sources/b/r/content.md"}; !slices.Equal(keys, want) {
		t.Errorf("copied %q, want %q", keys, want)
	}

	r, info, err := to.Get(ctx, "artifacts/a.pdf", storage.Range{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()

	text, err := io.ReadAll(r)
	if err != nil || string(text) != "first" || info.ContentType != attrs.ContentType ||
		!maps.Equal(info.Meta, attrs.Meta) {
		t.Errorf("got %q, %+v, %v; want the first object with its attributes", text, info, err)
	}
}

// failingStore is a store whose Get and Health return these errors.
type failingStore struct {
	storage.Store
	get, health error
}

func (s failingStore) Get(context.Context, string, storage.Range) (io.ReadCloser, storage.Info, error) {
	return nil, storage.Info{}, s.get
}

func (s failingStore) Health(context.Context) error { return s.health }

func TestCopyToStopsOnAnOutageOnly(t *testing.T) {
	t.Parallel()
	from := openDisk(t, t.TempDir())
	put(t, from, "artifacts/a.pdf", "a")
	put(t, from, "artifacts/b.pdf", "b")
	denied, unavailable := errors.New("access denied"), errors.New("no response")

	c, err := storage.CopyTo(t.Context(), openDisk(t, t.TempDir()), failingStore{from, denied, nil})
	if err != nil || len(c.Skipped) != 2 || !errors.Is(c.Skipped[1], denied) ||
		!strings.Contains(c.Skipped[1].Error(), "artifacts/b.pdf") {
		t.Errorf("objects that cannot be read: got %+v, %v; want both skipped", c, err)
	}

	c, err = storage.CopyTo(t.Context(), openDisk(t, t.TempDir()), failingStore{from, denied, unavailable})
	if !errors.Is(err, unavailable) || len(c.Skipped) != 0 {
		t.Errorf("an outage: got %+v, %v; want the error of Health", c, err)
	}
}

func TestDiskListContinuesAfterAnUnreadableObject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	d := openDisk(t, dir)
	for _, key := range []string{"artifacts/a.pdf", "artifacts/b.pdf", "artifacts/c.pdf"} {
		put(t, d, key, "x")
	}
	// Replace a header with a folder, which even root cannot read as a file.
	header := filepath.Join(dir, "artifacts/.b.pdf.json")
	if err := errors.Join(os.Remove(header), os.Mkdir(header, 0o700)); err != nil {
		t.Fatal(err)
	}

	var listed []string
	for info, err := range d.List(t.Context(), "artifacts/") {
		listed = append(listed, fmt.Sprint(info.Key, " ", err == nil))
	}

	want := []string{"artifacts/a.pdf true", "artifacts/b.pdf false", "artifacts/c.pdf true"}
	if !slices.Equal(listed, want) {
		t.Errorf("listed %q, want %q", listed, want)
	}

	backup := openDisk(t, t.TempDir())
	put(t, backup, "artifacts/old.pdf", "x")

	if n, err := storage.Prune(t.Context(), backup, d); n != 0 || err != nil {
		t.Errorf("Prune deleted %d objects, %v; want none after an incomplete listing", n, err)
	}
}

func TestBackupKeepsItsCopyOfADamagedObject(t *testing.T) {
	t.Parallel()

	for name, damage := range map[string]func(data, header string) error{
		"bytes cut short": func(data, _ string) error { return os.Truncate(data, 1) },
		"empty header":    func(_, header string) error { return os.Truncate(header, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			live, backup := openDisk(t, dir), openDisk(t, t.TempDir())
			put(t, live, "artifacts/a.pdf", "bytes")
			put(t, live, "artifacts/b.pdf", "bytes")

			if _, err := storage.CopyTo(t.Context(), backup, live); err != nil {
				t.Fatal(err)
			}

			err := damage(filepath.Join(dir, "artifacts/a.pdf"), filepath.Join(dir, "artifacts/.a.pdf.json"))
			if err != nil {
				t.Fatal(err)
			}

			c, err := storage.CopyTo(t.Context(), backup, live)
			if err != nil || len(c.Skipped) != 1 || !errors.Is(c.Skipped[0], storage.ErrCorrupt) {
				t.Errorf("CopyTo = %+v, %v; want the damaged object skipped", c, err)
			}

			if n, err := storage.Prune(t.Context(), backup, live); n != 0 || err != nil {
				t.Errorf("Prune deleted %d objects, %v; want none", n, err)
			}

			if _, err := backup.Stat(t.Context(), "artifacts/a.pdf"); err != nil {
				t.Errorf("Stat of the copy in the backup: %v", err)
			}
		})
	}
}
