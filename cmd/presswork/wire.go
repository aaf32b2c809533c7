package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"presswork/api"
	"presswork/internal/analysis/recommend"
	"presswork/internal/cache"
	"presswork/internal/chromium"
	"presswork/internal/config"
	"presswork/internal/embedded"
	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/markdown/diagram"
	"presswork/internal/ready"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/themes"
	"presswork/worker"
)

// parts are what the two roles share, and how they are started and stopped.
type parts struct {
	cfg       config.Config
	roles     roles
	log       *slog.Logger
	life      *lifecycle
	tracer    trace.TracerProvider
	metrics   *prometheus.Registry
	checks    []ready.Check
	retention time.Duration

	redisURL string
	redis    redis.UniversalClient
	tasks    tasks.Options
	queue    *tasks.Client
	store    storage.Store
	keeper   *retention.Keeper
	secret   []byte // of the tokens in URLs
	themes   *themes.Catalogue
	outbound *guard.Policy     // of webhooks and remote images
	exports  *guard.Policy     // of exported pages
	diagrams *diagram.Renderer // nil without a browser
	// browserStats are of the worker's browsers, by what they are for.
	browserStats map[string]func() chromium.Stats
	// newRecommender makes a recommender that asks this model; nil for none.
	newRecommender func(*recommend.Model) *recommend.Recommender
	engine         *embedded.Engine // nil where INFERENCE_ENGINE is not set
	models         *inference.Source
	meter          *meter.Meter
}

// wire builds the parts that the roles need and starts them, in the order in
// which they need each other; life stops them in reverse. The worker takes
// tasks once everything else is known to be right. address is where the roles
// listen.
func wire(ctx context.Context, cfg config.Config, log *slog.Logger, r roles, life *lifecycle) (address string, err error) {
	p, err := share(ctx, cfg, log, r, life)
	if err != nil {
		return "", err
	}
	var taker *tasks.Server
	if r.worker {
		if taker, err = p.newWorker(ctx); err != nil {
			return "", err
		}
	}
	if r.api {
		return p.serve(ctx, taker)
	}
	if err := life.start(ctx, "worker", taker); err != nil {
		return "", err
	}
	ops := worker.NewOps(worker.OpsOptions{Addr: cfg.WorkerAddr, Checks: p.checks, Metrics: p.metrics, Log: log.With("component", "ops")})
	if err := life.start(ctx, "ops", ops); err != nil {
		return "", portError("WORKER_ADDR", "WORKER_ADDR", err)
	}
	log.InfoContext(ctx, "listening", "role", r.name(), "address", ops.Addr(), "workers", workers(cfg), "version", version())
	return ops.Addr(), nil
}

