package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"runtime"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/conn"
	"presswork/internal/analysis/finding"
	"presswork/internal/analysis/recommend"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/diagram"
	"presswork/tasks"
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

// maxDrawing is how many bytes of diagrams one task carries; at least
// diagram.MaxSource.
const maxDrawing = 64 << 10

// draw has a worker draw diagrams, as many of the first as a task carries, and
// waits for them at most DrawWait; not at all when no worker runs.
func (s *Server) draw(ctx context.Context, sources []string, style diagram.Style) ([]diagram.Picture, error) {
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

	size := 0
	for i, source := range sources {
		if size += len(source); size > maxDrawing {
			sources = sources[:i]
			break
		}
	}

	task, err := tasks.DrawDiagrams.Task(tasks.Drawing{Sources: sources, Style: tasks.DrawingStyle(style)})
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

// analyses reads documents in this process, a few at a time.
type analyses struct {
	recommender *recommend.Recommender
	slots       chan struct{}
}

func newAnalyses(o Options) *analyses {
	return &analyses{recommender: o.Recommender, slots: make(chan struct{}, runtime.NumCPU())}
}

// choose reads a document of an owner and recommends a theme once a slot is free.
func (s *Server) choose(ctx context.Context, owner string, content []byte) (finding.Analysis, error) {
	select {
	case s.analyses.slots <- struct{}{}:
	case <-ctx.Done():
		return finding.Analysis{}, context.Cause(ctx)
	}

	defer func() { <-s.analyses.slots }()
	advice, err := s.analyses.recommender.Recommend(ctx, owner, content, s.Themes.List(), recommend.Preference{})

	return advice.Analysis, err
}

// analyze answers with what a document is and the themes that suit it.
func (s *Server) analyze(c *fiber.Ctx) error {
	req, err := s.parseConversion(c)
	if err != nil {
		return err
	}
	defer discard(c, &req)

	for name, given := range map[string]bool{
		"webhook_url": req.WebhookURL != "", "priority": req.Priority != "", "theme": req.Theme != "", "output": req.Output != "", "assets": len(req.Assets) > 0,
		"options": !reflect.ValueOf(req.Options).IsZero(),
	} {
		if given {
			return input.UnknownField(name, []string{"content"})
		}
	}

	if int64(len(req.Content)) > s.MaxContentBytes {
		return fault.Errorf(
			fault.ContentTooLarge,
			"content has %d bytes; allowed: %d",
			len(req.Content),
			s.MaxContentBytes,
		).
			WithParam("content")
	}

	if _, err := document.Check([]byte(req.Content), presswork.Options{}); err != nil {
		return ofContent(err)
	}

	ctx, done, err := s.composing(c)
	if err != nil {
		return err
	}
	defer done()

	verdict, err := s.choose(ctx, metadataOf(c.Context()).who.Name, []byte(req.Content))
	if err != nil {
		return err
	}
	writeJSON(c.Context(), http.StatusOK, verdict)

	return nil
}
