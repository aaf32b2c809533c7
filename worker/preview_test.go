package worker_test

import (
	"context"
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

func TestAPreviewIsStoredUnderTheKeyOfItsTask(t *testing.T) {
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
		Converter: document.New(document.Options{Printer: &fakePrinter{}, Themes: catalogue}),
		Picture:   func(_ context.Context, page printable.Page) ([]byte, error) { return []byte("picture"), nil },
	})
	// The API computes the key without a browser.
	sample, err := document.New(document.Options{Themes: catalogue}).Preview(t.Context(), "nord")
	if err != nil {
		t.Fatal(err)
	}

	for format, head := range map[string]string{"png": "picture", "pdf": "%PDF-"} {
		t.Run(format, func(t *testing.T) {
			task := tasks.Preview{Theme: "nord", Format: format, Key: storage.PreviewKey(sample.Key, format)}
			for range 2 { // the second run finds the stored preview
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
				t.Errorf("got %q, %v, %+v; want %q and a type", got, err, info, head)
			}

			if counted := index.ZScore(t.Context(), "pw:{keep}:made", task.Key); counted.Err() != nil {
				t.Errorf("the keeper does not count the preview: %v", counted.Err())
			}
		})
	}

	for name, wrong := range map[string]tasks.Preview{
		"another theme":  {Theme: "dark", Format: "png", Key: storage.PreviewKey(sample.Key, "png")},
		"unknown format": {Theme: "nord", Format: "gif", Key: storage.PreviewKey(sample.Key, "gif")},
		"unknown theme":  {Theme: "none", Format: "png", Key: "renders/preview-x.png"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := w.Preview(t.Context(), wrong); err == nil {
				t.Errorf("Preview(%+v) returned no error", wrong)
			}
		})
	}
}
