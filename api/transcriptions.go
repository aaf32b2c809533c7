package api

import (
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/exchange"
	"presswork/api/openai"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/audio"
	"presswork/storage"
	"presswork/tasks"
)

// transcriptionWait bounds the wait of a client for a transcript, including the wait for a worker.
const transcriptionWait = time.Hour

// transcriptionRequest is a checked request for a transcript.
type transcriptionRequest struct {
	payload   tasks.Transcription // Key is not set yet; URL is set when the request has no recording.
	recording *recording
	filename  string
}

// transcribe answers POST /v1/audio/transcriptions and /v1/audio/translations. It submits a job and waits for the
// transcript, unless a Prefer header says otherwise.
func (s *Server) transcribe(task string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		began := time.Now()

		sub, err := newTranscription(c)
		if err != nil {
			return err
		}
		prefer := preferencesOf(c)

		source := &recording{
			server:    s,
			sub:       &sub,
			held:      &exchange.Of(c.Context()).Held,
			temporary: !prefer.fetchesLater() && sub.IdempotencyKey == "",
			limit:     s.MaxAudioBytes,
		}
		defer source.close()

		r, err := s.readTranscription(c, source, task)
		if err != nil {
			return err
		}

		if !prefer.fetchesLater() {
			r.payload.Keep = int64(deliveredKeep / time.Second)
		}

		rec, replayed, err := s.submitTranscription(r)
		if err != nil {
			return err
		}

		answer := func(ended tasks.Record) error { return s.answerTranscript(c, ended, prefer.fetchesLater()) }
		if prefer.fetchesLater() {
			return s.answerLater(c, rec, replayed, prefer, answer)
		}
		wait, late := transcriptWait(c, began)

		return s.answerAtEnd(c, rec, replayed, wait, late, answer)
	}
}

// newTranscription returns a submission with the values of the request's headers.
func newTranscription(c *fiber.Ctx) (tasks.Submission, error) {
	meta := exchange.Of(c.Context())
	key, err := exchange.IdempotencyKey(c)

	return tasks.Submission{
		ID:             tasks.NewID(),
		Kind:           presswork.KindTranscription,
		Owner:          meta.Caller.Name,
		RequestID:      meta.ID,
		TraceParent:    meta.Trace,
		IdempotencyKey: key,
		Task:           tasks.Task{Queue: tasks.TranscribeAudio.Queue},
	}, err
}

// readTranscription reads the form of a request. source receives its recording. It rejects requests that cannot
// succeed.
func (s *Server) readTranscription(c *fiber.Ctx, source *recording, task string) (r transcriptionRequest, err error) {
	// base64 in a data: URI makes a recording a third longer.
	b, boundary, err := s.openForm(c, s.MaxAudioBytes/3*4+upload.FormOverhead, "the form with the recording")
	if err != nil {
		return r, err
	}

	form, err := openai.ReadTranscription(b, boundary, source.held, source)
	if err != nil {
		return r, err
	}

	r = transcriptionRequest{recording: source}
	if r.payload, err = s.v1.Transcription(form, exchange.Of(c.Context()).Caller, task); err != nil {
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

// transcriptName returns the file name of a transcript: that of the recording with another extension.
func transcriptName(recording, format string) string {
	name := strings.TrimSuffix(upload.CleanFilename(strings.TrimSuffix(recording, path.Ext(recording))), ".pdf")
	if name == "" {
		name = "transcript"
	}

	return name + path.Ext(storage.ArtifactKeyOf("x", audio.ContentType(format)))
}

// submitTranscription completes the submission and submits the job. With an idempotency key, the digest of the
// recording is part of the fingerprint. Errors: those of reserveJob, StoreUnavailable, QueueUnavailable.
func (s *Server) submitTranscription(r transcriptionRequest) (rec tasks.Record, replayed bool, err error) {
	sub := r.recording.sub
	request := sub.ID

	sub.Filename, sub.ContentType = r.filename, audio.ContentType(r.payload.Format)
	if sub.IdempotencyKey != "" {
		digest := ""
		if r.recording.spooled != nil {
			digest = r.recording.spooled.SHA256
		}
		same := r.payload
		setFingerprint(sub, []any{&same, digest}, &same.Keep)
	}
	// A stored recording has its job reserved already.
	if r.recording.key == "" {
		if rec, replayed, err = s.reserveJob(sub); err != nil || replayed {
			return rec, replayed, err
		}
	}

	return s.acceptTranscription(r, request)
}

// acceptTranscription stores a spooled recording and submits the reserved job. request is the folder of the
// recording.
func (s *Server) acceptTranscription(
	r transcriptionRequest, request string,
) (rec tasks.Record, replayed bool, err error) {
	source := r.recording
	if err := source.storeSpooled(request); err != nil {
		return rec, false, err
	}

	r.payload.Key = source.key
	if source.sub.Task, err = tasks.TranscribeAudio.Task(r.payload); err != nil {
		return rec, false, err
	}
	// Record the size while the queue takes the job: one round trip to Redis instead of two.
	var counting sync.WaitGroup

	counting.Go(source.countSize)
	defer counting.Wait()

	ctx, cancel := exchange.CallContext()
	defer cancel()
	rec, replayed, err = s.Queue.Submit(ctx, *source.sub)
	// After an error the job may exist and need its recording. If it does not, the sweeper deletes the recording.
	source.submitted = !replayed

	return rec, replayed, err
}

// transcriptWait returns how much longer a request that arrived at began waits for its transcript, and the error
// after that. The client's own time-out applies when it is shorter than transcriptionWait.
func transcriptWait(c *fiber.Ctx, began time.Time) (wait time.Duration, late error) {
	if own := exchange.ClientTimeout(c); own > 0 && own < transcriptionWait {
		return time.Until(began.Add(own)), inference.Errorf(http.StatusGatewayTimeout, inference.UpstreamTimeout,
			"the transcript was not ready within the client's time-out")
	}

	return transcriptionWait, inference.Errorf(http.StatusGatewayTimeout, inference.UpstreamTimeout,
		"the recording was not transcribed within %s; send \"Prefer: respond-async\" to fetch the result later",
		transcriptionWait)
}

// answerTranscript sends the transcript of a completed job with its warnings, or the error of a job without one.
func (s *Server) answerTranscript(c *fiber.Ctx, rec tasks.Record, saved bool) error {
	ask, cancel := exchange.CallContext()
	defer cancel()

	rec, err := s.Queue.Job(ask, rec.ID)
	if err != nil {
		return err
	}

	for _, w := range rec.Warnings {
		c.Append("x-presswork-warning", string(w.Code))
	}

	if rec.StartedAt != nil {
		exchange.SetQueueTime(c, rec.StartedAt.Sub(rec.CreatedAt))
	}

	return s.answerEnded(c, rec, saved)
}
