package api

import (
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/exchange"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/pdfops"
	"presswork/tasks"
)

// pdfWait bounds a synchronous operation on PDF files, including its wait for a worker.
const pdfWait = 5 * time.Minute

// editPDF answers POST /api/pdf/{operation}. It submits a job and sends the result, as exportPage does. It checks the
// options first, because a worker could report a wrong one only after a wait in the queue.
func (s *Server) editPDF(c *fiber.Ctx) error {
	operation := pdfops.Operation(c.Params("operation"))
	if !slices.Contains(pdfops.Operations(), operation) {
		return fault.Errorf(fault.NotFound, "there is no operation %s; the operations are %v",
			input.Quote(string(operation)), pdfops.Operations())
	}

	request, err := s.readPDF(c)
	defer request.Discard()

	if err == nil {
		err = pdfops.Check(operation, request.Options, len(request.Files), request.Mark != nil)
	}

	if err == nil && request.WebhookURL != "" {
		if _, wrong := s.Webhooks.CheckURL(request.WebhookURL); wrong != nil {
			err = webhookError(wrong)
		}
	}

	if err != nil {
		return err
	}
	prefer := preferencesOf(c)
	payload := tasks.PDFEdit{Operation: operation, Options: request.Options}

	// A client that gets the result in the response does not need it in the store.
	if !prefer.fetchesLater() {
		payload.Keep = int64(deliveredKeep / time.Second)
	}

	rec, replayed, err := s.submitPDF(c, request, payload)
	if err != nil {
		return err
	}

	answer := func(ended tasks.Record) error { return s.answerEnded(c, ended, prefer.fetchesLater()) }
	if prefer.fetchesLater() {
		return s.answerLater(c, rec, replayed, prefer, answer)
	}

	late := fault.Errorf(fault.RenderTimeout,
		"the operation did not end within %s; send \"Prefer: respond-async\" to fetch the result later", pdfWait)

	return s.answerAtEnd(c, rec, replayed, pdfWait, late, answer)
}

// readPDF reads the form of a request.
func (s *Server) readPDF(c *fiber.Ctx) (upload.PDF, error) {
	b, boundary, err := s.openForm(c, s.MaxUploadBytes+upload.FormOverhead, "the form with the PDF files")
	if err != nil {
		return upload.PDF{}, err
	}

	return upload.ReadPDF(b, boundary, s.MaxUploadBytes, b.Held())
}

// submitPDF reserves the job, stores its files and submits it. Errors: those of reserveJob and of Queue.Submit,
// StoreUnavailable.
func (s *Server) submitPDF(
	c *fiber.Ctx, request upload.PDF, payload tasks.PDFEdit,
) (rec tasks.Record, replayed bool, err error) {
	key, err := exchange.IdempotencyKey(c)
	if err != nil {
		return rec, false, err
	}
	meta := exchange.Of(c.Context())
	sub := tasks.Submission{
		ID:          tasks.NewID(),
		Kind:        presswork.KindPDF,
		Owner:       meta.Caller.Name,
		Filename:    request.Filename,
		ContentType: payload.ContentType(),
		WebhookURL:  request.WebhookURL,
		RequestID:   meta.ID,
		TraceParent: meta.Trace,
		Task:        tasks.Task{Queue: tasks.EditPDF.Queue},
	}
	folder := sub.ID // of this request, as in acceptConversion; reserveJob may replace sub.ID
	files := request.Files

	if request.Mark != nil {
		files = append(slices.Clone(files), request.Mark)
	}

	if key != "" {
		var content []string
		for _, a := range files {
			content = append(content, a.Name, a.SHA256)
		}
		same := payload
		sub.IdempotencyKey = key
		setFingerprint(&sub, []any{&same, content, request.WebhookURL, request.Filename}, &same.Keep)
	}

	if rec, replayed, err = s.reserveJob(&sub); err != nil || replayed {
		return rec, replayed, err
	}

	assets, stored, err := s.objects.PutFiles(files, sub.ID, folder)
	if err != nil {
		s.objects.RemoveSources(stored, err)
		return rec, false, err
	}

	payload.Files = assets[:len(request.Files)]
	if request.Mark != nil {
		payload.Mark = &assets[len(request.Files)]
	}

	if sub.Task, err = tasks.EditPDF.Task(payload); err != nil {
		s.objects.RemoveSources(stored, nil)
		return rec, false, err
	}

	ctx, done := exchange.CallContext()
	defer done()

	rec, replayed, err = s.Queue.Submit(ctx, sub)
	// After an error the job may exist and need its files. If it does not, the sweeper deletes them.
	if replayed {
		s.objects.RemoveSources(stored, nil)
	}
	meta.Held.Release() // the store has the files, and the client may wait for minutes

	return rec, replayed, err
}
