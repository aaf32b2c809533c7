package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/conn"
	"presswork/api/exchange"
	"presswork/api/metrics"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/diagram"
	"presswork/tasks"
	"presswork/themes"
)

const (
	// composeTimeout bounds composing one page, including its remote images.
	composeTimeout = 30 * time.Second
	// pagePolicy is the content security policy of composed pages: they cannot run scripts or send requests.
	pagePolicy = "sandbox; default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; " +
		"base-uri 'none'; form-action 'none'"
)

// previewPage is the JSON of a preview: the whole HTML page, and the warnings of its document.
type previewPage struct {
	Page     string          `json:"page"`
	Warnings []fault.Warning `json:"warnings"`
}

// previewDocument answers POST /api/preview with the document as a themed page. A client that prefers JSON also gets
// the warnings.
func (s *Server) previewDocument(c *fiber.Ctx) error {
	req, err := s.parseConversion(c)
	if err != nil {
		return err
	}
	defer discard(c, &req)

	if err := onlyFields([]string{"content", "theme", "options", "filename", "assets"}, map[string]bool{
		"webhook_url": req.WebhookURL != "",
		"priority":    req.Priority != "",
		"output":      req.Output != "",
	}); err != nil {
		return err
	}

	theme, err := s.checkConversion(&req)
	if err != nil {
		return err
	}

	ctx, done, err := s.composeContext(c)
	if err != nil {
		return err
	}
	defer done()

	doc := document.Document{
		Owner:    exchange.Of(c.Context()).Caller.Name,
		Content:  []byte(req.Content),
		Theme:    theme,
		Options:  req.Options,
		Filename: req.Filename,
		// The studio shows which line a block of the page comes from.
		SourceLines: true,
	}
	if err := doc.FromFolder(req.Path, req.Parts, req.ReadAsset); err != nil {
		return err
	}

	if theme == themes.Auto {
		verdict, err := s.composer.Recommend(ctx, doc.Owner, doc.Text())
		if err != nil {
			return err
		}
		doc.Theme = verdict.Recommendation.Primary
	}

	composed, err := s.composer.Compose(ctx, doc)
	if err != nil {
		return contentError(waitError(err))
	}
	sendPreview(c, composed)

	return nil
}

// sendPreview answers with a composed page, which no cache may keep.
func sendPreview(c *fiber.Ctx, composed document.Composed) {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Vary(fiber.HeaderAccept)

	if c.Accepts(fiber.MIMETextHTML, fiber.MIMEApplicationJSON) == fiber.MIMEApplicationJSON {
		page := previewPage{Page: composed.Standalone(), Warnings: append([]fault.Warning{}, composed.Warnings...)}
		exchange.WriteJSON(c.Context(), http.StatusOK, page)

		return
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, pagePolicy)
	c.Status(http.StatusOK).Context().SetBodyString(composed.Standalone())
}

// onlyFields rejects fields of a conversion that a request does not take. others maps them to whether they are given.
func onlyFields(allowed []string, others map[string]bool) error {
	for name, given := range others {
		if given {
			return input.UnknownField(name, allowed)
		}
	}

	return nil
}

// composeContext returns a context for work while the client waits. It ends after composeTimeout, when the client
// disconnects, and when the server stops. The caller must call done. Errors: QueueUnavailable.
func (s *Server) composeContext(c *fiber.Ctx) (ctx context.Context, done func(), err error) {
	running, leave, err := s.streams.Join(metrics.Preview)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(running, composeTimeout,
		fault.Errorf(fault.RenderTimeout, "this took longer than %s", composeTimeout))
	ctx, unwatch := conn.WhileConnected(ctx, c.Context().Conn(), exchange.ErrClientLeft)

	return ctx, func() {
		unwatch()
		cancel()
		leave()
	}, nil
}

// maxDrawing is the largest sum of diagram sources in one task, in bytes. It must be at least diagram.MaxSource.
const maxDrawing = 64 << 10

// drawDiagrams lets a worker draw diagrams and waits up to DrawWait. It draws the first ones that fit into one
// task. It returns an error at once when no worker runs.
func (s *Server) drawDiagrams(
	ctx context.Context, sources []diagram.Source, style diagram.Style,
) ([]diagram.Picture, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.DrawWait,
		fault.Errorf(fault.QueueUnavailable, "no worker has drawn the diagrams within %s", s.DrawWait))
	defer cancel()

	workers, err := s.Queue.Workers(ctx)
	if err != nil {
		return nil, err
	}

	if workers == 0 {
		return nil, errors.New("no worker is running")
	}

	drawing, size := tasks.Drawing{Style: tasks.DrawingStyle(style)}, 0
	for _, source := range sources {
		if size += len(source.Text); size > maxDrawing {
			break
		}
		drawing.Sources = append(drawing.Sources, source.Text)
		drawing.Languages = append(drawing.Languages, source.Language)
	}

	task, err := tasks.DrawDiagrams.Task(drawing)
	if err != nil {
		return nil, err
	}

	answer, err := s.Queue.Ask(ctx, "", task)
	if err != nil {
		return nil, askError(ctx, err)
	}
	var pictures []diagram.Picture
	err = json.Unmarshal(answer, &pictures)

	return pictures, err
}

// analyzeDocument answers POST /api/analysis with the analysis of a document and the themes that suit it.
func (s *Server) analyzeDocument(c *fiber.Ctx) error {
	req, err := s.parseConversion(c)
	if err != nil {
		return err
	}
	defer discard(c, &req)

	if err := onlyFields([]string{"content"}, map[string]bool{
		"webhook_url": req.WebhookURL != "",
		"priority":    req.Priority != "",
		"theme":       req.Theme != "",
		"output":      req.Output != "",
		"assets":      len(req.Assets) > 0,
		"options":     !reflect.ValueOf(req.Options).IsZero(),
	}); err != nil {
		return err
	}

	if err := s.checkLength(req.Content); err != nil {
		return err
	}

	content, err := document.Source(req.Path, []byte(req.Content))
	if err == nil {
		_, err = document.Check(content, presswork.Options{})
	}

	if err != nil {
		return contentError(err)
	}

	ctx, done, err := s.composeContext(c)
	if err != nil {
		return err
	}
	defer done()

	verdict, err := s.composer.Recommend(ctx, exchange.Of(c.Context()).Caller.Name, content)
	if err != nil {
		return err
	}
	exchange.WriteJSON(c.Context(), http.StatusOK, verdict)

	return nil
}
