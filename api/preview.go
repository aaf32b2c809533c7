package api

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/conn"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/diagram"
	"presswork/themes"
)

const (
	// composeTimeout bounds the making of one page, remote images included.
	composeTimeout = 30 * time.Second
	// previewFormulaTime bounds the rendering of a document's formulas.
	previewFormulaTime = 2 * time.Second
	// pagePolicy is for a browser that is shown a page: whatever is in it can
	// neither run nor reach anything.
	pagePolicy = "sandbox; default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; " +
		"base-uri 'none'; form-action 'none'"
)

// pages composes documents in this process, a few at a time.
type pages struct {
	converter *document.Converter
	// samples names the previews of themes, for which nothing is drawn.
	samples *document.Converter
	slots   chan struct{}
}

// newPages has remote draw when o has no browser to do it.
func newPages(o Options, remote diagram.Remote) *pages {
	p := &pages{
		samples: document.New(document.Options{Themes: o.Themes, Log: o.Log}),
		slots:   make(chan struct{}, runtime.NumCPU()),
	}
	if o.Diagrams == nil {
		o.Diagrams = diagram.New(
			diagram.Options{
				Log: o.Log,
				Remote: func(ctx context.Context, sources []string, s diagram.Style) ([]diagram.Picture, error) {
					// Others compose while this document waits. Whoever draws has a slot.
					<-p.slots
					defer func() { p.slots <- struct{}{} }()

					return remote(ctx, sources, s)
				},
			},
		)
	}
	p.converter = document.New(
		document.Options{
			Themes:      o.Themes,
			Fetch:       o.Fetch,
			Diagrams:    o.Diagrams,
			FormulaTime: previewFormulaTime,
			Log:         o.Log,
		},
	)

	return p
}

// compose is document.Converter's, once a slot is free.
func (p *pages) compose(ctx context.Context, d document.Document) (document.Composed, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return document.Composed{}, context.Cause(ctx)
	}

	defer func() { <-p.slots }()

	return p.converter.Compose(ctx, d)
}

// preview answers with the themed page of a document.
func (s *Server) preview(c *fiber.Ctx) error {
	req, err := s.parseConversion(c)
	if err != nil {
		return err
	}
	defer discard(c, &req)

	for name, value := range map[string]string{"webhook_url": req.WebhookURL, "priority": req.Priority, "output": string(req.Output)} {
		if value != "" {
			return input.UnknownField(name, []string{"content", "theme", "options", "filename", "assets"})
		}
	}

	theme, err := s.check(&req)
	if err != nil {
		return err
	}

	ctx, done, err := s.composing(c)
	if err != nil {
		return err
	}
	defer done()

	doc := document.Document{
		Owner:    metadataOf(c.Context()).who.Name,
		Content:  []byte(req.Content),
		Theme:    theme,
		Options:  req.Options,
		Filename: req.Filename,
	}
	if err := doc.FromFolder(req.Path, req.Parts, req.ReadAsset); err != nil {
		return err
	}

	if theme == themes.Auto {
		verdict, err := s.choose(ctx, doc.Owner, doc.Text())
		if err != nil {
			return err
		}
		doc.Theme = verdict.Recommendation.Primary
	}

	composed, err := s.pages.compose(ctx, doc)
	if err != nil {
		return ofContent(waitError(err))
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, pagePolicy)
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Status(http.StatusOK)

	return c.SendString(composed.Standalone())
}

// composing bounds work that is done while the client waits; it ends with the
// client's connection, too. done is to be called at its end.
func (s *Server) composing(c *fiber.Ctx) (ctx context.Context, done func(), err error) {
	running, leave, err := s.streams.Join(lastingPreview)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(running, composeTimeout,
		fault.Errorf(fault.RenderTimeout, "this took longer than %s", composeTimeout))
	ctx, unwatch := conn.WhileConnected(ctx, c.Context().Conn(), errClientLeft)

	return ctx, func() {
		unwatch()
		cancel()
		leave()
	}, nil
}
