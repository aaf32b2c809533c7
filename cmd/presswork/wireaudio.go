package main

import (
	"context"

	"presswork/internal/guard"
	"presswork/internal/inference/audio"
	"presswork/internal/inference/sandbox"
	"presswork/tasks"
	"presswork/worker"
)

// handleRecordings wires transcriptions.
func (p *parts) handleRecordings(ctx context.Context, taker *tasks.Server, completions *worker.Completions) {
	log := p.log.With("component", "audio")
	download := guard.NewDownloader(p.outbound, guard.DownloadOptions{UserAgent: "Presswork/" + version(), MaxBytes: p.cfg.MaxAudioBytes})
	hears := worker.New(worker.Options{
		Store: p.store, Keeper: p.keeper, Themes: p.themes, Retention: p.retention,
		Models: p.models.Current, Gateway: completions.Gateway, Meter: p.meter,
		Recordings: audio.Options{Convert: p.converter(ctx), MaxDuration: p.cfg.MaxAudioDuration}, Download: download.Download,
		Metrics: p.metrics, Tracer: p.tracer, Log: log,
	})
	tasks.Handle(taker, tasks.TranscribeAudio, hears.Transcribe)
}

// converter runs ffmpeg in a sandbox; nil where one of them is missing.
func (p *parts) converter(ctx context.Context) audio.Convert {
	box, err := sandbox.Open(ctx, sandbox.Options{})
	if err == nil {
		err = audio.HasFFmpeg(ctx, box)
	}
	if err != nil {
		p.log.InfoContext(ctx, "recordings are not converted: short ones are passed on as they are, and of long ones only WAV is cut", "reason", err)
		return nil
	}
	return audio.FFmpeg(box)
}
