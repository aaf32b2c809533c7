package worker_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/audio"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/meter"
	"presswork/internal/inference/openai"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/worker"
)

// audioHarness is a worker for recordings on a real queue, with a fake model server. It has no ffmpeg, and
// cuts recordings into parts of 6 seconds.
type audioHarness struct {
	*harness
	engine *inferencetest.Server
	counts *meter.Meter
}

func setupTranscriptions(t *testing.T, models ...string) *audioHarness {
	t.Helper()
	address := redistest.Start(t)
	index, disk, client := services(t, address)

	server, err := tasks.NewServer(address, tasks.Options{Queues: []tasks.Queue{tasks.Audio}})
	if err != nil {
		t.Fatal(err)
	}
	engine, base := inferencetest.Start(t)

	known := []inference.Model{{ID: "chat", Upstreams: []inference.Upstream{{BaseURL: base}}}}
	for _, name := range models {
		known = append(known, inference.Model{
			ID:           name,
			Capabilities: []string{inference.CanTranscribe},
			Audio:        inference.Audio{Part: 6 * time.Second, Parallel: 1},
			Upstreams:    []inference.Upstream{{Name: "one", BaseURL: base, Model: name}},
			Routing:      inference.Routing{Timeout: time.Minute},
		})
	}
	catalogue := inference.NewCatalogue(known)
	current := func() *inference.Catalogue { return catalogue }
	h := &audioHarness{engine: engine, counts: meter.New(index, slog.New(slog.DiscardHandler))}
	h.harness = &harness{t: t, client: client, store: &faultyStore{Store: disk}, index: index}
	w := worker.New(worker.Options{
		Store:      h.store,
		Keeper:     retention.New(retention.Options{Store: disk, Redis: index}),
		Models:     current,
		Gateway:    gateway.New(gateway.Options{Catalogue: current, Open: openai.New}),
		Meter:      h.counts,
		Recordings: audio.NewReader(audio.Options{MaxDuration: time.Minute}),
		Retention:  48 * time.Hour,
		Log:        slog.New(slog.NewTextHandler(t.Output(), nil)),
		Download: func(_ context.Context, url string, w io.Writer) error {
			switch {
			case strings.HasSuffix(url, "/talk.wav"):
				_, err := w.Write(wavRecording(2))
				return err
			case strings.HasSuffix(url, "/page"):
				_, err := io.WriteString(w, "<!doctype html>")
				return err
			case strings.HasSuffix(url, "/private"):
				return fault.Errorf(fault.AddressNotAllowed, "the address is not allowed")
			}

			return fault.Errorf(fault.NotFound, "it answered 404")
		},
	})
	tasks.Handle(server, tasks.TranscribeAudio, w.Transcribe)

	if err := errors.Join(client.Start(t.Context()), server.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
		defer cancel()

		if err := errors.Join(server.Stop(ctx), client.Stop(ctx)); err != nil {
			t.Error(err)
		}
	})

	return h
}

// wavRecording returns a WAV file of 8 kHz. It is a tone with a pause at the end of every second second.
func wavRecording(seconds int) []byte {
	const rate = 8000
	size := uint32(seconds * rate * 2)
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), 36+size)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data"...)
	b = binary.LittleEndian.AppendUint32(b, size)

	for n := range seconds * rate {
		v := int16(12000 * math.Sin(float64(n)/3))
		if n%(2*rate) > 3*rate/2 {
			v = 0
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}

	return b
}

// submit stores the recording, if it is not nil, and submits its transcription under this id.
func (h *audioHarness) submit(id string, recording []byte, payload tasks.Transcription) string {
	h.t.Helper()

	if recording != nil {
		payload.Key = storage.AssetKey(id, id, "recording")
		h.put(payload.Key, recording)
	}

	payload.Task, payload.Vendor = "transcribe", "presswork"
	if payload.Format == "" {
		payload.Format = audio.Text
	}

	task, err := tasks.TranscribeAudio.Task(payload)
	if err != nil {
		h.t.Fatal(err)
	}

	sub := tasks.Submission{ID: id, Kind: presswork.KindTranscription, Owner: "ann", Filename: "talk.txt", Task: task}
	if _, _, err := h.client.Submit(h.t.Context(), sub); err != nil {
		h.t.Fatal(err)
	}

	return id
}

