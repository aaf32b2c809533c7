package app

import (
	"context"
	"log/slog"

	"presswork/internal/config"
	"presswork/internal/inference/audio"
	"presswork/internal/inference/sandbox"
)

// newRecordings makes the reader of recordings. It converts with ffmpeg in a sandbox, because recordings come from
// outside. Without a sandbox or ffmpeg it converts nothing.
func newRecordings(ctx context.Context, cfg config.Config, log *slog.Logger) *audio.Reader {
	options := audio.Options{MaxDuration: cfg.MaxAudioDuration}

	box, err := sandbox.Open(ctx, sandbox.Options{})
	if err == nil {
		err = audio.HasFFmpeg(ctx, box)
	}

	if err != nil {
		log.InfoContext(ctx, "recordings are not converted: short ones are sent unchanged, "+
			"and only WAV is cut", "reason", err)

		return audio.NewReader(options)
	}
	options.Convert = audio.FFmpeg(box)

	return audio.NewReader(options)
}
