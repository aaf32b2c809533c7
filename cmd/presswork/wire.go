package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"presswork"
	"presswork/api"
	"presswork/internal/chromium"
	"presswork/internal/config"
	"presswork/internal/embedded"
	"presswork/internal/fonts"
	"presswork/internal/guard"
	"presswork/internal/pdf"
	"presswork/internal/ready"
	"presswork/storage"
	"presswork/storage/minio"
	"presswork/tasks"
	"presswork/themes"
	"presswork/worker"
)

// wire builds the parts that the roles need and starts them, in the order in
// which they need each other; life stops them in reverse. It is one straight
// line on purpose: the dataflow of the program is these local variables.
func wire(ctx context.Context, cfg config.Config, log *slog.Logger, r roles, life *lifecycle) error {
	tracer, err := newTracing(ctx, cfg, r, life)
	if err != nil {
		return err
	}
	redisURL, err := redisAddress(ctx, cfg, log, life)
	if err != nil {
		return err
	}
	index, err := tasks.Dial(redisURL, 0)
	if err != nil {
		return usageError{fmt.Errorf("REDIS_URL: %w", err)}
	}
	life.onStop("index", func(context.Context) error { return index.Close() })

	store, err := openStore(ctx, cfg, log, life)
	if err != nil {
		return err
	}
	retention := time.Duration(cfg.CacheRetentionDays) * 24 * time.Hour
	var tokenSecret []byte
	queueOptions := tasks.Options{
		Log:         log.With("room", "tasks"),
		Retention:   retention,
		WebhookData: func(rec tasks.Record) any { return api.WebhookData(tokenSecret, rec) },
		Queues:      queues(cfg),
		RenderSlots: workers(cfg),
	}
	queue, err := tasks.NewClient(redisURL, queueOptions)
	if err != nil {
		return err
	}
	if err := life.start(ctx, "queue", queue); err != nil {
		return err
	}
	keeper := storage.NewKeeper(storage.KeeperOptions{
		Store:     store,
		Redis:     index,
		MaxBytes:  int64(cfg.CacheMaxSizeGB * (1 << 30)),
		Retention: retention,
		Live:      func(ctx context.Context, jobID string) (bool, error) { return live(queue.Job(ctx, jobID)) },
		Log:       log.With("room", "storage"),
	})
	if err := life.start(ctx, "keeper", keeper); err != nil {
		return err
	}
	if tokenSecret, err = tokenSecretOf(ctx, queue, cfg.TokenSecret); err != nil {
		return err
	}

	catalogue, err := themes.Open(themes.Options{Dir: cfg.ThemesDir, Log: log.With("room", "themes")})
	if err != nil {
		return err
	}
	if err := life.start(ctx, "themes", catalogue); err != nil {
		return err
	}
	own, err := ownAddresses(cfg, redisURL)
	if err != nil {
		return usageError{err}
	}
	outbound, err := guard.New(guard.Options{Allow: cfg.OutboundAllowPrivate, Setting: "OUTBOUND_ALLOW_PRIVATE", Never: own})
	if err != nil {
		return usageError{fmt.Errorf("OUTBOUND_ALLOW_PRIVATE: %w", err)}
	}
	exports, err := guard.New(guard.Options{
		Allow: cfg.ExportAllowPrivate, Setting: "EXPORT_ALLOW_PRIVATE", Never: own,
		AllowHosts: cfg.ExportAllowHosts, DenyHosts: cfg.ExportDenyHosts,
	})
	if err != nil {
		return usageError{fmt.Errorf("EXPORT_ALLOW_PRIVATE, EXPORT_ALLOW_HOSTS, EXPORT_DENY_HOSTS: %w", err)}
	}

	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	checks := []ready.Check{
		{Name: "redis", Probe: func(ctx context.Context) (map[string]any, error) { return nil, queue.Health(ctx) }},
		{Name: "store", Probe: func(ctx context.Context) (map[string]any, error) { return nil, store.Health(ctx) }},
	}

	// The worker takes tasks once everything else is known to be right.
	var taker *tasks.Server
	if r.worker {
		profiles, err := profileDir(cfg)
		if err != nil {
			return usageError{err}
		}
		fontConfig, err := fonts.Install(profiles)
		if err != nil {
			log.WarnContext(ctx, "documents are printed with the system's fonts", "error", err)
		}
		browser := chromium.New(chromium.Options{
			Path: cfg.ChromiumPath, Tabs: workers(cfg), PrintTimeout: cfg.RenderTimeout, Dir: profiles, FontConfig: fontConfig,
			Log: log.With("room", "chromium"),
		})
		if err := life.start(ctx, "browser", browser); err != nil {
			return err
		}
		metrics.MustRegister(worker.BrowserMetrics(browser.Stats))
		checks = append(checks, browserCheck(browser))
		// It starts its browser with the first page.
		exporter := chromium.NewExporter(chromium.ExporterOptions{
			Browser: chromium.Options{Path: cfg.ChromiumPath, Tabs: workers(cfg), Dir: profiles, Log: log.With("room", "export")},
			Policy:  exports,
		})
		if err := life.start(ctx, "exporter", exporter); err != nil {
			return err
		}
		jobs := worker.New(worker.Options{
			Store:  store,
			Keeper: keeper,
			Converter: pdf.New(pdf.Options{
				Printer: browser,
				Themes:  catalogue,
				Fetch:   guard.NewFetcher(outbound, guard.FetchOptions{UserAgent: "Presswork/" + version()}).Fetch,
				Log:     log.With("room", "pdf"),
			}),
			Picture: func(ctx context.Context, page presswork.Page) ([]byte, error) {
				return browser.Screenshot(ctx, page, chromium.ScreenshotOptions{})
			},
			Exporter:      exporter,
			Themes:        catalogue,
			RenderTimeout: cfg.RenderTimeout,
			Retention:     retention,
			Metrics:       metrics,
			Tracer:        tracer,
			Log:           log.With("room", "worker"),
		})
		webhookSecret, err := webhookSecret(ctx, queue, cfg.WebhookSecret)
		if err != nil {
			return err
		}
		webhooks, err := worker.NewWebhooks(worker.WebhookOptions{
			Policy: outbound, Secret: webhookSecret, Version: version(), Metrics: metrics, Log: log.With("room", "webhooks"),
		})
		if err != nil {
			return usageError{fmt.Errorf("WEBHOOK_SECRET: %w", err)}
		}
		if taker, err = tasks.NewServer(redisURL, queueOptions); err != nil {
			return err
		}
		tasks.Handle(taker, tasks.ConvertPDF, jobs.Convert)
		tasks.Handle(taker, tasks.ExportPage, jobs.Export)
		tasks.HandlePlain(taker, tasks.RenderPreview, jobs.Preview)
		tasks.HandlePlain(taker, tasks.DeliverWebhook, webhooks.Deliver)
	}

	if !r.api {
		if err := life.start(ctx, "worker", taker); err != nil {
			return err
		}
		ops := worker.NewOps(worker.OpsOptions{Addr: cfg.WorkerAddr, Checks: checks, Metrics: metrics, Log: log.With("room", "ops")})
		if err := life.start(ctx, "ops", ops); err != nil {
			return err
		}
		log.InfoContext(ctx, "listening", "role", r.name(), "address", ops.Addr(), "workers", workers(cfg), "version", version())
		return nil
	}

	monitor, err := tasks.NewMonitor(redisURL, "/monitor", cfg.MonitorReadonly)
	if err != nil {
		return err
	}
	life.onStop("monitor", monitor.Stop)
	server, err := api.New(api.Options{
		Addr:            net.JoinHostPort(cfg.APIHost, strconv.Itoa(cfg.APIPort)),
		TLSCert:         cfg.APITLSCert,
		TLSKey:          cfg.APITLSKey,
		Queue:           queue,
		Store:           store,
		Keeper:          keeper,
		Themes:          catalogue,
		Webhooks:        outbound,
		Exports:         exports,
		ExportAuthOff:   cfg.ExportAuth == "off",
		TokenSecret:     tokenSecret,
		Keys:            cfg.APIKeys,
		KeysFile:        keysFile(cfg),
		AuthOff:         cfg.APIAuth == "off",
		AllowedOrigins:  cfg.AllowedOrigins,
		TrustedProxies:  cfg.TrustedProxies,
		Fetch:           guard.NewFetcher(outbound, guard.FetchOptions{UserAgent: "Presswork/" + version()}).Fetch,
		MaxContentBytes: cfg.MaxContentBytes,
		MaxUploadBytes:  cfg.MaxUploadBytes,
		RateLimitRPM:    cfg.RateLimitRPM,
		Redis:           index,
		Checks:          append(checks, workersCheck(queue, r)),
		Monitor:         monitor,
		Stats:           queue.Stats,
		Metrics:         metrics,
		Tracer:          tracer,
		Log:             log.With("room", "api"),
	})
	if err != nil {
		return usageError{err}
	}
	if r.worker {
		if err := life.start(ctx, "worker", taker); err != nil {
			return err
		}
	}
	if err := server.Start(ctx); err != nil {
		return err
	}
	// A client that reads slowly must not use up the workers' time to drain.
	life.onStop("api", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, apiDrainLimit, errors.New("clients were still connected"))
		defer cancel()
		return server.Stop(ctx)
	})
	log.InfoContext(ctx, "listening", "role", r.name(), "address", server.Address(), "version", version())
	return nil
}

