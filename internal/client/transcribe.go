package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/audio"
)

// DefaultTranscript is the usual format of a transcript.
const DefaultTranscript = audio.Text

// TranscriptFormats returns the formats of transcripts.
func TranscriptFormats() []string { return audio.ResponseFormats() }

// TranscribeOptions say how a recording is transcribed.
type TranscribeOptions struct {
	// Model is the name of a model. Default: the first one that transcribes.
	Model string
	// Language is the ISO 639-1 code of the spoken language. Default: the model detects it.
	Language string
	// Prompt is the text before the recording, or shows how names are spelled.
	Prompt string
	// Format is one of TranscriptFormats.
	Format string
	// Translate asks for the text in English.
	Translate bool
	// Progress is called with the progress in percent; ended is true at the last call. Default: no call.
	Progress func(percent int, ended bool)
}

// Transcribe sends a recording, waits for the job and returns the transcript with the job's warnings. The end of ctx
// cancels the job. Errors: the cause of ctx, else one that names the server and its message.
func (s *Server) Transcribe(
	ctx context.Context, o TranscribeOptions, file *os.File,
) (text []byte, warnings []fault.Warning, err error) {
	if o.Model == "" {
		if o.Model, err = s.firstTranscriber(ctx); err != nil {
			return nil, nil, err
		}
	}

	if o.Progress == nil {
		o.Progress = func(int, bool) {}
	}

	job, err := s.submitRecording(ctx, o, file)
	if err != nil {
		return nil, nil, err
	}

	if job, err = s.followJob(ctx, job, o.Progress); err != nil {
		return nil, nil, err
	}
	text, err = s.download(ctx, job.ID)

	return text, job.Warnings, err
}

// firstTranscriber returns the first model of the server that can transcribe.
func (s *Server) firstTranscriber(ctx context.Context) (string, error) {
	var list struct {
		Data []struct {
			ID           string   `json:"id"`
			Capabilities []string `json:"capabilities"`
		} `json:"data"`
	}
	if err := s.get(ctx, "/v1/models", &list); err != nil {
		return "", err
	}

	for _, m := range list.Data {
		if slices.Contains(m.Capabilities, inference.CanTranscribe) {
			return m.ID, nil
		}
	}

	return "", fmt.Errorf("%s: no model has the capability %s; docs/inference.md says how to name one",
		s.shown, inference.CanTranscribe)
}

// submitRecording sends the recording as a stream. The job may run as soon as the server has the whole recording.
// If ctx ends after that, submitRecording waits up to cancelTimeout for the id of the job, so that the caller can
// cancel it.
func (s *Server) submitRecording(ctx context.Context, o TranscribeOptions, file *os.File) (presswork.Job, error) {
	// Before the end of the upload, the end of ctx stops the request at once.
	asking, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	sent := make(chan struct{})

	defer context.AfterFunc(ctx, func() {
		select {
		case <-sent:
			time.AfterFunc(cancelTimeout, stop)
		default:
			stop()
		}
	})()
	body, into := io.Pipe()
	form := multipart.NewWriter(into)

	go func() {
		fields := [][2]string{
			{"model", o.Model}, {"response_format", o.Format}, {"language", o.Language}, {"prompt", o.Prompt},
		}

		var err error
		for _, f := range fields {
			if f[1] != "" && err == nil {
				err = form.WriteField(f[0], f[1])
			}
		}

		var part io.Writer
		if err == nil {
			part, err = form.CreateFormFile("file", filepath.Base(file.Name()))
		}

		if err == nil {
			_, err = io.Copy(part, file)
		}

		if err = errors.Join(err, form.Close()); err == nil {
			close(sent)
		}
		into.CloseWithError(err)
	}()

	defer body.Close()

	path := "/v1/audio/transcriptions"
	if o.Translate {
		path = "/v1/audio/translations"
	}
	var job presswork.Job

	err := s.send(asking, http.MethodPost, path, form.FormDataContentType(), body, &job)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}

	return job, err
}

// followJob waits until the job ends. It cancels the job if ctx ends first.
func (s *Server) followJob(
	ctx context.Context, job presswork.Job, progress func(percent int, ended bool),
) (presswork.Job, error) {
	id := job.ID
	for !job.Status.Terminal() {
		progress(job.Progress, false)

		tag := ""
		// With the ETag of the known state, the server holds the answer until the job changes.
		if job.Seq > 0 {
			tag = fmt.Sprintf(`"%s-%d"`, id, job.Seq)
		}

		now, err := s.await(ctx, id, tag)
		if ctx.Err() != nil {
			s.cancelJob(id)
			return job, context.Cause(ctx)
		}

		if err != nil {
			return job, err
		}
		job = now
	}
	progress(job.Progress, true)

	switch {
	case job.Status == presswork.Completed:
		return job, nil
	case job.Error != nil:
		return job, fmt.Errorf("%s: %s", s.shown, job.Error.Message)
	}

	return job, fmt.Errorf("%s: the job was cancelled", s.shown)
}

// await returns the job after its next event. tag is the ETag of the job that the caller knows; "" for none.
func (s *Server) await(ctx context.Context, id, tag string) (job presswork.Job, err error) {
	for {
		req, err := s.request(ctx, http.MethodGet, "/api/conversion/"+id+"?wait=30s", nil)
		if err != nil {
			return job, err
		}

		if tag != "" {
			req.Header.Set("If-None-Match", tag)
		}

		res, err := s.client.Do(req)
		if err != nil {
			return job, s.unreachable(err)
		}

		if res.StatusCode != http.StatusNotModified {
			defer res.Body.Close()
			return job, s.read(res, &job)
		}
		res.Body.Close()
	}
}

// cancelTimeout bounds the cancellation of a job after an interruption, and before that the wait for its id.
const cancelTimeout = 3 * time.Second

// cancelJob asks the server to cancel the job.
func (s *Server) cancelJob(id string) {
	ctx, stop := context.WithTimeout(context.Background(), cancelTimeout)
	defer stop()
	// A job that is not cancelled ends, and the server deletes it after its retention.
	_ = s.send(ctx, http.MethodDelete, "/api/conversion/"+id, "", nil, nil)
}

// download returns the transcript.
func (s *Server) download(ctx context.Context, id string) ([]byte, error) {
	req, err := s.request(ctx, http.MethodGet, "/api/artifacts/"+id+"/download", nil)
	if err != nil {
		return nil, err
	}

	res, err := s.client.Do(req)
	if err != nil {
		return nil, s.unreachable(err)
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		return nil, s.answerError(res)
	}

	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, s.unreachable(err)
	}

	return text, nil
}
