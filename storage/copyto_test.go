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
	open := func() *storage.Disk {
		s, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}

		return s
	}
	from, to := open(), open()

	attrs := storage.Attrs{ContentType: "application/pdf", Meta: map[string]string{"pages": "3"}}

	for key, text := range map[string]string{"artifacts/a.pdf": "first", "sources/b/r/content.md": "second", "renders/c.pdf": "cached"} {
		t.Run(key, func(t *testing.T) {
			if _, err := from.Put(ctx, key, strings.NewReader(text), -1, attrs); err != nil {
				t.Fatal(err)
			}
		})
	}

	if c, err := storage.CopyTo(ctx, to, from); err != nil || c.Objects != 2 || c.Bytes != 11 || len(c.Skipped) != 0 {
		t.Fatalf("%+v, %v; want 2 objects, 11 bytes", c, err)
	}

	if c, err := storage.CopyTo(ctx, to, from); err != nil || c.Objects != 0 {
		t.Errorf("again %+v, %v", c, err)
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

	if text, err := io.ReadAll(
		r,
	); err != nil || string(text) != "first" || info.ContentType != attrs.ContentType ||
		!maps.Equal(info.Meta, attrs.Meta) {
		t.Errorf("%q, %+v, %v", text, info, err)
	}
}

// hindered is a store of which some calls fail.
type hindered struct {
	storage.Store
	get, health error
}

func (s hindered) Get(context.Context, string, storage.Range) (io.ReadCloser, storage.Info, error) {
	return nil, storage.Info{}, s.get
}

func (s hindered) Health(context.Context) error { return s.health }

func TestCopyToStopsOnAnOutageOnly(t *testing.T) {
	t.Parallel()
	from := openDisk(t, t.TempDir())
	put(t, from, "artifacts/a.pdf", "a")
	put(t, from, "artifacts/b.pdf", "b")
	denied, away := errors.New("access denied"), errors.New("no answer")

	c, err := storage.CopyTo(t.Context(), openDisk(t, t.TempDir()), hindered{from, denied, nil})
	if err != nil || len(c.Skipped) != 2 || !errors.Is(c.Skipped[1], denied) ||
		!strings.Contains(c.Skipped[1].Error(), "artifacts/b.pdf") {
		t.Errorf("objects that cannot be read: %+v, %v", c, err)
	}

	c, err = storage.CopyTo(t.Context(), openDisk(t, t.TempDir()), hindered{from, denied, away})
	if !errors.Is(err, away) || len(c.Skipped) != 0 {
		t.Errorf("an outage: %+v, %v", c, err)
	}
}

func TestDiskListContinuesAfterAnUnreadableObject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	d := openDisk(t, dir)
	for _, key := range []string{"artifacts/a.pdf", "artifacts/b.pdf", "artifacts/c.pdf"} {
		put(t, d, key, "x")
	}
	// A header that is a folder cannot be read, not even by root.
	header := filepath.Join(dir, "artifacts/.b.pdf.json")
	if err := errors.Join(os.Remove(header), os.Mkdir(header, 0o700)); err != nil {
		t.Fatal(err)
	}

	var listed []string
	for info, err := range d.List(t.Context(), "artifacts/") {
		listed = append(listed, fmt.Sprint(info.Key, " ", err == nil))
	}

	if want := []string{
		"artifacts/a.pdf true",
		"artifacts/b.pdf false",
		"artifacts/c.pdf true",
	}; !slices.Equal(
		listed,
		want,
	) {
		t.Errorf("listed %q, want %q", listed, want)
	}

	backup := openDisk(t, t.TempDir())
	put(t, backup, "artifacts/old.pdf", "x")

	if n, err := storage.Prune(t.Context(), backup, d); n != 0 || err != nil {
		t.Errorf("pruned %d objects by a listing with gaps, %v", n, err)
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

			if err := damage(
				filepath.Join(dir, "artifacts/a.pdf"),
				filepath.Join(dir, "artifacts/.a.pdf.json"),
			); err != nil {
				t.Fatal(err)
			}

			c, err := storage.CopyTo(t.Context(), backup, live)
			if err != nil || len(c.Skipped) != 1 || !errors.Is(c.Skipped[0], storage.ErrCorrupt) {
				t.Errorf("CopyTo: %+v, %v; want the damaged object to be named", c, err)
			}

			if n, err := storage.Prune(t.Context(), backup, live); n != 0 || err != nil {
				t.Errorf("Prune deleted %d objects, %v", n, err)
			}

			if _, err := backup.Stat(t.Context(), "artifacts/a.pdf"); err != nil {
				t.Errorf("the copy in the backup: %v", err)
			}
		})
	}
}
