package storage_test

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"presswork/storage"
)

func TestCopyToBringsWhatIsMissing(t *testing.T) {
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
		if _, err := from.Put(ctx, key, strings.NewReader(text), -1, attrs); err != nil {
			t.Fatal(err)
		}
	}
	if objects, bytes, err := storage.CopyTo(ctx, to, from); err != nil || objects != 2 || bytes != 11 {
		t.Fatalf("%d objects, %d bytes, %v; want 2, 11", objects, bytes, err)
	}
	if objects, _, err := storage.CopyTo(ctx, to, from); err != nil || objects != 0 {
		t.Errorf("again %d objects, %v", objects, err)
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
	if text, err := io.ReadAll(r); err != nil || string(text) != "first" || info.ContentType != attrs.ContentType || !maps.Equal(info.Meta, attrs.Meta) {
		t.Errorf("%q, %+v, %v", text, info, err)
	}
}
