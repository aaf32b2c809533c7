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

// The worker dies after it has stored three parts. Part 0 then gets another text, to show that it is kept. Part 1 gets
// another end, as if the recording had been cut elsewhere, so it must be transcribed again.
func TestTranscribedPartsOfADeadWorkerAreKept(t *testing.T) {
	t.Parallel()
	h := setupTranscriptions(t, "ears")
	id := tasks.NewID()
	// changePart changes a stored part.
	changePart := func(n int, f func(*audio.Piece)) {
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
		changePart(0, func(p *audio.Piece) { p.Text = "text of the dead worker" })
		changePart(1, func(p *audio.Piece) { p.Text, p.End = "of another cut", p.End-1 })
		panic("the worker dies")
	}

	rec := h.waitForEnd(h.submit(id, wavRecording(16), tasks.Transcription{Model: "ears"}))
	if rec.Status != presswork.Completed || rec.Attempts != 2 {
		t.Fatalf("got %s after %d attempts with %v, want completed after 2", rec.Status, rec.Attempts, rec.Error)
	}

	text := string(h.get(storage.ArtifactKeyOf(id, "text/plain")))
	if !strings.HasPrefix(text, "text of the dead worker one two") || strings.Contains(text, "of another cut") {
		t.Errorf("got transcript %q, want part 0 of the dead worker and a new part 1", text)
	}

	if sent := len(h.engine.Recordings()); sent != 4 {
		t.Errorf("%d parts were sent, want 4: three, and one again", sent)
	}
	h.awaitOnlyArtifacts()
}

// slowLedger is a hook that delays the records of usage on their way to Redis.
type slowLedger struct{}

func (slowLedger) DialHook(next redis.DialHook) redis.DialHook { return next }

func (slowLedger) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook delays the commands that record usage. Their keys contain ":job:".
func (slowLedger) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.Contains(cmd.String(), ":job:") {
			time.Sleep(100 * time.Millisecond)
		}

		return next(ctx, cmd)
	}
}

// A run may die after it has stored its transcript, so the next run must not record the usage again. It cannot ask the
// ledger, which may have forgotten the job by then.
func TestTranscriptOfADeadWorkerIsCountedOnce(t *testing.T) {
	t.Parallel()
	h := setupTranscriptions(t, "ears")
	h.index.AddHook(slowLedger{})
	var stored atomic.Int64
	h.store.beforePut = func(key string) error {
		if strings.HasPrefix(key, storage.Artifacts) {
			stored.Store(h.audioSeconds())
		}

		return nil
	}
	recording := wavRecording(3)
	first := h.waitForEnd(h.submit(tasks.NewID(), recording, tasks.Transcription{Model: "ears"}))

	if n := stored.Load(); n != 3 {
		t.Errorf("got a usage of %d seconds when the transcript was stored, want 3", n)
	}

	text, info, err := h.store.Get(t.Context(), storage.ArtifactKeyOf(first.ID, "text/plain"), storage.Range{})
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()

	id := tasks.NewID()

	_, err = h.store.Put(t.Context(), storage.ArtifactKeyOf(id, "text/plain"), text, info.Size, info.Attrs)
	if err != nil {
		t.Fatal(err)
	}

	rec := h.waitForEnd(h.submit(id, recording, tasks.Transcription{Model: "ears"}))
	if rec.Status != presswork.Completed {
		t.Fatalf("got %s with %v, want completed", rec.Status, rec.Error)
	}

	if sent, n := len(h.engine.Recordings()), h.audioSeconds(); sent != 1 || n != 3 {
		t.Errorf("got %d sent recordings and a usage of %d seconds, want 1 and 3", sent, n)
	}
}
