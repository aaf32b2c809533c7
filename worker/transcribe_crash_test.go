package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/inference/audio"
	"presswork/storage"
	"presswork/tasks"
)

// TestTranscribedPartsOfADeadWorkerAreKept ends a run that has heard everything, with a part
// of another text, and one that was cut elsewhere.
func TestTranscribedPartsOfADeadWorkerAreKept(t *testing.T) {
	t.Parallel()
	h := setupHearing(t, "ears")
	id := tasks.NewID()
	change := func(n int, f func(*audio.Piece)) {
		key := storage.TranscriptKey(id, n)

		var p audio.Piece
		if err := json.Unmarshal(h.get(key), &p); err != nil {
			t.Error(err)
		}
		f(&p)

		b, err := json.Marshal(p)
		if err = errors.Join(err, h.store.Delete(context.Background(), key)); err != nil {
			t.Error(err)
		}
		h.put(key, b)
	}
	var died atomic.Bool
	h.store.beforePut = func(key string) error {
		if !strings.HasPrefix(key, storage.Artifacts) || !died.CompareAndSwap(false, true) {
			return nil
		}
		change(0, func(p *audio.Piece) { p.Text = "as the dead one heard it" })
		change(1, func(p *audio.Piece) { p.Text, p.End = "of another cut", p.End-1 })
		panic("the worker dies")
	}

	rec := h.ended(h.submit(id, talk8k(16), tasks.Transcription{Model: "ears"}))
	if rec.Status != presswork.Completed || rec.Attempts != 2 {
		t.Fatalf("%s after %d attempts: %v", rec.Status, rec.Attempts, rec.Error)
	}

	if text := string(
		h.get(storage.ArtifactKeyOf(id, "text/plain")),
	); !strings.HasPrefix(text, "as the dead one heard it one two") ||
		strings.Contains(text, "of another cut") {
		t.Errorf("%q", text)
	}

	if sent := len(h.engine.Recordings()); sent != 4 {
		t.Errorf("%d parts were sent, want 3 and one again", sent)
	}
	h.awaitOnlyArtifacts()
}

// lateLedger is a hook that has the use of jobs come late to Redis.
type lateLedger struct{}

func (lateLedger) DialHook(next redis.DialHook) redis.DialHook { return next }

func (lateLedger) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (lateLedger) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.Contains(cmd.String(), ":job:") {
			time.Sleep(100 * time.Millisecond)
		}

		return next(ctx, cmd)
	}
}

// A run may die after it has stored its transcript. The next run may start after the ledger has forgotten which
// usage it recorded. It must not count the usage again and must not rely on the ledger.
func TestTranscriptOfADeadWorkerIsCountedOnce(t *testing.T) {
	t.Parallel()
	h := setupHearing(t, "ears")
	h.index.AddHook(lateLedger{})
	var stored atomic.Int64
	h.store.beforePut = func(key string) error {
		if strings.HasPrefix(key, storage.Artifacts) {
			stored.Store(h.seconds())
		}

		return nil
	}
	recording := talk8k(3)
	first := h.ended(h.submit(tasks.NewID(), recording, tasks.Transcription{Model: "ears"}))

	if n := stored.Load(); n != 3 {
		t.Errorf("%d seconds were in the ledger when the transcript was stored", n)
	}

	text, info, err := h.store.Get(t.Context(), storage.ArtifactKeyOf(first.ID, "text/plain"), storage.Range{})
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()

	id := tasks.NewID()
	if _, err := h.store.Put(
		t.Context(),
		storage.ArtifactKeyOf(id, "text/plain"),
		text,
		info.Size,
		info.Attrs,
	); err != nil {
		t.Fatal(err)
	}

	if rec := h.ended(h.submit(id, recording, tasks.Transcription{Model: "ears"})); rec.Status != presswork.Completed {
		t.Fatalf("%s %v", rec.Status, rec.Error)
	}

	if sent, n := len(h.engine.Recordings()), h.seconds(); sent != 1 || n != 3 {
		t.Errorf("%d recordings were sent, and %d seconds are in the ledger", sent, n)
	}
}
