package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"presswork/internal/config"
	"presswork/internal/embedded"
	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/internal/inference/anthropic"
	"presswork/internal/inference/catalogue"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/ollama"
	"presswork/internal/inference/openai"
	"presswork/internal/inference/toolserver"
	"presswork/tasks/slots"
	"presswork/worker/tools"
)

// defaultModels is the file of models where INFERENCE_CONFIG names none.
const defaultModels = "models.yaml"

// newSource reads models.yaml. The error is a UsageError that names the setting.
func newSource(ctx context.Context, o catalogue.SourceOptions) (*catalogue.Source, error) {
	source, err := catalogue.NewSource(ctx, o)
	if err != nil {
		return nil, UsageError{fmt.Errorf("INFERENCE_CONFIG: %w", err)}
	}

	return source, nil
}

// modelSource returns where the models come from: a file, and the engines of this machine without one.
func modelSource(cfg config.Config, log *slog.Logger) catalogue.SourceOptions {
	engine := ollama.New("")

	return catalogue.SourceOptions{
		Path:     cmp.Or(cfg.InferenceConfig, defaultModels),
		Optional: cfg.InferenceConfig == "",
		Log:      log,
		Discover: []func(context.Context) ([]inference.Model, error){
			engine.Models,
			func(ctx context.Context) ([]inference.Model, error) {
				return openai.FindLlamaServer(ctx, openai.DefaultLlamaServer)
			},
		},
	}
}

// startOllama starts the Ollama of this machine if the settings ask for it. Otherwise it logs that it could.
func startOllama(ctx context.Context, cfg config.Config, roles Roles, log *slog.Logger, life *lifecycle) error {
	log = log.With("component", "ollama")
	if cfg.InferenceStartOllama && roles.Worker {
		return life.start(ctx, "ollama", embedded.NewOllama(log))
	}
	_, err := os.Stat(cmp.Or(cfg.InferenceConfig, defaultModels))

	configured := !errors.Is(err, fs.ErrNotExist)
	if roles.both() && !configured && embedded.OllamaInstalled() && !embedded.OllamaRunning(ctx) {
		log.InfoContext(ctx,
			"ollama is installed and not running: INFERENCE_START_OLLAMA=true starts it with Presswork")
	}

	return nil
}

// startEngine starts the model server that INFERENCE_ENGINE names; it returns nil if the setting is empty.
func startEngine(ctx context.Context, cfg config.Config, log *slog.Logger, life *lifecycle) (*embedded.Engine, error) {
	if cfg.InferenceEngine == "" {
		return nil, nil
	}

	engine, err := embedded.NewEngine(embedded.EngineOptions{
		Program: cfg.InferenceEngine, Model: cfg.InferenceEngineModel, Log: log.With("component", "engine"),
	})
	if err != nil {
		return nil, UsageError{fmt.Errorf("INFERENCE_ENGINE: %w", err)}
	}

	return engine, life.start(ctx, "engine", engine)
}

// engineModels queries the engine that Presswork started for its models.
func engineModels(ctx context.Context, engine *embedded.Engine, file string) ([]inference.Model, error) {
	base := "http://" + engine.Address()
	if !engine.Transcribes() {
		return openai.FindLlamaServer(ctx, base)
	}
	name := filepath.Base(file)

	return []inference.Model{{
		ID: strings.TrimSuffix(name, filepath.Ext(name)), OwnedBy: "whisper.cpp",
		Capabilities: []string{inference.CanTranscribe},
		Upstreams: []inference.Upstream{
			{Name: "whisper-server", Kind: inference.WhisperServer, BaseURL: base + "/v1"},
		},
	}}, nil
}

// engineInterval is the time between two queries of Presswork's own engine for its models: the engine may still load
// one.
const engineInterval = 2 * time.Second

// openModels reads the models that both roles need, and follows their changes. engine may be nil. Errors:
// UsageError for models.yaml, an Ollama that does not start.
func openModels(
	ctx context.Context, cfg config.Config, roles Roles, engine *embedded.Engine, log *slog.Logger, life *lifecycle,
) (*catalogue.Source, error) {
	if err := startOllama(ctx, cfg, roles, log, life); err != nil {
		return nil, err
	}

	options := modelSource(cfg, log.With("component", "inference"))
	if engine != nil {
		options.DiscoverInterval = engineInterval
		options.Discover = append(options.Discover, func(ctx context.Context) ([]inference.Model, error) {
			return engineModels(ctx, engine, cfg.InferenceEngineModel)
		})
	}

	source, err := newSource(ctx, options)
	if err != nil {
		return nil, err
	}
	life.inBackground("models", source.Run)

	return source, nil
}

// openEngine opens the engine of an upstream by its kind. Errors: the upstream's address or options are invalid.
func openEngine(u inference.Upstream) (inference.Engine, error) {
	if u.Kind == inference.Anthropic {
		return anthropic.New(u)
	}

	return openai.New(u)
}

// maxChatImage is the largest image that is fetched for a model, in bytes.
const maxChatImage = 20 << 20

// newGateway makes the gateway to the upstreams.
func newGateway(
	o Options, models func() *inference.Catalogue, outbound *guard.Policy, toolbox *tools.Toolbox,
) *gateway.Gateway {
	images := guard.NewFetcher(outbound, guard.FetchOptions{
		UserAgent: agent(o.Version), MaxBytes: maxChatImage, MaxPixels: inference.MaxImagePixels,
	})

	return gateway.New(gateway.Options{
		Catalogue:  models,
		Open:       openEngine,
		FetchImage: images.Fetch,
		Idle:       slots.Idle,
		Tools:      toolbox,
		Servers: toolserver.New(toolserver.Options{
			Version: o.Version,
			Client: func(s *inference.ToolServer) (*http.Client, *url.URL, error) {
				return serverClient(outbound, s)
			},
		}),
		Log: o.Log.With("component", "inference"),
	})
}

const (
	// serverTimeout bounds a request to an MCP server. The tools have shorter limits of their own.
	serverTimeout = 5 * time.Minute
	// serverRedirects is how many redirects of an MCP server are followed.
	serverRedirects = 3
)

// serverClient returns a client for an MCP server, and its canonical address. If the operator permits a private
// address, the client reaches only this one in addition to public addresses.
func serverClient(outbound *guard.Policy, s *inference.ToolServer) (*http.Client, *url.URL, error) {
	if s.Private() {
		at, err := url.Parse(s.URL)
		if err != nil {
			return nil, nil, err
		}
		port := cmp.Or(at.Port(), map[string]string{"http": "80", "https": "443"}[at.Scheme])

		if outbound, err = guard.New(guard.Options{Allow: net.JoinHostPort(at.Hostname(), port)}); err != nil {
			return nil, nil, err
		}
	}

	at, err := outbound.CheckURL(s.URL)
	if err != nil {
		return nil, nil, err
	}

	return outbound.Client(guard.ClientOptions{Timeout: serverTimeout, MaxRedirects: serverRedirects}), at, nil
}
