package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/audio"
	"presswork/internal/inference/meter"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
)

const (
	// partTries is how often a part is sent when its upstreams fail, unless a client waits that retries by itself.
	partTries = 4
	// maxPartWait bounds the wait before the next try of a part.
	maxPartWait = time.Minute
	// sendingFrom and sendingTo are the job's progress in percent at the start and the end of sending parts.
	sendingFrom, sendingTo = 10, 90
)

// Transcribe handles tasks.TranscribeAudio. It stores the transcript of a recording. The finished parts of
// a long recording survive the worker. Errors: those of audio.Reader.Read and
// gateway.Gateway.Transcribe, InvalidURL and AddressNotAllowed for a recording that cannot be fetched,
// StoreUnavailable, StoreFull and QueueUnavailable.
func (w *Worker) Transcribe(ctx context.Context, run *tasks.Run, task tasks.Transcription) error {
	return w.attempt(ctx, run, func(ctx context.Context) (cached bool, err error) {
		return false, w.transcribe(ctx, run, task)
	})
}

// transcription is one run of a transcription.
type transcription struct {
	*Worker
	run  *tasks.Run
	task tasks.Transcription
	// model is set once the model was found.
	model *inference.Model
	// mu guards pieces while parts are transcribed.
	mu sync.Mutex
	// pieces are the transcripts by part; nil for a part without one.
	pieces []*audio.Piece
}

// transcribe stores the transcript, unless an earlier run has, and completes the job.
func (w *Worker) transcribe(ctx context.Context, run *tasks.Run, task tasks.Transcription) error {
	key := storage.ArtifactKeyOf(run.ID, audio.ContentType(task.Format))

	info, err := w.Store.Stat(ctx, key)
	if errors.Is(err, storage.ErrNotFound) {
		h := &transcription{Worker: w, run: run, task: task}
		info, err = h.store(ctx, key)
	}

	if err != nil {
		return storeError(err)
	}
	// Both writes to Redis may wait for an outage, so make them at the same time.
	var counting sync.WaitGroup

	counting.Go(func() { w.countResult(ctx, info, task.Keep) })
	defer counting.Wait()
	artifact := artifactOf(run, info)
	artifact.Filename = run.Record.Filename

	artifact.ExpiresAt = w.expiry(task.Keep)
	if err := run.Complete(ctx, artifact, false); err != nil {
		return err
	}
	w.deleteRecording(ctx, run.ID, task.Key)

	return nil
}

// store transcribes the recording and stores the text. It returns the object of another run if that was faster.
// Errors: those of Transcribe.
func (h *transcription) store(ctx context.Context, key string) (storage.Info, error) {
	transcript, transcribeErr := h.transcribeAll(ctx)
	// Record the usage even if the recording or the transcript fails.
	var recording sync.WaitGroup

	recording.Go(func() { h.record(ctx, transcript.Duration, transcribeErr) })
	defer recording.Wait()

	if transcribeErr != nil {
		return storage.Info{}, transcribeErr
	}

	if transcript.Untimed {
		err := h.run.Warn(fault.Warning{
			Code: fault.TimesMissing, Message: "the model returns no times; the transcript has one time per part",
		})
		if err != nil {
			return storage.Info{}, err
		}
	}

	text, err := audio.Render(transcript, audio.Form{
		Format:    h.task.Format,
		Task:      h.task.Task,
		Segments:  h.task.Segments,
		Words:     h.task.Words,
		Vendor:    h.task.Vendor,
		RequestID: h.run.Record.RequestID,
	})
	if err != nil {
		return storage.Info{}, err
	}

	attrs := storage.Attrs{ContentType: audio.ContentType(h.task.Format)}
	if h.task.Keep > 0 {
		attrs.Meta = map[string]string{retention.MetaUntil: h.expiry(h.task.Keep).Format(time.RFC3339)}
	}
	// Record the usage before the transcript is stored: a later run assumes that the usage of a stored
	// transcript is in the ledger.
	recording.Wait()

	info, err := h.put(ctx, h.run, key, text, attrs)
	if errors.Is(err, storage.ErrExists) {
		return h.Store.Stat(ctx, key)
	}

	return info, err
}

