package api

import (
	"context"
	"net/http"
	"reflect"
	"runtime"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/internal/analysis/finding"
	"presswork/internal/analysis/recommend"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/input"
)

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
