package worker_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/internal/chromium/printable"
	"presswork/internal/document"
	"presswork/internal/test/redistest"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/worker"
)

func TestPreviewIsStoredUnderTheKeyThatBothSidesKnow(t *testing.T) {
	t.Parallel()

	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	catalogue := builtins()

	options, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	index := redis.NewClient(options)
	t.Cleanup(func() { index.Close() })
	w := worker.New(worker.Options{
		Store:     disk,
		Keeper:    retention.New(retention.Options{Store: disk, Redis: index}),
		Converter: document.New(document.Options{Printer: &printer{}, Themes: catalogue}),
		Picture:   func(_ context.Context, page printable.Page) ([]byte, error) { return []byte("picture"), nil },
	})
	// The API composes without a browser.
	sample, err := document.New(document.Options{Themes: catalogue}).Preview(t.Context(), "nord")
	if err != nil {
		t.Fatal(err)
	}

	for format, head := range map[string]string{"png": "picture", "pdf": "%PDF-"} {
		t.Run(format, func(t *testing.T) {
			task := tasks.Preview{Theme: "nord", Format: format, Key: storage.PreviewKey(sample.Key, format)}
			for range 2 { // the second run finds it there
				if _, err := w.Preview(t.Context(), task); err != nil {
					t.Fatal(err)
				}
			}

			body, info, err := disk.Get(t.Context(), task.Key, storage.Range{Length: int64(len(head))})
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(body)
			body.Close()

			if string(got) != head || err != nil || info.ContentType == "" {
				t.Errorf("%s: %q, %v, %+v", format, got, err, info)
			}

			if counted := index.ZScore(t.Context(), "pw:{keep}:made", task.Key); counted.Err() != nil {
				t.Errorf("%s: the keeper does not know of it: %v", format, counted.Err())
			}
		})
	}

	for i, wrong := range []tasks.Preview{
		{Theme: "dark", Format: "png", Key: storage.PreviewKey(sample.Key, "png")},
		{Theme: "nord", Format: "gif", Key: storage.PreviewKey(sample.Key, "gif")},
		{Theme: "none", Format: "png", Key: "renders/preview-x.png"},
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if _, err := w.Preview(t.Context(), wrong); err == nil {
				t.Errorf("%+v: no error", wrong)
			}
		})
	}
}
