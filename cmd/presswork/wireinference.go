package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"presswork/api"
	"presswork/internal/config"
	"presswork/internal/embedded"
	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/inference/ollama"
	"presswork/internal/inference/openai"
	"presswork/tasks"
	"presswork/worker"
)

const defaultModels = "models.yaml"

// modelSource is where the models come from.
func modelSource(cfg config.Config, log *slog.Logger) inference.SourceOptions {
	engine := ollama.New("")
	return inference.SourceOptions{
		Path:     cmp.Or(cfg.InferenceConfig, defaultModels),
		Optional: cfg.InferenceConfig == "",
		Log:      log,
		Discover: []func(context.Context) ([]inference.Model, error){engine.Models, func(ctx context.Context) ([]inference.Model, error) {
			return openai.FindLlamaServer(ctx, openai.DefaultLlamaServer)
		}},
	}
}

// startOllama starts the engine of this machine where that is asked for, and
// else shows that it could.
func (p *parts) startOllama(ctx context.Context) error {
	log := p.log.With("component", "ollama")
	if p.cfg.InferenceStartOllama && p.roles.worker {
		return p.life.start(ctx, "ollama", embedded.NewOllama(log))
	}
	_, err := os.Stat(cmp.Or(p.cfg.InferenceConfig, defaultModels))
	if p.roles.api && p.roles.worker && errors.Is(err, fs.ErrNotExist) && embedded.OllamaInstalled() && !embedded.OllamaRunning(ctx) {
		log.InfoContext(ctx, "ollama is installed and not running: INFERENCE_START_OLLAMA=true starts it with Presswork")
	}
	return nil
}

// startEngine starts the model server that INFERENCE_ENGINE names.
func (p *parts) startEngine(ctx context.Context) (err error) {
	if p.cfg.InferenceEngine == "" {
		return nil
	}
	p.engine, err = embedded.NewEngine(embedded.EngineOptions{
		Program: p.cfg.InferenceEngine, Model: p.cfg.InferenceEngineModel, Log: p.log.With("component", "engine"),
	})
	if err != nil {
		return usageError{fmt.Errorf("INFERENCE_ENGINE: %w", err)}
	}
	return p.life.start(ctx, "engine", p.engine)
}

// engineModels are those of our own engine.
func (p *parts) engineModels(ctx context.Context) ([]inference.Model, error) {
	base := "http://" + p.engine.Address()
	if !p.engine.Transcribes() {
		return openai.FindLlamaServer(ctx, base)
	}
	name := filepath.Base(p.cfg.InferenceEngineModel)
	return []inference.Model{{
		ID: strings.TrimSuffix(name, filepath.Ext(name)), OwnedBy: "whisper.cpp", Capabilities: []string{inference.CanTranscribe},
		Upstreams: []inference.Upstream{{Name: "whisper-server", Kind: inference.WhisperServer, BaseURL: base + "/v1"}},
	}}, nil
}

// engineLooks is how often our own engine is asked for its models: it may be loading one.
const engineLooks = 2 * time.Second

// openModels reads the models that both roles need, and follows them.
func (p *parts) openModels(ctx context.Context) error {
	if err := p.startOllama(ctx); err != nil {
		return err
	}
	options := modelSource(p.cfg, p.log.With("component", "inference"))
	if p.engine != nil {
		options.Discover, options.DiscoverInterval = append(options.Discover, p.engineModels), engineLooks
	}
	source, err := inference.NewSource(ctx, options)
	if err != nil {
		return usageError{fmt.Errorf("INFERENCE_CONFIG: %w", err)}
	}
	p.models = source
	p.meter = meter.New(p.redis, p.log.With("component", "meter"))
	p.life.inBackground("models", source.Run)
	p.life.inBackground("meter", p.meter.Keep)
	return nil
}

// inferenceRoutes wire the API's part of inference.
func (p *parts) inferenceRoutes() *api.Inference {
	return &api.Inference{
		Calls: p.queue, Models: p.models.Current, Vendor: p.cfg.InferenceVendor, Lax: p.cfg.InferenceLax,
		QueueTimeout: p.cfg.InferenceQueueTimeout,
	}
}

// maxChatImage is the largest image that is fetched for a model, in bytes.
const maxChatImage = 20 << 20

// handleCompletions wires the worker's part of inference.
func (p *parts) handleCompletions(taker *tasks.Server) *worker.Completions {
	gateway := inference.NewGateway(inference.GatewayOptions{
		Catalogue:  p.models.Current,
		Open:       openai.New,
		FetchImage: guard.NewFetcher(p.outbound, guard.FetchOptions{UserAgent: "Presswork/" + version(), MaxBytes: maxChatImage, MaxPixels: inference.MaxImagePixels}).Fetch,
		Idle:       tasks.Idle,
		Tools:      worker.NewToolbox(worker.ToolboxOptions{Queue: p.queue, Store: p.store, Keeper: p.keeper, Log: p.log.With("component", "tools")}),
		Log:        p.log.With("component", "inference"),
	})
	completions := worker.NewCompletions(worker.CompletionOptions{
		Gateway: gateway, Meter: p.meter, Store: p.store, Keeper: p.keeper,
		Metrics: p.metrics, Tracer: p.tracer, Log: p.log.With("component", "inference"),
	})
	tasks.HandleCalls(taker, completions.Complete)
	return completions
}