// redisAddress is the operator's Redis, else that of a private child.
func redisAddress(ctx context.Context, cfg config.Config, log *slog.Logger, life *lifecycle) (string, error) {
	if cfg.RedisURL != "" {
		return cfg.RedisURL, nil
	}
	child, err := embedded.New(embedded.Options{Dir: filepath.Join(cfg.DataDir, "redis"), Log: log.With("room", "redis")})
	if err != nil {
		return "", err
	}
	return child.URL(), life.start(ctx, "redis", child)
}

// openStore is the operator's S3, else a folder.
func openStore(ctx context.Context, cfg config.Config, log *slog.Logger, life *lifecycle) (storage.Store, error) {
	if cfg.S3Endpoint == "" {
		return storage.OpenDisk(storage.DiskOptions{Dir: cfg.PDFOutputDir})
	}
	s3, err := minio.New(minio.Options{
		Endpoint:       cfg.S3Endpoint,
		PublicEndpoint: cfg.S3PublicEndpoint,
		Bucket:         cfg.S3Bucket,
		AccessKey:      cfg.S3AccessKey,
		SecretKey:      cfg.S3SecretKey,
		Region:         cfg.S3Region,
		UseTLS:         cfg.S3UseTLS,
		Log:            log.With("room", "minio"),
	})
	if err != nil {
		return nil, usageError{err}
	}
	return s3, life.start(ctx, "store", s3)
}