func (h *audioHarness) put(key string, b []byte) {
	h.t.Helper()

	if _, err := h.store.Put(h.t.Context(), key, bytes.NewReader(b), int64(len(b)), storage.Attrs{}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *audioHarness) get(key string) []byte {
	h.t.Helper()

	r, _, err := h.store.Get(context.Background(), key, storage.Range{})
	if err != nil {
		h.t.Error(err)
		return nil
	}
	defer r.Close()

	b, err := io.ReadAll(r)
	if err != nil {
		h.t.Error(err)
	}

	return b
}

// awaitOnlyArtifacts waits until the store has no recordings and no parts.
func (h *audioHarness) awaitOnlyArtifacts() {
	h.t.Helper()
	wait.Until(h.t, "the store has only transcripts", func() bool {
		for info, err := range h.store.List(h.t.Context(), "") {
			if err != nil || !strings.HasPrefix(info.Key, storage.Artifacts) {
				return false
			}
		}

		return true
	})
}

// audioSeconds returns the recorded usage of ann in seconds.
func (h *audioHarness) audioSeconds() (n int64) {
	h.t.Helper()
	key, now := "ann", time.Now()

	rows, err := h.counts.Query(
		h.t.Context(),
		meter.Query{From: now.Add(-time.Hour), To: now, Key: &key, By: []string{"key"}},
	)
	if err != nil {
		h.t.Fatal(err)
	}

	for _, r := range rows {
		n += r.AudioSeconds
	}

	return n
}

func TestTranscriptsAreStoredAndRecordingsDeleted(t *testing.T) {
	t.Parallel()
	h := setupTranscriptions(t, "ears", "ears-untimed")

	for name, tc := range map[string]struct {
		seconds int
		payload tasks.Transcription
		text    string
		kept    time.Duration
	}{
		"one part":        {3, tasks.Transcription{Model: "ears"}, "one two three\n", 48 * time.Hour},
		"kept for a time": {2, tasks.Transcription{Model: "ears", Keep: 600}, "one two\n", 10 * time.Minute},
		"several parts":   {11, tasks.Transcription{Model: "ears", Format: audio.SRT}, "1\n00:00:00,000 --> 00:00:0", 48 * time.Hour},
		"an address":      {0, tasks.Transcription{Model: "ears", URL: "https://example.com/talk.wav"}, "one two\n", 48 * time.Hour},
		"without times":   {3, tasks.Transcription{Model: "ears-untimed", Format: audio.VTT}, "WEBVTT\n\n00:00:00.000 --> 00:00:03.000\none two three\n", 48 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			var recording []byte
			if tc.seconds > 0 {
				recording = wavRecording(tc.seconds)
			}
			before := time.Now()

			rec := h.waitForEnd(h.submit(tasks.NewID(), recording, tc.payload))
			if rec.Status != presswork.Completed {
				t.Errorf("got %s with %v, want completed", rec.Status, rec.Error)
				return
			}

			early, late := before.Add(tc.kept-time.Minute), time.Now().Add(tc.kept+time.Minute)
			if rec.Artifact.ExpiresAt.Before(early) || rec.Artifact.ExpiresAt.After(late) {
				t.Errorf("the artifact expires at %s, want %s to %s", rec.Artifact.ExpiresAt, early, late)
			}

			warned := len(rec.Warnings) == 1 && rec.Warnings[0].Code == fault.TimesMissing
			if warned != (tc.payload.Model == "ears-untimed") {
				t.Errorf("got warnings %v, want one only without times", rec.Warnings)
			}

			text := string(h.get(storage.ArtifactKeyOf(rec.ID, rec.Artifact.ContentType)))
			if !strings.HasPrefix(text, tc.text) || rec.Artifact.Filename != "talk.txt" {
				t.Errorf("got %s with %q, want talk.txt with %q", rec.Artifact.Filename, text, tc.text)
			}
		})
	}
	h.awaitOnlyArtifacts()

	if n := h.audioSeconds(); n != 3+2+11+2+3 {
		t.Errorf("got a usage of %d seconds, want %d", n, 3+2+11+2+3)
	}
}

