// Package compose composes pages and recommends themes inside the API process, a few documents at a time.
package compose

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"presswork/internal/analysis/finding"
	"presswork/internal/analysis/recommend"
	"presswork/internal/document"
	"presswork/internal/markdown/diagram"
	"presswork/themes"
)

// formulaTime bounds the rendering of a document's formulas.
const formulaTime = 2 * time.Second

// Options configure a Composer. All fields are mandatory, unless stated.
type Options struct {
	// Themes is the catalogue.
	Themes *themes.Catalogue
	// Fetch downloads the remote images of documents. Nil: pages have none.
	Fetch func(ctx context.Context, url string) (data []byte, contentType string, err error)
	// Diagrams draws the diagrams of documents. Nil: Remote does.
	Diagrams *diagram.Renderer
	// Remote draws diagrams elsewhere. The document takes no slot while it waits.
	Remote diagram.Remote
	// Recommender analyses documents and chooses themes.
	Recommender *recommend.Recommender
	// Log receives failures to draw or to fetch.
	Log *slog.Logger
}

// Composer composes documents and analyses them. It is safe for concurrent use.
type Composer struct {
	converter *document.Converter
	// samples composes the previews of themes, which have no diagrams to draw.
	samples     *document.Converter
	recommender *recommend.Recommender
	themes      *themes.Catalogue
	// composing and analysing have a slot for each processor. They are separate, because an analysis may wait for a
	// model.
	composing, analysing chan struct{}
}

// New returns a Composer.
func New(o Options) *Composer {
	p := &Composer{
		samples:     document.New(document.Options{Themes: o.Themes, Log: o.Log}),
		recommender: o.Recommender,
		themes:      o.Themes,
		composing:   make(chan struct{}, runtime.NumCPU()),
		analysing:   make(chan struct{}, runtime.NumCPU()),
	}
	if o.Diagrams == nil {
		o.Diagrams = diagram.New(diagram.Options{
			Log: o.Log,
			Remote: func(ctx context.Context, sources []diagram.Source, s diagram.Style) ([]diagram.Picture, error) {
				// Free the slot while this document waits for its diagrams. The caller of Remote holds one.
				<-p.composing

				defer func() { p.composing <- struct{}{} }()

				return o.Remote(ctx, sources, s)
			},
		})
	}

	p.converter = document.New(document.Options{
		Themes: o.Themes, Fetch: o.Fetch, Diagrams: o.Diagrams, FormulaTime: formulaTime, Log: o.Log,
	})

	return p
}

// Compose waits for a slot and composes the document. Errors: those of document.Converter.Compose, the cause of
// ctx.
func (p *Composer) Compose(ctx context.Context, d document.Document) (document.Composed, error) {
	select {
	case p.composing <- struct{}{}:
	case <-ctx.Done():
		return document.Composed{}, context.Cause(ctx)
	}

	defer func() { <-p.composing }()

	return p.converter.Compose(ctx, d)
}

// Sample returns the preview of a theme. Errors: ThemeNotFound, the cause of ctx.
func (p *Composer) Sample(ctx context.Context, theme string) (document.Composed, error) {
	return p.samples.Preview(ctx, theme)
}

// Recommend waits for a slot, analyses a document and recommends a theme. Cache entries are per owner. The only
// error is the cause of ctx.
func (p *Composer) Recommend(ctx context.Context, owner string, content []byte) (finding.Analysis, error) {
	select {
	case p.analysing <- struct{}{}:
	case <-ctx.Done():
		return finding.Analysis{}, context.Cause(ctx)
	}

	defer func() { <-p.analysing }()
	advice, err := p.recommender.Recommend(ctx, owner, content, p.themes.List(), recommend.Preference{})

	return advice.Analysis, err
}