// share builds and starts what both roles need.
func share(ctx context.Context, cfg config.Config, log *slog.Logger, r roles, life *lifecycle) (p *parts, err error) {
	p = &parts{cfg: cfg, roles: r, log: log, life: life, metrics: prometheus.NewRegistry()}
	p.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if p.tracer, err = newTracing(ctx, cfg, r, life); err != nil {
		return nil, err
	}
	if p.redisURL, err = redisAddress(ctx, cfg, log, life); err != nil {
		return nil, err
	}
	index, err := tasks.Dial(p.redisURL, 0)
	if err != nil {
		return nil, usageError{fmt.Errorf("REDIS_URL: %w", err)}
	}
	p.redis = index
	counted := tasks.NewMetrics(p.metrics)
	counted.Watch(index)
	life.onStop("index", func(context.Context) error { return index.Close() })
	if err := await(ctx, log, "REDIS_URL", func(ctx context.Context) (bool, error) { return tasks.Reach(ctx, index) }); err != nil {
		return nil, err
	}
	if err := tasks.CheckEviction(ctx, index); err != nil {
		log.ErrorContext(ctx, "REDIS_URL: accepted jobs may be lost", "error", err)
	}
	if p.store, err = openStore(ctx, cfg, log, r, life); err != nil {
		return nil, err
	}
	p.retention = time.Duration(cfg.CacheRetentionDays) * 24 * time.Hour
	p.tasks = tasks.Options{
		Log:         log.With("component", "tasks"),
		Metrics:     counted,
		Retention:   p.retention,
		Records:     time.Duration(cfg.RecordRetentionDays) * 24 * time.Hour,
		MaxPending:  maxPending(cfg),
		MaxWait:     cfg.QueueMaxAge,
		WebhookData: func(rec tasks.Record) any { return api.WebhookData(p.secret, rec) },
		Discard:     func(ctx context.Context, rec tasks.Record) error { return p.keeper.Discard(ctx, rec.ID) },
		Queues:      queues(cfg),
		RenderSlots: workers(cfg),

		InferConcurrency: cfg.InferenceConcurrency,
		ToolConcurrency:  cfg.ToolConcurrency,
		AudioConcurrency: cfg.AudioConcurrency,
	}
	if p.queue, err = tasks.NewClient(p.redisURL, p.tasks); err != nil {
		return nil, err
	}
	if err := life.start(ctx, "queue", p.queue); err != nil {
		return nil, err
	}
	if err := p.claimStore(ctx); err != nil {
		return nil, err
	}
	p.keeper = retention.New(retention.Options{
		Store:      p.store,
		Redis:      p.redis,
		MaxBytes:   int64(cfg.CacheMaxSizeGB * (1 << 30)),
		Retention:  p.retention,
		Now:        p.queue.Now,
		Live:       p.queue.Needed,
		Deployment: p.deployment,
		RedisName:  p.redisName(),
		Log:        log.With("component", "storage"),
	})
	p.metrics.MustRegister(collected(p.queue.Skew, p.keeper.Counts)...)
	if err := life.start(ctx, "keeper", p.keeper); err != nil {
		return nil, err
	}
	if p.secret, err = tokenSecretOf(ctx, p.queue, cfg.TokenSecret); err != nil {
		return nil, err
	}
	p.themes = themes.Open(themes.Options{Dir: cfg.ThemesDir, Log: log.With("component", "themes")})
	if err := life.start(ctx, "themes", p.themes); err != nil {
		return nil, err
	}
	p.checks = dependencies(p.queue, p.store, r)
	if err := p.startEngine(ctx); err != nil {
		return nil, err
	}
	if err := p.policies(); err != nil {
		return nil, err
	}
	if err := p.openRecommender(); err != nil {
		return nil, err
	}
	return p, p.openModels(ctx)
}

// claimStore refuses a Redis whose nodes work on another store.
func (p *parts) claimStore(ctx context.Context) error {
	if _, none := p.store.(storage.None); none {
		return nil
	}
	host, _ := os.Hostname() // the same path may be another disk on another machine
	where, name := "PDF_OUTPUT_DIR", absolute(p.cfg.PDFOutputDir)+" on "+host
	if p.cfg.S3Endpoint != "" {
		where, name = "S3_BUCKET", p.cfg.S3Bucket+" at "+p.cfg.S3Endpoint
	}
	err := p.life.start(ctx, "claim", retention.NewClaim(retention.ClaimOptions{
		Store:      p.store,
		Redis:      p.redis,
		Deployment: p.deployment,
		StoreName:  name,
		RedisName:  p.redisName(),
		Log:        p.log.With("component", "storage"),
	}))
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	return nil
}

// deployment is the name of the data in this Redis, lost with it.
func (p *parts) deployment(ctx context.Context) (string, error) {
	id, err := p.queue.Secret(ctx, "deployment")
	return hex.EncodeToString(id[:min(len(id), 8)]), err
}

// redisName is for people, without passwords.
func (p *parts) redisName() string {
	return cmp.Or(config.RedactURLs(p.cfg.RedisURL), "the private one in DATA_DIR "+absolute(p.cfg.DataDir))
}

// absolute is a directory's whole path, as far as it can be known.
func absolute(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		return whole
	}
	return dir
}

// openRecommender makes what reads documents and chooses their themes; the
// roles reach the model by ways of their own.
func (p *parts) openRecommender() error {
	client := p.redis
	if p.cfg.CacheRedisURL != "" {
		var err error
		if client, err = tasks.Dial(p.cfg.CacheRedisURL, 0); err != nil {
			return usageError{fmt.Errorf("CACHE_REDIS_URL: %w", err)}
		}
		p.life.onStop("cache", func(context.Context) error { return client.Close() })
	}
	log := p.log.With("component", "analysis")
	p.newRecommender = func(model *recommend.Model) *recommend.Recommender {
		return recommend.New(recommend.Options{
			Model: model,
			Cache: func() cache.Cache { return cache.NewRedis(client, cache.Options{MaxEntries: adviceEntries, Log: log}) }, Log: log,
		})
	}
	return nil
}

// adviceEntries caps what is remembered of analysed documents: a few kilobytes
// each.
const adviceEntries = 20_000