// withField makes an error about the recording name the request field that the caller used: "file" or "url".
func (h *transcription) withField(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Param == "file" && h.task.URL != "" {
		return e.WithParam("url")
	}

	return err
}

// transcribeAll returns the transcript of the whole recording. With an error, its Duration is that of the
// transcribed parts.
func (h *transcription) transcribeAll(ctx context.Context) (whole inference.Transcript, err error) {
	ctx, endStage := h.stage(ctx, presswork.StageTranscribing)
	defer endStage()

	if h.model, err = h.Models().Require(h.task.Model, inference.CanTranscribe); err != nil {
		return whole, err
	}

	source, err := h.fetch(ctx)
	if err != nil {
		return whole, err
	}
	defer source.Close()

	// Any upstream of the model may answer. So if one of them is a whisper-server, which has no decoder, all get WAV.
	recording, err := h.Recordings.Read(ctx, source, source.size, audio.Wanted{
		Part: h.model.Audio.Part,
		Plain: slices.ContainsFunc(h.model.Upstreams, func(u inference.Upstream) bool {
			return u.Kind == inference.WhisperServer
		}),
	})
	if err != nil {
		return whole, h.withField(err)
	}
	defer recording.Close()
	h.pieces = make([]*audio.Piece, len(recording.Parts))
	err = h.transcribeParts(ctx, recording.Parts)
	var done []audio.Piece

	for _, p := range h.pieces {
		if p != nil {
			done = append(done, *p)
			whole.Duration += p.End - p.Start
		}
	}

	if err != nil {
		return whole, err
	}

	whole = audio.Join(done, audio.Timed(h.task.Format))
	if recording.Duration > 0 {
		whole.Duration = math.Round(recording.Duration*1000) / 1000
	} else {
		whole.Duration = done[0].Duration
	}

	return whole, nil
}

// message returns the message of a job after done parts.
func (h *transcription) message(done int) string {
	if len(h.pieces) == 1 {
		return "transcribing"
	}

	return fmt.Sprintf("transcribing: %d of %d parts are done", done, len(h.pieces))
}

// record writes the usage to the ledger, unless the job will run again. seconds is the length of the transcribed audio,
// err the error of the run.
func (h *transcription) record(ctx context.Context, seconds float64, err error) {
	u := meter.Usage{Key: h.run.Record.Owner, Model: h.task.Model, Requests: 1, AudioSeconds: int64(math.Ceil(seconds))}

	// The queue runs the job again after these errors, and the last run records the use.
	retried := []fault.Code{fault.Internal, fault.StoreUnavailable, fault.StoreFull, fault.QueueUnavailable}

	switch cause := context.Cause(ctx); {
	case errors.Is(cause, tasks.ErrCancelled):
		u.Cancelled = 1
	case cause != nil:
		return
	case err != nil && slices.Contains(retried, fault.CodeOf(err)):
		return
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()

	err = retry(ctx, func() error {
		return h.Meter.Record(ctx, "job:"+h.run.ID, h.run.Record.CreatedAt, u)
	})
	if err != nil {
		h.Log.ErrorContext(ctx, "the use of a transcription was not recorded", "job_id", h.run.ID, "key", u.Key,
			"model", u.Model, "audio_seconds", u.AudioSeconds, "error", err)
	}
}

// deleteRecording deletes the recording of a completed job, and the transcripts of its parts. It counts upwards until a
// part is missing, because the task does not say how many there were. The sweeper deletes parts after a gap.
func (w *Worker) deleteRecording(ctx context.Context, jobID, source string) {
	keys := []string{}
	if source != "" {
		keys = append(keys, source)
	}

	for n := 0; ; n++ {
		key := storage.TranscriptKey(jobID, n)
		if _, err := w.Store.Stat(ctx, key); err != nil {
			break
		}
		keys = append(keys, key)
	}
	w.deleteKeys(ctx, jobID, keys)
}
