package objects_test

import (
	"io"
	"log/slog"
	"strings"
	"testing"

	"presswork/api/objects"
	"presswork/api/upload"
	"presswork/storage"
	"presswork/tasks"
)

func TestOnlyLongContentIsStoredAndCanBeRemoved(t *testing.T) {
	t.Parallel()

	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	o := objects.Objects{Store: disk, Log: slog.New(slog.DiscardHandler)}

	for name, row := range map[string]struct {
		content string
		stored  int
	}{
		"short": {"# A", 0},
		"long":  {strings.Repeat("a", tasks.InlineLimit+1), 1},
	} {
		t.Run(name, func(t *testing.T) {
			id := tasks.NewID()

			payload, keys, err := o.PutSources(upload.Conversion{Content: row.content}, id, id, "nord")
			if err != nil || len(keys) != row.stored {
				t.Fatalf("got the keys %q, %v; want %d", keys, err, row.stored)
			}

			if row.stored == 0 {
				if payload.Content != row.content {
					t.Errorf("got the content %q in the payload, want %q", payload.Content, row.content)
				}

				return
			}

			r, err := o.Open(payload.ContentKey, storage.Range{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()

			if b, err := io.ReadAll(r); err != nil || string(b) != row.content || payload.Content != "" {
				t.Errorf(
					"got %d bytes, %v; want the %d bytes of the content in the store",
					len(b),
					err,
					len(row.content),
				)
			}
			o.RemoveSources(keys, nil)

			if _, err := disk.Stat(t.Context(), payload.ContentKey); err == nil {
				t.Error("the store has the content after its removal")
			}
		})
	}
}