// live tells whether a job still needs its sources.
func live(rec tasks.Record, err error) (bool, error) {
	if presswork.CodeOf(err) == presswork.NotFound {
		return false, nil
	}
	return !rec.Status.Terminal(), err
}

// profileDir is where browser profiles are made. The browser of a root process
// runs as a user who may not pass through the folders of others, so that its
// profiles go to the system's temporary directory.
func profileDir(cfg config.Config) (string, error) {
	if os.Geteuid() == 0 {
		return "", nil
	}
	dir, err := filepath.Abs(filepath.Join(cfg.CacheDir, "browser"))
	if err != nil {
		return "", fmt.Errorf("CACHE_DIR: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("CACHE_DIR: %w", err)
	}
	return dir, nil
}

func workers(cfg config.Config) int {
	if cfg.Workers == 0 {
		return runtime.NumCPU()
	}
	return cfg.Workers
}

func queues(cfg config.Config) []tasks.Queue {
	var out []tasks.Queue
	for _, name := range cfg.WorkerQueues {
		out = append(out, tasks.Queue(name))
	}
	return out
}

const shortestSecret = 16

// tokenSecretOf is the operator's, else the one that the nodes share in Redis.
func tokenSecretOf(ctx context.Context, queue *tasks.Client, given string) ([]byte, error) {
	if given == "" {
		return queue.Secret(ctx, "token")
	}
	if len(given) < shortestSecret {
		return nil, usageError{fmt.Errorf("TOKEN_SECRET: it has %d bytes; allowed: %d or more", len(given), shortestSecret)}
	}
	return []byte(given), nil
}

func webhookSecret(ctx context.Context, queue *tasks.Client, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	b, err := queue.Secret(ctx, "webhook")
	return "whsec_" + base64.StdEncoding.EncodeToString(b), err
}

const defaultKeys = "keys.yaml"

// keysFile is KEYS_CONFIG, else keys.yaml where there is one.
func keysFile(cfg config.Config) string {
	if _, err := os.Stat(defaultKeys); cfg.KeysConfig == "" && err == nil {
		return defaultKeys
	}
	return cfg.KeysConfig
}

// ownAddresses are the services of Presswork itself: no document and no webhook
// may reach them, whatever OUTBOUND_ALLOW_PRIVATE opens.
func ownAddresses(cfg config.Config, redisURL string) ([]string, error) {
	own, err := tasks.Hosts(redisURL)
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	own = append(own, net.JoinHostPort(cfg.APIHost, strconv.Itoa(cfg.APIPort)), cfg.WorkerAddr,
		endpoint(cfg.S3Endpoint, cfg.S3UseTLS), endpoint(cfg.S3PublicEndpoint, cfg.S3UseTLS))
	// Port 0 is a free port that nobody knows yet.
	return slices.DeleteFunc(own, func(a string) bool { return a == "" || strings.HasSuffix(a, ":0") }), nil
}

// endpoint is the host:port of an S3 endpoint, which may be a bare host or a URL.
func endpoint(s string, secure bool) string {
	if s == "" {
		return ""
	}
	if scheme, rest, found := strings.Cut(s, "://"); found {
		s, secure = rest, scheme == "https"
	}
	host, _, _ := strings.Cut(s, "/")
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	port := "80"
	if secure {
		port = "443"
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

func workersCheck(queue *tasks.Client, r roles) ready.Check {
	return ready.Check{Name: "workers", Optional: !r.worker, Probe: func(ctx context.Context) (map[string]any, error) {
		n, err := queue.Workers(ctx)
		if err == nil && n == 0 {
			err = errors.New("no worker is running")
		}
		return map[string]any{"count": n}, err
	}}
}

func browserCheck(browser *chromium.Browser) ready.Check {
	return ready.Check{Name: "browser", Probe: func(ctx context.Context) (map[string]any, error) {
		err := browser.Health(ctx)
		on, why := browser.Sandbox()
		detail := map[string]any{"sandbox": on}
		if !on && err == nil {
			detail["reason"] = why
		}
		return detail, err
	}}
}
