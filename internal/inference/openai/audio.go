package openai

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/upstream"
)

const (
	// soundBytes is the largest piece of speech that is emitted at once, in bytes.
	soundBytes = 16 << 10
	// untimedFor is how long Transcribe requests no times from an upstream that has rejected them.
	untimedFor = 10 * time.Minute
)

// Transcribe sends a recording to /audio/transcriptions or /audio/translations. If the upstream does not support
// verbose_json, Transcribe sends the recording again for the text alone. It calls progress for each piece of the
// recording that is sent, with answer false, and for each piece of the answer, with answer true. Errors are
// *inference.Error or the cause of ctx.
func (c *Client) Transcribe(
	ctx context.Context, r *inference.Transcription, progress func(answer bool),
) (*inference.Transcript, error) {
	if r.Timed && time.Now().UnixNano() >= c.untimedUntil.Load() {
		t, err := c.transcribe(ctx, r, true, progress)
		if !rejectsTimes(err) {
			return t, err
		}
		// Remember the rejection, so that later recordings are not sent twice.
		c.untimedUntil.Store(time.Now().Add(untimedFor).UnixNano())
	}

	t, err := c.transcribe(ctx, r, false, progress)
	if err == nil {
		t.Untimed = r.Timed
	}

	return t, err
}

// rejectsTimes reports whether an upstream rejected the format with times, as vLLM does.
func rejectsTimes(err error) bool {
	e, ok := errors.AsType[*inference.Error](err)
	if !ok || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	m := strings.ToLower(e.Message)

	return e.Param == "response_format" || strings.Contains(m, "verbose_json") ||
		strings.Contains(m, "response_format") || strings.Contains(m, "response format")
}

// transcribe sends a recording once. timed requests segments with times.
func (c *Client) transcribe(
	ctx context.Context, r *inference.Transcription, timed bool, progress func(answer bool),
) (*inference.Transcript, error) {
	// The recording is streamed between the two parts of the form, and not held in memory.
	var form bytes.Buffer

	w := multipart.NewWriter(&form)
	// The boundary is random, so that no recording can contain it on purpose.
	if err := w.SetBoundary("presswork" + rand.Text()); err != nil {
		return nil, err
	}

	for _, field := range c.transcriptionFields(r, timed) {
		if err := w.WriteField(field[0], field[1]); err != nil {
			return nil, err
		}
	}

	if _, err := w.CreateFormFile("file", r.Name); err != nil {
		return nil, err
	}
	// Close writes the end of the form, which follows the recording.
	head := bytes.Clone(form.Bytes())
	form.Reset()

	if err := w.Close(); err != nil {
		return nil, err
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.upstream.BaseURL+c.transcriptionPath(r.Task),
		io.MultiReader(bytes.NewReader(head), io.TeeReader(r.Open(), writeHook(func() { progress(false) })), &form))
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(len(head)) + r.Size + int64(form.Len())
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Accept", "application/json")

	resp, err := c.conn.Send(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return nil, upstream.ResponseError(resp)
	}

	b, err := io.ReadAll(
		io.TeeReader(io.LimitReader(resp.Body, upstream.MaxWhole), writeHook(func() { progress(true) })),
	)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}

		return nil, upstream.CutOff().WithCause(err)
	}

	return readTranscript(b, r.Words)
}

// writeHook is a writer that calls a function for each write.
type writeHook func()

// Write implements io.Writer.
func (p writeHook) Write(b []byte) (int, error) {
	p()
	return len(b), nil
}

// transcriptionPath returns the path for recordings at this kind of upstream. whisper-server has one path for both
// tasks, unless it was started with OpenAI's path.
func (c *Client) transcriptionPath(task string) string {
	switch {
	case c.upstream.Kind == inference.WhisperServer && strings.HasSuffix(c.upstream.BaseURL, "/v1"):
		return "/audio/transcriptions"
	case c.upstream.Kind == inference.WhisperServer:
		return "/inference"
	case task == inference.Translate:
		return "/audio/translations"
	}

	return "/audio/transcriptions"
}

// transcriptionFields returns the names and values of the fields of the form.
func (c *Client) transcriptionFields(r *inference.Transcription, timed bool) [][2]string {
	whisper := c.upstream.Kind == inference.WhisperServer
	fields := [][2]string{{"model", c.upstream.Model}}

	format := "json"
	if timed {
		format = "verbose_json"
	}
	fields = append(fields, [2]string{"response_format", format})

	language := r.Language
	if whisper && language == "" {
		language = "auto" // the default of whisper-server is English
	}

	if language != "" {
		fields = append(fields, [2]string{"language", language})
	}

	if r.Prompt != "" {
		fields = append(fields, [2]string{"prompt", r.Prompt})
	}

	if r.Temperature != nil {
		fields = append(fields, [2]string{"temperature", strconv.FormatFloat(*r.Temperature, 'g', -1, 64)})
	}

	if whisper && r.Task == inference.Translate {
		fields = append(fields, [2]string{"translate", "true"})
	}

	if timed && r.Words && !whisper {
		fields = append(
			fields,
			[2]string{"timestamp_granularities[]", "segment"},
			[2]string{"timestamp_granularities[]", "word"},
		)
	}

	return fields
}

// Speak sends a text to /audio/speech and emits the audio as it arrives. Errors are *inference.Error, the cause of ctx
// or the error of emit.
func (c *Client) Speak(ctx context.Context, r *inference.Speech, emit func(*inference.Sound) error) error {
	payload, err := json.Marshal(speechBody{
		Model: c.upstream.Model, Input: r.Input, Voice: r.Voice, ResponseFormat: r.Format, Instructions: r.Instructions,
		Speed: r.Speed, SampleRate: r.SampleRate,
	})
	if err != nil {
		return err
	}

	req, err := http.NewRequestWithContext(
		ctx,
		http.MethodPost,
		c.upstream.BaseURL+"/audio/speech",
		bytes.NewReader(payload),
	)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "*/*")

	resp, err := c.conn.Send(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return upstream.ResponseError(resp)
	}

	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if !strings.HasPrefix(mediaType, "audio/") && mediaType != "application/octet-stream" {
		return upstream.Unreadable("it sent no audio").WithCause(errors.New(mediaType))
	}

	return relayAudio(ctx, resp, mediaType, emit)
}

// relayAudio emits the audio as it arrives: its media type with the first bytes, then the bytes.
func relayAudio(
	ctx context.Context,
	resp *http.Response,
	mediaType string,
	emit func(*inference.Sound) error,
) error {
	// Each piece is copied, because emit may keep it while the buffer is reused.
	buffer := make([]byte, soundBytes)
	begun := false

	for {
		n, err := resp.Body.Read(buffer)
		if n > 0 && !begun {
			begun = true

			if err := emit(&inference.Sound{ContentType: mediaType}); err != nil {
				return err
			}
		}

		if n > 0 {
			if err := emit(&inference.Sound{Data: bytes.Clone(buffer[:n])}); err != nil {
				return err
			}
		}

		switch {
		case err == nil:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF) && begun:
			return nil
		default:
			return upstream.CutOff().WithCause(err)
		}
	}
}

// speechBody is a request for speech as it is sent to the upstream.
type speechBody struct {
	Model          string   `json:"model"`
	Input          string   `json:"input"`
	Voice          string   `json:"voice,omitempty"`
	ResponseFormat string   `json:"response_format,omitempty"`
	Instructions   string   `json:"instructions,omitempty"`
	Speed          *float64 `json:"speed,omitempty"`
	SampleRate     *int64   `json:"sample_rate,omitempty"`
}
