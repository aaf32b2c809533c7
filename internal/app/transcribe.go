package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// TranscribeOptions say which Presswork transcribes a recording, and how.
type TranscribeOptions struct {
	// Server is the address of a running Presswork.
	Server *url.URL
	// Key is the API key; it may be empty.
	Key string
	// Model is the name of a model; the default is the first one that transcribes.
	Model string
	// Language is the code of the spoken language; the model detects it by default.
	Language string
	// Prompt is the text before the recording, or shows how names are spelled.
	Prompt string
	// Format is one of TranscriptFormats.
	Format string
	// Translate asks for the text in English.
	Translate bool
	// Progress gets the progress in percent, and at the end ended. It may be nil.
	Progress func(percent int, ended bool)
}

// transcription is one recording on its way through a server.
type transcription struct {
	TranscribeOptions
	base   string // of the paths of the API
	shown  string // the address without a password, for errors
	client *http.Client
}

// Transcribe sends a recording to a running Presswork, waits for the job and returns the transcript with the job's
// warnings. The end of ctx cancels the job.
func Transcribe(
	ctx context.Context, o TranscribeOptions, file *os.File,
) (text []byte, warnings []fault.Warning, err error) {
	base := strings.TrimSuffix(strings.TrimRight(o.Server.String(), "/"), "/v1")
	t := &transcription{TranscribeOptions: o, base: base, shown: o.Server.Redacted(), client: &http.Client{}}

	model := o.Model
	if model == "" {
		if model, err = t.firstModel(ctx); err != nil {
			return nil, nil, err
		}
	}

	job, err := t.submit(ctx, model, file)
	if err != nil {
		return nil, nil, err
	}

	if job, err = t.follow(ctx, job); err != nil {
		return nil, nil, err
	}
	text, err = t.download(ctx, job.ID)

	return text, job.Warnings, err
}

func (t *transcription) show(percent int, ended bool) {
	if t.Progress != nil {
		t.Progress(percent, ended)
	}
}

// firstModel returns the first model of the server that can transcribe.
func (t *transcription) firstModel(ctx context.Context) (string, error) {
	var list struct {
		Data []struct {
			ID           string   `json:"id"`
			Capabilities []string `json:"capabilities"`
		} `json:"data"`
	}
	if err := t.ask(ctx, http.MethodGet, "/v1/models", "", nil, &list); err != nil {
		return "", err
	}

	for _, m := range list.Data {
		if slices.Contains(m.Capabilities, inference.CanTranscribe) {
			return m.ID, nil
		}
	}

	return "", fmt.Errorf("%s: no model has the capability %s; docs/inference.md says how to name one",
		t.shown, inference.CanTranscribe)
}

// submit sends the recording as a stream. The job may run as soon as the server has the whole recording. If ctx ends
// after that, submit waits up to cancelTimeout for the id of the job, so that the caller can cancel it.
func (t *transcription) submit(ctx context.Context, model string, file *os.File) (presswork.Job, error) {
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
			{"model", model}, {"response_format", t.Format}, {"language", t.Language}, {"prompt", t.Prompt},
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
	if t.Translate {
		path = "/v1/audio/translations"
	}
	var job presswork.Job

	err := t.ask(asking, http.MethodPost, path, form.FormDataContentType(), body, &job)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}

	return job, err
}

// follow waits until the job ends. It cancels the job if ctx ends first.
func (t *transcription) follow(ctx context.Context, job presswork.Job) (presswork.Job, error) {
	id := job.ID
	for !job.Status.Terminal() {
		t.show(job.Progress, false)

		tag := ""
		if job.Seq > 0 {
			tag = fmt.Sprintf(`"%s-%d"`, id, job.Seq)
		}

		now, err := t.await(ctx, id, tag)
		if ctx.Err() != nil {
			t.cancel(id)
			return job, context.Cause(ctx)
		}

		if err != nil {
			return job, err
		}
		job = now
	}
	t.show(job.Progress, true)

	switch {
	case job.Status == presswork.Completed:
		return job, nil
	case job.Error != nil:
		return job, fmt.Errorf("%s: %s", t.shown, job.Error.Message)
	}

	return job, fmt.Errorf("%s: the job was cancelled", t.shown)
}

// await returns the job after its next event. tag names the last event that the caller knows.
func (t *transcription) await(ctx context.Context, id, tag string) (job presswork.Job, err error) {
	for {
		req, err := t.request(ctx, http.MethodGet, "/api/conversion/"+id+"?wait=30s", nil)
		if err != nil {
			return job, err
		}

		if tag != "" {
			req.Header.Set("If-None-Match", tag)
		}

		res, err := t.client.Do(req)
		if err != nil {
			return job, t.unreachable(err)
		}

		if res.StatusCode != http.StatusNotModified {
			defer res.Body.Close()
			return job, t.read(res, &job)
		}
		res.Body.Close()
	}
}

// cancelTimeout bounds the cancellation of a job after an interruption, and before that the wait for its id.
const cancelTimeout = 3 * time.Second

// cancel asks the server to cancel the job.
func (t *transcription) cancel(id string) {
	ctx, stop := context.WithTimeout(context.Background(), cancelTimeout)
	defer stop()
	// A job that is not cancelled ends, and the server deletes it after its retention.
	_ = t.ask(ctx, http.MethodDelete, "/api/conversion/"+id, "", nil, nil)
}

// download returns the transcript.
func (t *transcription) download(ctx context.Context, id string) ([]byte, error) {
	req, err := t.request(ctx, http.MethodGet, "/api/artifacts/"+id+"/download", nil)
	if err != nil {
		return nil, err
	}

	res, err := t.client.Do(req)
	if err != nil {
		return nil, t.unreachable(err)
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		return nil, t.refused(res)
	}

	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, t.unreachable(err)
	}

	return text, nil
}

func (t *transcription) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, t.base+path, body)
	if err == nil && t.Key != "" {
		req.Header.Set("Authorization", "Bearer "+t.Key)
	}

	return req, err
}

// ask sends a request and decodes the answer into into, unless it is nil.
func (t *transcription) ask(ctx context.Context, method, path, contentType string, body io.Reader, into any) error {
	req, err := t.request(ctx, method, path, body)
	if err != nil {
		return err
	}

	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Prefer", "respond-async")
	}

	res, err := t.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}

		return t.unreachable(err)
	}
	defer res.Body.Close()

	return t.read(res, into)
}

// maxAnswer is the largest answer other than a transcript, in bytes.
const maxAnswer = 8 << 20

// read decodes an answer, or returns its error.
func (t *transcription) read(res *http.Response, into any) error {
	if res.StatusCode >= http.StatusBadRequest {
		return t.refused(res)
	}

	if into == nil {
		return nil
	}

	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("%s is no Presswork: its answer cannot be read", t.shown)
	}

	return nil
}

// refused returns the message of an error body as an error.
func (t *transcription) refused(res *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))

	var body struct {
		Error struct{ Message string }
	}
	if err != nil || json.Unmarshal(b, &body) != nil || body.Error.Message == "" {
		return fmt.Errorf("%s answered %d", t.shown, res.StatusCode)
	}

	return fmt.Errorf("%s: %s", t.shown, body.Error.Message)
}

func (t *transcription) unreachable(err error) error {
	return fmt.Errorf("%s does not answer: %w (`presswork serve` starts one on this machine)",
		t.shown, unwrapURL(err))
}

// unwrapURL drops the address from an error of a request, because it may hold a password.
func unwrapURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}

	return err
}
