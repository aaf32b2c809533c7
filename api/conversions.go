package api

import (
	"net/http"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/exchange"
	"presswork/api/upload"
	"presswork/api/views"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/tasks"
	"presswork/themes"
)

// The priorities of a submission.
const (
	interactive = "interactive"
	bulk        = "bulk"
)

// longContent is the size in bytes from which a document goes to the queue bulk whatever its priority. Such a
// document has about 400 pages and occupies a browser tab for at least 2 s.
const longContent = 512 << 10

// createConversion answers POST /api/conversion with 202, or with the result when the client waits for it.
func (s *Server) createConversion(c *fiber.Ctx) error {
	wait, err := waitOf(c)
	if err != nil {
		return err
	}

	rec, output, replayed, err := s.submitConversion(c)
	if err != nil {
		return err
	}

	if patience := preferredWait(c, output); patience > 0 {
		if wait.limit > 0 {
			patience = wait.limit
		}

		return s.answerInTime(c, rec, replayed, patience, func(ended tasks.Record) error {
			return s.answerEnded(c, ended, true)
		})
	}

	return s.answerWaiting(c, rec, replayed, wait)
}

// submitConversion submits the job of a request. output is the type of its result. replayed reports that the
// idempotency key is known and rec is the earlier job.
func (s *Server) submitConversion(c *fiber.Ctx) (rec tasks.Record, output presswork.Output, replayed bool, err error) {
	req, err := s.parseConversion(c, "wait", "until")
	if err != nil {
		return rec, "", false, err
	}
	defer discard(c, &req)

	if req.Output == "" {
		req.Output = acceptedOutput(c)
	}
	output = req.Output
	who := exchange.Of(c.Context()).Caller

	key, err := exchange.IdempotencyKey(c)
	if err != nil {
		return rec, output, false, err
	}

	var fingerprint string
	if key != "" {
		fingerprint = req.Fingerprint()
		// Look the key up first, so that a retry does not store its files again.
		ctx, cancel := exchange.CallContext()
		defer cancel()

		rec, found, err := s.Queue.Replay(ctx, who.Name, key, fingerprint)
		if err != nil || found {
			return rec, output, found, err
		}
	}

	theme, err := s.checkConversion(&req)
	if err != nil {
		return rec, output, false, err
	}
	meta := exchange.Of(c.Context())
	rec, replayed, err = s.acceptConversion(req, tasks.Submission{
		ID:             tasks.NewID(),
		Kind:           presswork.KindConversion,
		Theme:          theme,
		Owner:          who.Name,
		Filename:       req.Filename,
		ContentType:    req.Output.ContentType(),
		WebhookURL:     req.WebhookURL,
		IdempotencyKey: key,
		Fingerprint:    fingerprint,
		RequestID:      meta.ID,
		TraceParent:    meta.Trace,
	})

	return rec, output, replayed, err
}

// answerAccepted answers 202 with the addresses of the job.
func (s *Server) answerAccepted(c *fiber.Ctx, rec tasks.Record, replayed bool) error {
	exchange.SetReplayed(c, replayed)
	c.Set(fiber.HeaderLocation, views.StatusURL(rec.ID))
	exchange.WriteJSON(c.Context(), http.StatusAccepted, s.views.Accepted(rec))

	return nil
}

// checkLength rejects a text that is too long.
func (s *Server) checkLength(content string) error {
	if int64(len(content)) <= s.MaxContentBytes {
		return nil
	}

	return fault.Errorf(fault.ContentTooLarge, "content has %d bytes; allowed: %d", len(content), s.MaxContentBytes).
		WithParam("content")
}