func TestATranscriptIsKeptUntilTheStoreAcceptsIt(t *testing.T) {
	t.Parallel()
	h := setupTranscriptions(t, "ears")
	var refused atomic.Bool
	h.store.beforePut = func(key string) error {
		if strings.HasPrefix(key, storage.Artifacts) && refused.CompareAndSwap(false, true) {
			return errors.New("connection refused")
		}

		return nil
	}

	rec := h.waitForEnd(h.submit(tasks.NewID(), wavRecording(2), tasks.Transcription{Model: "ears"}))
	if rec.Status != presswork.Completed || !refused.Load() {
		t.Fatalf("got %s with %v, want completed after a failed write", rec.Status, rec.Error)
	}

	if n := len(h.engine.Recordings()); n != 1 {
		t.Errorf("the model got %d requests, want one", n)
	}
}

func TestAFailedTranscriptionReportsOneError(t *testing.T) {
	t.Parallel()

	h := setupTranscriptions(t, "ears", "ears-broken", "ears-short:4")
	for name, tc := range map[string]struct {
		recording []byte
		payload   tasks.Transcription
		code      fault.Code
		param     string
		sent      int
	}{
		"no audio":               {[]byte("#EXTM3U\nfile:///etc/passwd\n"), tasks.Transcription{Model: "ears"}, fault.InvalidOption, "file", 0},
		"too long":               {wavRecording(61), tasks.Transcription{Model: "ears"}, fault.ContentTooLarge, "file", 0},
		"no ffmpeg":              {append(wavRecording(1)[:20:20], make([]byte, 25<<20)...), tasks.Transcription{Model: "ears"}, fault.ContentTooLarge, "file", 0},
		"a chat model":           {wavRecording(1), tasks.Transcription{Model: "chat"}, fault.InvalidOption, "model", 0},
		"no such model":          {wavRecording(1), tasks.Transcription{Model: "gone"}, inference.ModelNotFound, "model", 0},
		"missing page":           {nil, tasks.Transcription{Model: "ears", URL: "https://example.com/none"}, fault.InvalidURL, "url", 0},
		"an HTML page":           {nil, tasks.Transcription{Model: "ears", URL: "https://example.com/page"}, fault.InvalidOption, "url", 0},
		"a private address":      {nil, tasks.Transcription{Model: "ears", URL: "https://example.com/private"}, fault.AddressNotAllowed, "url", 0},
		"rejected by the engine": {wavRecording(5), tasks.Transcription{Model: "ears-short:4"}, fault.InvalidRequest, "", 1},
		// A second answer is probably unreadable as well, so the worker makes only one more request.
		"an unreadable answer": {wavRecording(1), tasks.Transcription{Model: "ears-broken"}, inference.UpstreamError, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(h.engine.Recordings())

			rec := h.waitForEnd(h.submit(tasks.NewID(), tc.recording, tc.payload))
			if rec.Status != presswork.Failed || rec.Error.Code != tc.code || rec.Error.Param != tc.param {
				t.Errorf("got %s with %+v, want %s of %s", rec.Status, rec.Error, tc.code, tc.param)
			}

			if sent := len(h.engine.Recordings()) - before; sent != tc.sent {
				t.Errorf("%d recordings were sent, want %d", sent, tc.sent)
			}

			if rec.Attempts > 1 {
				t.Errorf("got %d attempts, want at most one", rec.Attempts)
			}
		})
	}
}

func TestACancelledTranscriptionLeavesTheEngine(t *testing.T) {
	t.Parallel()
	h := setupTranscriptions(t, "ears-hang")
	id := h.submit(tasks.NewID(), wavRecording(1), tasks.Transcription{Model: "ears-hang"})

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	if err := h.engine.WaitRecordings(ctx, 1); err != nil {
		t.Fatal(err)
	}

	if _, err := h.client.Cancel(ctx, id); err != nil {
		t.Fatal(err)
	}

	if err := h.engine.WaitDisconnected(ctx, 1); err != nil {
		t.Fatalf("the engine still has the request: %v", err)
	}

	if rec := h.waitForEnd(id); rec.Status != presswork.Cancelled {
		t.Errorf("got %s with %v, want cancelled", rec.Status, rec.Error)
	}

	_, err := h.store.Stat(t.Context(), storage.ArtifactKeyOf(id, "text/plain"))
	if !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Stat of the transcript: got %v, want %v", err, storage.ErrNotFound)
	}
}