// policies are which addresses may be dialled for a caller.
func (p *parts) policies() error {
	own, err := ownAddresses(p.cfg, p.redisURL)
	if err != nil {
		return usageError{err}
	}
	if p.engine != nil {
		own = append(own, p.engine.Address())
	}
	p.outbound, p.exports, err = newPolicies(p.cfg, own)
	return err
}

// newPolicies makes the policies of what a caller names and of pages to export; own
// are the addresses that neither ever reaches.
func newPolicies(cfg config.Config, own []string) (outbound, exports *guard.Policy, err error) {
	outbound, err = guard.New(guard.Options{Allow: cfg.OutboundAllowPrivate, Setting: "OUTBOUND_ALLOW_PRIVATE", Never: own})
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("OUTBOUND_ALLOW_PRIVATE: %w", err)}
	}
	exports, err = guard.New(guard.Options{
		Allow: cfg.ExportAllowPrivate, Setting: "EXPORT_ALLOW_PRIVATE", Never: own,
		AllowHosts: cfg.ExportAllowHosts, DenyHosts: cfg.ExportDenyHosts,
	})
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("EXPORT_ALLOW_PRIVATE, EXPORT_ALLOW_HOSTS, EXPORT_DENY_HOSTS: %w", err)}
	}
	return outbound, exports, nil
}

// fetcher fetches the remote images of documents.
func (p *parts) fetcher() *guard.Fetcher {
	return guard.NewFetcher(p.outbound, guard.FetchOptions{UserAgent: "Presswork/" + version()})
}

// serve starts the API, and the worker where this process is one too.
func (p *parts) serve(ctx context.Context, taker *tasks.Server) (address string, err error) {
	cfg := p.cfg
	monitor, err := tasks.NewMonitor(p.redisURL, "/monitor", cfg.MonitorReadonly)
	if err != nil {
		return "", err
	}
	p.life.onStop("monitor", monitor.Stop)
	recommender := p.newRecommender(nil)
	if p.cfg.AnalysisModel != "" {
		recommender = p.newRecommender(recommend.Queue(p.queue, p.cfg.AnalysisModel))
	}
	server, err := api.New(api.Options{
		Addr:             net.JoinHostPort(cfg.APIHost, strconv.Itoa(cfg.APIPort)),
		TLSCert:          cfg.APITLSCert,
		TLSKey:           cfg.APITLSKey,
		Queue:            p.queue,
		Store:            p.store,
		Keeper:           p.keeper,
		Themes:           p.themes,
		Webhooks:         p.outbound,
		Exports:          p.exports,
		ExportAuthOff:    cfg.ExportAuth == "off",
		Recommender:      recommender,
		Inference:        p.inferenceRoutes(),
		TokenSecret:      p.secret,
		Keys:             cfg.APIKeys,
		KeysFile:         cmp.Or(cfg.KeysConfig, defaultKeys),
		KeysFileOptional: cfg.KeysConfig == "",
		AuthOff:          cfg.APIAuth == "off",
		AllowedOrigins:   cfg.AllowedOrigins,
		TrustedProxies:   cfg.TrustedProxies,
		Fetch:            p.fetcher().Fetch,
		Diagrams:         p.diagrams,
		MaxContentBytes:  cfg.MaxContentBytes,
		MaxUploadBytes:   cfg.MaxUploadBytes,
		MaxAudioBytes:    cfg.MaxAudioBytes,
		Recordings:       p.outbound,
		RateLimitRPM:     cfg.RateLimitRPM,
		Meter:            p.meter,
		Checks:           append(p.checks, workersCheck(p.queue, p.roles)),
		Monitor:          monitor,
		Stats:            p.queue.Fleet,
		Events:           p.queue.Events,
		Metrics:          p.metrics,
		Tracer:           p.tracer,
		Log:              p.log.With("component", "api"),
	})
	if err != nil {
		return "", usageError{err}
	}
	if taker != nil {
		if err := p.life.start(ctx, "worker", taker); err != nil {
			return "", err
		}
	}
	if err := server.Start(ctx); err != nil {
		return "", portError("API_PORT", "API_HOST", err)
	}
	// A client that reads slowly must not use up the workers' time to drain.
	p.life.onStop("api", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, apiDrainLimit, errors.New("clients were still connected"))
		defer cancel()
		return server.Stop(ctx)
	})
	p.log.InfoContext(ctx, "listening", "role", p.roles.name(), "address", server.Address(), "version", version())
	return server.Address(), nil
}
