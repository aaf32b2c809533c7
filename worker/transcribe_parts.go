package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"presswork"
	"presswork/internal/inference"
	"presswork/internal/inference/audio"
	"presswork/storage"
)

// transcribeParts transcribes the parts, as many at a time as the model allows. The first failed part ends the others.
// Parts that were finished before are stored, so the next run of the job sends only the rest.
func (h *transcription) transcribeParts(ctx context.Context, parts []audio.Part) error {
	// Report in the background, so that the first part is sent at once.
	reported := make(chan error, 1)
	go func() { reported <- h.run.Progress(ctx, presswork.StageTranscribing, sendingFrom, h.message(0)) }()
	// A failed part ends the context of the group, which the report above must not use.
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, h.model.Audio.Parallel))

	for n := range parts {
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error {
			piece, err := h.transcribePart(groupCtx, n, parts[n])
			if err != nil {
				return err
			}
			h.mu.Lock()
			h.pieces[n] = piece
			done := 0

			for _, p := range h.pieces {
				if p != nil {
					done++
				}
			}
			h.mu.Unlock()

			if done == len(parts) {
				return nil // the next step reports that it stores the transcript
			}

			return h.run.Progress(groupCtx, presswork.StageTranscribing,
				sendingFrom+done*(sendingTo-sendingFrom)/len(parts), h.message(done))
		})
	}

	return errors.Join(group.Wait(), <-reported)
}

// transcribePart returns the transcript of one part, from an earlier run or from the model.
func (h *transcription) transcribePart(ctx context.Context, n int, part audio.Part) (*audio.Piece, error) {
	piece := &audio.Piece{Start: part.Start, End: part.End}
	key := storage.TranscriptKey(h.run.ID, n)

	several := len(h.pieces) > 1
	if several && h.readStoredPart(ctx, key, piece) {
		return piece, nil
	}
	request := &inference.Transcription{
		Model:       h.task.Model,
		Owner:       h.run.Record.Owner,
		Task:        h.task.Task,
		Language:    h.task.Language,
		Prompt:      h.prompt(n),
		Temperature: h.task.Temperature,
		Timed:       audio.Timed(h.task.Format),
		Words:       h.task.Words,
		Name:        part.Name,
		Size:        part.Size,
		Open:        part.Open,
		Duration:    time.Duration((part.End - part.Start) * float64(time.Second)),
	}
	// A client that waits for the response (Keep is set) retries a recording of a single part itself. Several parts are
	// worth more tries: a failed one would discard the answers to the others.
	tries := 1
	if several || h.task.Keep == 0 {
		tries = partTries
	}

	for try := 1; ; try++ {
		transcript, err := h.Gateway.Transcribe(ctx, request)
		if err == nil {
			piece.Transcript = *transcript
			break
		}

		failed := inference.AsError(err)
		if ctx.Err() != nil || !failed.Retryable || try == tries {
			return nil, err
		}
		// 2 s after the first try, then twice as long each time, unless the model asks for more.
		wait := min(max(failed.RetryAfter, time.Second<<try), maxPartWait)
		h.Log.WarnContext(ctx, "a part of a recording failed and will be sent again", "job_id", h.run.ID, "part", n,
			"delay", wait.String(), "error", err)

		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}

	if several {
		h.keepPart(ctx, key, piece)
	}

	return piece, nil
}

// prompt returns the prompt of part n: the caller's prompt, and the end of the text before the part when
// that is known. With that text the model keeps the spelling of names. It is unknown while parts are sent
// at the same time.
func (h *transcription) prompt(n int) string {
	if n == 0 {
		return h.task.Prompt
	}
	h.mu.Lock()
	defer h.mu.Unlock()

	if h.pieces[n-1] == nil {
		return h.task.Prompt
	}

	return audio.Prompt(h.task.Prompt, h.pieces[n-1].Text)
}

// readStoredPart reads the transcript that an earlier run stored for the same part, and reports whether there is
// one. It ignores a part with other limits: a worker of another release may cut the recording elsewhere.
func (h *transcription) readStoredPart(ctx context.Context, key string, piece *audio.Piece) bool {
	b, err := h.read(ctx, key)

	var stored audio.Piece
	if err != nil || json.Unmarshal(b, &stored) != nil || stored.Start != piece.Start || stored.End != piece.End {
		return false
	}
	*piece = stored

	return true
}

// keepPart stores a part's transcript for a later run. The job does not depend on it, so an error is only
// logged.
func (h *transcription) keepPart(ctx context.Context, key string, piece *audio.Piece) {
	b, err := json.Marshal(piece)
	if err == nil {
		err = h.Keeper.Record(ctx, key, int64(len(b)))
	}

	if err == nil {
		_, err = h.Store.Put(ctx, key, bytes.NewReader(b), int64(len(b)),
			storage.Attrs{ContentType: "application/json"})
	}

	if err != nil && !errors.Is(err, storage.ErrExists) {
		h.Log.WarnContext(ctx, "a part of a transcript was not stored; a later run would send it again",
			"job_id", h.run.ID, "error", err)
	}
}
