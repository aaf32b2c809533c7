package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"presswork/internal/analysis/recommend"
	"presswork/internal/cache"
	"presswork/internal/chromium"
	"presswork/internal/config"
	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/internal/inference/ollama"
	"presswork/internal/inference/openai"
	"presswork/internal/inference/sandbox"
)

// NoBrowser reports whether err means that this machine has no Chromium.
func NoBrowser(err error) bool { return errors.Is(err, chromium.ErrNotFound) }

// NewFetcher makes the fetcher of remote images for documents of a command. A wrong setting is a UsageError.
func NewFetcher(cfg config.Config, version string) (*guard.Fetcher, error) {
	policy, err := guard.New(guard.Options{Allow: cfg.OutboundAllowPrivate, Setting: "OUTBOUND_ALLOW_PRIVATE"})
	if err != nil {
		return nil, UsageError{fmt.Errorf("OUTBOUND_ALLOW_PRIVATE: %w", err)}
	}

	return guard.NewFetcher(policy, guard.FetchOptions{UserAgent: agent(version)}), nil
}

// ExportPolicy makes the policy of a page that a command exports. allow is the value of --allow-private; the settings
// apply if it is empty. A wrong value is a UsageError.
func ExportPolicy(cfg config.Config, allow string) (*guard.Policy, error) {
	setting := "--allow-private"
	if allow == "" {
		allow, setting = cfg.ExportAllowPrivate, "EXPORT_ALLOW_PRIVATE"
	}

	policy, err := guard.New(guard.Options{
		Allow: allow, Setting: setting, AllowHosts: cfg.ExportAllowHosts, DenyHosts: cfg.ExportDenyHosts,
	})
	if err != nil {
		return nil, UsageError{fmt.Errorf("%s: %w", setting, err)}
	}

	return policy, nil
}

// AnalysisModel makes the model that reads documents for a command, at an OpenAI-compatible address. shown is the
// address without a password.
func AnalysisModel(model, url, key, shown string) (*recommend.Model, error) {
	engine, err := openai.New(inference.Upstream{
		Name: "analysis", Kind: inference.Plain, BaseURL: strings.TrimRight(url, "/"), Model: model, APIKey: key,
	})
	if err != nil {
		return nil, err
	}

	return recommend.Engine(engine, model, model+" at "+shown), nil
}

// NewRecommender makes a recommender that opens its cache when it first needs it. done closes the cache.
func NewRecommender(
	ctx context.Context, cfg cache.Config, model *recommend.Model, log *slog.Logger,
) (recommender *recommend.Recommender, done func()) {
	var mu sync.Mutex
	var opened cache.Cache
	open := func() cache.Cache {
		mu.Lock()
		defer mu.Unlock()

		c, err := cache.OpenOrMemory(ctx, cfg, cache.Options{Log: log})
		if err != nil {
			log.WarnContext(ctx, "there is no cache", "error", err)
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

// ModelGateway makes a gateway that checks and explains the upstreams of a catalogue.
func ModelGateway(c *inference.Catalogue) *inference.Gateway {
	return inference.NewGateway(inference.GatewayOptions{
		Catalogue: func() *inference.Catalogue { return c }, Open: openai.New,
	})
}

// ModelsJSON returns the list of models as the API returns it.
func ModelsJSON(c *inference.Catalogue) []byte { return openai.AppendModels(nil, c.Models()) }

// PullModel fetches a model through the Ollama of this machine. step gets the server's words for each step and how many
// of how many bytes are done; total is 0 if it is not known.
func PullModel(ctx context.Context, name string, step func(status string, done, total int64)) error {
	return ollama.New("").Pull(ctx, name, func(p ollama.Progress) { step(p.Status, p.Completed, p.Total) })
}

// PythonFiles reads files that Python finds in /data.
func PythonFiles(paths []string) ([]sandbox.File, error) {
	var files []sandbox.File

	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, sandbox.File{Name: filepath.Base(path), Data: content})
	}

	return files, nil
}
