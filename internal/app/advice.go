package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"presswork/internal/analysis"
	"presswork/internal/analysis/recommend"
	"presswork/internal/cache"
	"presswork/internal/client"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/openai"
)

// DefaultAnalysisURL is where a Presswork on this machine answers.
const DefaultAnalysisURL = "http://127.0.0.1:8000/v1"

// AdviceOptions say how a command chooses the themes of its documents.
type AdviceOptions struct {
	// Mood and DocType describe the documents, as far as the caller knows them. Both may be empty.
	Mood, DocType string
	// Model reads the documents instead of the program's own analyser; it may be empty.
	Model string
	// ModelURL is the OpenAI-compatible address of the model, and ModelKey its key. Default: DefaultAnalysisURL.
	ModelURL, ModelKey string
	// Cache is where analyses and choices are kept.
	Cache cache.Config
	// Log receives the problems of the cache and the model.
	Log *slog.Logger
}

// Advice chooses the themes of a command's documents. Call Close when done.
type Advice struct {
	Recommender *recommend.Recommender
	Preference  recommend.Preference
	// Close closes the cache.
	Close func()
}

// Moods returns the moods that AdviceOptions can name.
func Moods() []string { return recommend.Moods() }

// DocTypes returns the types and families of documents that AdviceOptions can name.
func DocTypes() []string { return append(analysis.DocumentTypes(), analysis.DocumentFamilies()...) }

// NewAdvice checks the options. It opens the cache when the first document needs it. An option that it cannot use is a
// UsageError that names the flag.
func NewAdvice(ctx context.Context, o AdviceOptions) (*Advice, error) {
	preference, err := recommend.ParsePreference(o.Mood, o.DocType)
	if err != nil {
		e := fault.AsError(err)
		return nil, UsageError{fmt.Errorf("--%s: %s", strings.ReplaceAll(e.Param, "_", "-"), e.Message)}
	}

	model, err := o.model()
	if err != nil {
		return nil, UsageError{err}
	}
	recommender, done := newRecommender(ctx, o.Cache, model, o.Log)

	return &Advice{Recommender: recommender, Preference: preference, Close: done}, nil
}

// model makes the model that reads documents; it returns nil if the options name none. Errors name the flag.
func (o AdviceOptions) model() (*recommend.Model, error) {
	if o.Model == "" {
		if o.ModelURL != "" && o.ModelURL != DefaultAnalysisURL {
			return nil, errors.New("--analysis-url is set without --analysis-model; name a model")
		}

		return nil, nil
	}

	u, err := client.ParseAddress(o.ModelURL)
	if err != nil {
		return nil, fmt.Errorf("--analysis-url: %w; the default is %s", err, DefaultAnalysisURL)
	}

	engine, err := openai.New(inference.Upstream{
		Name: "analysis", Kind: inference.Plain, BaseURL: strings.TrimRight(o.ModelURL, "/"),
		Model: o.Model, APIKey: o.ModelKey,
	})
	if err != nil {
		return nil, fmt.Errorf("--analysis-url: %w", err)
	}

	return recommend.Engine(engine, o.Model, o.Model+" at "+u.Redacted()), nil
}

// newRecommender makes a recommender that opens its cache when it first needs it. done closes the cache. A cache
// that cannot be opened is only logged: the analysis runs without it.
func newRecommender(
	ctx context.Context, cfg cache.Config, model *recommend.Model, log *slog.Logger,
) (recommender *recommend.Recommender, done func()) {
	var mu sync.Mutex
	var opened cache.Cache
	open := func() cache.Cache {
		mu.Lock()
		defer mu.Unlock()

		c, err := cache.OpenOrMemory(ctx, cfg, cache.Options{Log: log})
		if err != nil {
			log.WarnContext(ctx, "the analysis cache cannot be opened", "error", err)
			return nil
		}
		opened = c

		return c
	}
	done = func() {
		mu.Lock()
		defer mu.Unlock()

		if opened == nil {
			return
		}

		if err := opened.Close(); err != nil {
			log.WarnContext(ctx, "the cache's counters were not written", "error", err)
		}
	}

	return recommend.New(recommend.Options{Log: log, Model: model, Cache: open}), done
}
