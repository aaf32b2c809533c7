package api

import (
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/exchange"
	"presswork/api/upload"
	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/tasks"
)

const (
	// maxExportBody is the largest request for an export, in bytes.
	maxExportBody = 1 << 20
	// exportWait bounds a synchronous export, including its wait for a worker.
	exportWait = 5 * time.Minute
	// deliveredKeep is how long a result that is not saved stays in the store.
	deliveredKeep = 10 * time.Minute
)

// pdfExport is the body of POST /export-pdf, screenshot that of POST /export-screenshot.
type pdfExport struct {
	URL        string            `json:"url"`
	Options    export.PDFOptions `json:"options"`
	WebhookURL string            `json:"webhook_url"`
}

type screenshot struct {
	URL        string                   `json:"url"`
	Options    export.ScreenshotOptions `json:"options"`
	WebhookURL string                   `json:"webhook_url"`
}

// exportPDF answers POST /export-pdf.
func (s *Server) exportPDF(c *fiber.Ctx) error {
	var req pdfExport
	if err := s.parseExport(c, &req); err != nil {
		return err
	}

	return s.exportPage(c, exportRequest{
		task:      tasks.PageExport{URL: req.URL, PDF: &req.Options},
		visit:     &req.Options.VisitOptions,
		webhook:   req.WebhookURL,
		extension: ".pdf",
		check:     func(page *url.URL) error { return export.CheckPDF(page, req.Options) },
	})
}

// exportScreenshot answers POST /export-screenshot.
func (s *Server) exportScreenshot(c *fiber.Ctx) error {
	var req screenshot
	if err := s.parseExport(c, &req); err != nil {
		return err
	}

	kind := req.Options.Type
	if kind == "" {
		kind = "png"
	}

	return s.exportPage(c, exportRequest{
		task:      tasks.PageExport{URL: req.URL, Screenshot: &req.Options},
		visit:     &req.Options.VisitOptions,
		webhook:   req.WebhookURL,
		extension: "." + kind,
		check:     func(page *url.URL) error { return export.CheckScreenshot(page, req.Options) },
	})
}

// parseExport reads the body of a request for an export.
func (s *Server) parseExport(c *fiber.Ctx, into any) error {
	data, err := s.bodies.ReadJSON(c, maxExportBody, "a request for an export")
	if err != nil {
		return err
	}

	return input.DecodeJSON(data, into, "")
}

// exportRequest is a parsed request for a PDF or a screenshot.
type exportRequest struct {
	task      tasks.PageExport     // what the worker gets
	visit     *export.VisitOptions // those of task: changing one changes the other
	webhook   string
	extension string                    // of the result's file, with the dot
	check     func(page *url.URL) error // checks the options of the output
}

// checkExport rejects a request that cannot succeed. The worker checks the address again when it connects, because
// a name may resolve differently by then. Errors: public ones that name the parameter.
func (s *Server) checkExport(r exportRequest) error {
	if r.task.URL == "" {
		return fault.Errorf(fault.InvalidURL, "url is missing; it is the http or https address of the page").
			WithParam("url")
	}

	page, err := s.Exports.CheckURL(r.task.URL)
	if err != nil {
		return fault.AsError(err).WithParam("url")
	}

	if err := r.check(page); err != nil {
		return err
	}

	if r.visit.Theme != "" {
		if _, err := s.Themes.Get(r.visit.Theme); err != nil {
			return fault.AsError(err).WithParam("options.theme")
		}
	}

	if r.webhook != "" {
		if _, err := s.Webhooks.CheckURL(r.webhook); err != nil {
			return webhookError(err)
		}
	}

	return nil
}

// exportPage submits the job. By default it waits for the end and sends the result; a Prefer header limits the
// wait or skips it.
func (s *Server) exportPage(c *fiber.Ctx, r exportRequest) error {
	if err := s.checkExport(r); err != nil {
		return err
	}

	if r.visit.Filename != "" {
		r.visit.Filename = pageFilename(r.visit.Filename, r.extension)
	}
	prefer := preferencesOf(c)
	// A client that fetches the result later needs it in the store, unless it asks not to save it.
	save := prefer.fetchesLater()
	if r.visit.Save != nil {
		save = *r.visit.Save
	}

	if !save {
		r.task.Keep = int64(deliveredKeep / time.Second)
	}

	rec, replayed, err := s.submitExport(c, r)
	if err != nil {
		return err
	}

	answer := func(ended tasks.Record) error { return s.answerEnded(c, ended, save) }
	if prefer.fetchesLater() {
		return s.answerLater(c, rec, replayed, prefer, answer)
	}

	late := fault.Errorf(fault.RenderTimeout,
		"the page was not exported within %s; send \"Prefer: respond-async\" to fetch the result later", exportWait)

	return s.answerAtEnd(c, rec, replayed, exportWait, late, answer)
}

// submitExport submits the job of an export. replayed reports that the idempotency key is known and rec is the
// earlier job.
func (s *Server) submitExport(c *fiber.Ctx, r exportRequest) (rec tasks.Record, replayed bool, err error) {
	key, err := exchange.IdempotencyKey(c)
	if err != nil {
		return rec, false, err
	}

	task, err := tasks.ExportPage.Task(r.task)
	if err != nil {
		return rec, false, err
	}
	meta := exchange.Of(c.Context())

	sub := tasks.Submission{
		ID:          tasks.NewID(),
		Kind:        presswork.KindExport,
		Theme:       r.visit.Theme,
		Owner:       meta.Caller.Name,
		Filename:    r.visit.Filename,
		ContentType: r.task.ContentType(),
		WebhookURL:  r.webhook,
		RequestID:   meta.ID,
		TraceParent: meta.Trace,
		Task:        task,
	}
	if key != "" {
		// Keep depends on the Prefer header, which a retry may change. So setFingerprint accepts both values, unless
		// the client has set the option save. It changes the field, so it gets a copy.
		copied := r.task

		keep := &copied.Keep
		if r.visit.Save != nil {
			keep = nil
		}
		sub.IdempotencyKey = key
		setFingerprint(&sub, []any{&copied, r.webhook}, keep)
	}

	if rec, replayed, err = s.reserveJob(&sub); err != nil || replayed {
		return rec, replayed, err
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()
	rec, replayed, err = s.Queue.Submit(ctx, sub)
	meta.Held.Release() // the queue has the task; the body must not count while the client waits for minutes

	return rec, replayed, err
}

// pageFilename returns a safe file name with the extension of the result. It replaces the extension of another
// output type. It returns "" if no character of name may stay.
func pageFilename(name, extension string) string {
	switch ext := path.Ext(name); strings.ToLower(ext) {
	case ".pdf", ".png", ".jpg", ".jpeg", ".webp":
		name = strings.TrimSuffix(name, ext)
	}

	name = strings.TrimSuffix(upload.CleanFilename(name), ".pdf") // CleanFilename always appends it
	if name == "" {
		return ""
	}

	return name + extension
}

// exportAccess returns the access that page exports require.
func (s *Server) exportAccess() level {
	if s.ExportAuthOff {
		return byAnyKey
	}

	return byKey
}
