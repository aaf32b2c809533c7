package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/markdown/diagram"
	"presswork/internal/test/redistest"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/worker"
)

func TestDiagramsAreStoredForWhoWaits(t *testing.T) {
	t.Parallel()

	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	options, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	index := redis.NewClient(options)
	t.Cleanup(func() { index.Close() })
	w := worker.New(worker.Options{
		Store:  disk,
		Keeper: retention.New(retention.Options{Store: disk, Redis: index}),
		Diagrams: diagram.New(
			diagram.Options{Script: func(context.Context, string, ...string) ([]json.RawMessage, error) {
				return []json.RawMessage{
					json.RawMessage(
						`{"width":9,"height":9,"svg":"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\"><text>a</text></svg>"}`,
					),
				}, nil
			}},
		),
	})

	task := tasks.Drawing{
		Sources: []string{"a"}, Style: tasks.DrawingStyle{Accents: []string{"#4a2fd8"}},
		Key: storage.DrawingKey("waited-for"), Until: time.Now().Add(time.Hour),
	}
	for range 2 { // the second run finds it there
		if err := w.Draw(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}

	body, _, err := disk.Get(t.Context(), task.Key, storage.Range{})
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()

	var pictures []diagram.Picture
	if err := json.NewDecoder(body).Decode(&pictures); err != nil || len(pictures) != 1 || pictures[0].SVG == "" {
		t.Errorf("%+v, %v", pictures, err)
	}

	if counted := index.ZScore(t.Context(), "pw:{keep}:sources", task.Key); counted.Err() != nil {
		t.Errorf("the keeper does not know of it: %v", counted.Err())
	}

	task.Key, task.Until = storage.DrawingKey("too-late"), time.Now().Add(-time.Second)
	if err := w.Draw(t.Context(), task); err != nil {
		t.Fatal(err)
	}

	if _, err := disk.Stat(t.Context(), task.Key); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("drawn although nobody waits: %v", err)
	}
}
