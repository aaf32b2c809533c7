package api

import (
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/openai"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/audio"
	"presswork/internal/input"
	"presswork/storage"
	"presswork/tasks"
)

// transcriptionWait bounds the wait of a caller for a transcript, with that for a
// worker.
const transcriptionWait = time.Hour

// transcriptionRequest is a checked request for a transcript.
type transcriptionRequest struct {
	payload   tasks.Transcription // with an address where the recording has not arrived
	recording *recording
	filename  string
}

// transcribe answers POST /v1/audio/transcriptions and /v1/audio/translations: it
// submits a job and, unless the caller would rather not, waits for it.
func (s *Server) transcribe(task string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		began := time.Now()

		sub, err := newTranscription(c)
		if err != nil {
			return err
		}
		prefer := preferencesOf(c)

		source := &recording{
			server:  s,
			sub:     &sub,
			held:    &metadataOf(c.Context()).held,
			passing: !prefer.later() && sub.IdempotencyKey == "",
			limit:   s.MaxAudioBytes,
		}
		defer source.close()

		r, err := s.readTranscription(c, source, task)
		if err != nil {
			return err
		}

		if !prefer.later() {
			r.payload.Keep = int64(deliveredKeep / time.Second)
		}

		rec, replayed, err := s.submitTranscription(r)
		if err != nil {
			return err
		}

		if prefer.wait > 0 {
			return s.answerInTime(
				c,
				rec,
				replayed,
				prefer.wait,
				func(ended tasks.Record) error { return s.answerTranscript(c, ended, true) },
			)
		}

		if prefer.later() {
			if prefer.async {
				c.Set("Preference-Applied", "respond-async")
			}

			return s.answerAccepted(c, rec, replayed)
		}

		if replayed {
			c.Set("Idempotent-Replayed", "true")
		}

		return s.awaitTranscript(c, rec, began)
	}
}

// newTranscription begins a submission, with what the head of the request says.
func newTranscription(c *fiber.Ctx) (tasks.Submission, error) {
	meta := metadataOf(c.Context())
	key, err := idempotencyKey(c)

	return tasks.Submission{
		ID:             tasks.NewID(),
		Kind:           presswork.KindTranscription,
		Owner:          meta.who.Name,
		RequestID:      meta.id,
		TraceParent:    meta.trace,
		IdempotencyKey: key,
		Task:           tasks.Task{Queue: tasks.TranscribeAudio.Queue},
	}, err
}

// readTranscription reads a form with a recording, which source receives, and refuses what cannot succeed.
func (s *Server) readTranscription(c *fiber.Ctx, source *recording, task string) (r transcriptionRequest, err error) {
	media, params, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || media != fiber.MIMEMultipartForm {
		return r, fault.Errorf(fault.UnsupportedMediaType, "Content-Type is %s; allowed: multipart/form-data",
			input.Quote(c.Get(fiber.HeaderContentType)))
	}

	if params["boundary"] == "" {
		return r, errNoBoundary
	}
	// base64 in a data: URI makes a recording a third longer.
	b, err := s.body(c, s.MaxAudioBytes/3*4+upload.FormOverhead, "the form with the recording")
	if err != nil {
		return r, err
	}

	form, err := openai.ReadTranscription(b, params["boundary"], source.held, source)
	if err != nil {
		return r, err
	}

	r = transcriptionRequest{recording: source}
	if r.payload, err = s.v1.Transcription(form, metadataOf(c.Context()).who, task); err != nil {
		return r, err
	}

	r.filename = transcriptName(form.Filename, r.payload.Format)
	if source.arrived {
		return r, nil
	}

	u, err := s.Recordings.CheckURL(form.URL)
	if err != nil {
		return r, fault.AsError(err).WithParam("url")
	}
	r.payload.URL = u.String()

	return r, nil
}

// transcriptName is the file name of a transcript: the recording's, with another
// extension.
func transcriptName(recording, format string) string {
	name := strings.TrimSuffix(upload.CleanFilename(strings.TrimSuffix(recording, path.Ext(recording))), ".pdf")
	if name == "" {
		name = "transcript"
	}

	return name + path.Ext(storage.ArtifactKeyOf("x", audio.ContentType(format)))
}

// submitTranscription submits the job; its recording is stored by then.
func (s *Server) submitTranscription(r transcriptionRequest) (rec tasks.Record, replayed bool, err error) {
	sub := r.recording.sub
	request := sub.ID

	sub.Filename, sub.ContentType = r.filename, audio.ContentType(r.payload.Format)
	if sub.IdempotencyKey != "" {
		digest := ""
		if r.recording.aside != nil {
			digest = r.recording.aside.SHA256
		}
		same := r.payload
		setFingerprint(sub, []any{&same, digest}, &same.Keep)
	}
	// A recording in the store has its job reserved.
	if r.recording.key == "" {
		if rec, replayed, err = s.reserveJob(sub); err != nil || replayed {
			return rec, replayed, err
		}
	}

	return s.acceptTranscription(r, request)
}

// acceptTranscription does what accept does for a conversion.
func (s *Server) acceptTranscription(
	r transcriptionRequest,
	request string,
) (rec tasks.Record, replayed bool, err error) {
	source := r.recording
	if err := source.storeAside(request); err != nil {
		return rec, false, err
	}

	r.payload.Key = source.key
	if source.sub.Task, err = tasks.TranscribeAudio.Task(r.payload); err != nil {
		return rec, false, err
	}
	var counting sync.WaitGroup

	counting.Go(source.count)
	defer counting.Wait()

	ctx, cancel := s.deadline()
	defer cancel()
	rec, replayed, err = s.Queue.Submit(ctx, *source.sub)
	// After an error the job may exist: then it has its recording, else the sweeper
	// takes that.
	source.submitted = !replayed

	return rec, replayed, err
}

// awaitTranscript answers with the transcript. A caller who leaves takes the job
// along, unless it can come back by its idempotency key.
func (s *Server) awaitTranscript(c *fiber.Ctx, rec tasks.Record, began time.Time) error {
	c.Set("x-job-id", rec.ID)
	wait := transcriptionWait

	late := inference.Errorf(http.StatusGatewayTimeout, inference.UpstreamTimeout,
		"the recording was not transcribed within %s; with \"Prefer: respond-async\" nobody has to wait", wait)
	if own := clientTimeout(c); own > 0 && own < wait {
		wait = time.Until(began.Add(own))
		late = inference.Errorf(
			http.StatusGatewayTimeout,
			inference.UpstreamTimeout,
			"there was no transcript within the time that the client gave",
		)
	}

	ctx, done, err := s.waiting(c, wait, late)
	if err != nil {
		return err
	}
	defer done()

	if rec, err = s.awaitEnd(ctx, rec); err != nil {
		if ctx.Err() != nil && c.Get("Idempotency-Key") == "" {
			s.abandon(rec.ID)
		}

		return err
	}

	return s.answerTranscript(c, rec, false)
}

// answerTranscript sends the transcript of a job that has ended, and what is known of
// it, or why there is none.
func (s *Server) answerTranscript(c *fiber.Ctx, rec tasks.Record, saved bool) error {
	ask, cancel := s.deadline()
	defer cancel()

	rec, err := s.Queue.Job(ask, rec.ID)
	if err != nil {
		return err
	}

	for _, w := range rec.Warnings {
		c.Append("x-presswork-warning", string(w.Code))
	}

	if rec.StartedAt != nil {
		setQueueTime(c, rec.StartedAt.Sub(rec.CreatedAt))
	}

	return s.answerEnded(c, rec, saved)
}