// checkConversion rejects a submission that cannot succeed, so that the caller learns it at once and not from a
// failed job. It renders nothing. It returns the theme of the document. Errors: public ones that name the
// parameter.
func (s *Server) checkConversion(r *upload.Conversion) (theme string, err error) {
	if err := s.checkLength(r.Content); err != nil {
		return "", err
	}

	if r.Priority != "" {
		if _, err := exchange.OneOf("priority", r.Priority, []string{interactive, bulk}); err != nil {
			return "", err
		}
	}

	if r.WebhookURL != "" {
		if _, err := s.Webhooks.CheckURL(r.WebhookURL); err != nil {
			return "", webhookError(err)
		}
	}

	content, err := document.Source(r.Path, []byte(r.Content))
	if err != nil {
		return "", contentError(err)
	}
	matter, wrong := document.Check(content, r.Options)
	// An unknown theme in the front matter becomes a warning of the job, not an error here.
	if theme, _, err = s.Themes.Resolve(r.Theme, matter.Theme); err != nil {
		return "", err
	}

	if wrong == nil {
		wrong = document.CheckOutput(r.Output, matter, r.Options)
	}

	if wrong == nil {
		wrong = checkParts(r)
	}

	if wrong != nil {
		return "", contentError(wrong)
	}

	return theme, nil
}

// checkParts rejects parts that cannot be printed. The error names the file.
func checkParts(r *upload.Conversion) error {
	for _, name := range r.Parts {
		data, err := r.ReadAsset(name)
		if err != nil {
			return err
		}

		if data, err = document.Source(name, data); err == nil {
			_, err = document.Check(data, presswork.Options{})
		}

		if err != nil {
			e := fault.AsError(err)
			return fault.Errorf(e.Code, "%s: %s", name, e.Message).WithCause(err)
		}
	}

	return nil
}

// contentError names the parameter content in a public error that names none.
func contentError(err error) error {
	e := fault.AsError(err)
	if e.Code == fault.Internal || e.Param != "" {
		return err
	}

	return e.WithParam("content")
}

// webhookError returns the public error for a rejected webhook address: WebhookInvalid instead of InvalidURL,
// which is the code for pages to export.
func webhookError(err error) error {
	e := fault.AsError(err)
	if e.Code == fault.InvalidURL {
		e = fault.Errorf(fault.WebhookInvalid, "webhook_url: %s", e.Message)
	}

	return e.WithParam("webhook_url")
}

// acceptConversion stores the sources that are too large for the queue and submits the job. It reserves the job
// first, so that it stores nothing for a rejected job and knows the final job id. The sources are stored under that
// id, because the sweeper looks the job up by it. Each request has its own folder there: requests with the same
// idempotency key cannot delete each other's sources.
func (s *Server) acceptConversion(
	r upload.Conversion, sub tasks.Submission,
) (rec tasks.Record, replayed bool, err error) {
	folder := sub.ID // reserveJob may replace the id

	queue := tasks.ConvertPDF.Queue
	if r.Priority == bulk || r.Length() >= longContent {
		queue = tasks.Bulk
	}

	sub.Task.Queue = queue
	if rec, replayed, err = s.reserveJob(&sub); err != nil || replayed {
		return rec, replayed, err
	}

	payload, stored, err := s.objects.PutSources(r, sub.ID, folder, sub.Theme)
	if err != nil {
		s.objects.RemoveSources(stored, err)
		return rec, false, err
	}

	if sub.Task, err = s.taskOf(queue, payload); err != nil {
		s.objects.RemoveSources(stored, nil)
		return rec, false, err
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	rec, replayed, err = s.Queue.Submit(ctx, sub)
	// After an error the job may exist and need its sources. If it does not, the sweeper deletes them.
	if replayed {
		s.objects.RemoveSources(stored, nil)
	}

	return rec, replayed, err
}

// reserveJob sets the final id of the job, which for a known idempotency key is that of the earlier job. Errors:
// those of Queue.Reserve, StoreFull.
func (s *Server) reserveJob(sub *tasks.Submission) (rec tasks.Record, replayed bool, err error) {
	ctx, cancel := exchange.CallContext()
	defer cancel()

	rec, replayed, err = s.Queue.Reserve(ctx, sub)
	if err == nil && !replayed && s.Keeper != nil {
		err = s.Keeper.Full(ctx)
	}

	return rec, replayed, err
}

// taskOf returns the first task of a conversion. If a model chooses the theme, that choice is a separate first task,
// so that no conversion slot waits for the model.
func (s *Server) taskOf(queue tasks.Queue, payload tasks.Convert) (tasks.Task, error) {
	if payload.Theme == themes.Auto && s.Recommender.AsksModel() {
		return tasks.ChooseTheme.Task(tasks.Choice{Convert: payload, Queue: queue})
	}
	t, err := tasks.ConvertPDF.Task(payload)

	return t.On(queue), err
}
