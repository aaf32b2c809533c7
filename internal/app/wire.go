package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"presswork/api"
	"presswork/api/views"
	"presswork/internal/analysis/recommend"
	"presswork/internal/cache"
	"presswork/internal/chromium"
	"presswork/internal/guard"
	"presswork/internal/inference/meter"
	"presswork/internal/markdown/diagram"
	"presswork/internal/ready"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/tasks/monitor"
	"presswork/themes"
	"presswork/worker"
	"presswork/worker/tools"
)

// New builds every part that the roles need and connects them to Redis, the store and the browser. It takes no task
// and does not listen yet. A setting that it cannot use is a UsageError. After an error, New has stopped what it
// started.
//
// The function is long because it is the plan of the process. Each part is one local variable and uses only
// variables above it. Decisions are in functions that receive the parts they need.
func New(ctx context.Context, o Options) (_ *App, err error) {
	cfg, log, roles := o.Config, o.Log, o.Roles
	// Before the first client: the logger must not change while a client is used.
	logRedisClient(log)
	life := &lifecycle{log: log}

	defer func() {
		if err != nil {
			err = errors.Join(err, drain(ctx, life.stop))
		}
	}()

	// Metrics and traces of both roles.
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	tracer, err := newTracing(ctx, o, life)
	if err != nil {
		return nil, err
	}

	// Redis and the store start before the parts that use them, so they stop after them.
	redisURL, err := redisAddress(ctx, cfg, log, life)
	if err != nil {
		return nil, err
	}
	queueMetrics := tasks.NewMetrics(metrics)

	redis, err := dialRedis(ctx, redisURL, queueMetrics, log, life)
	if err != nil {
		return nil, err
	}

	store, err := openStore(ctx, cfg, roles, log, life)
	if err != nil {
		return nil, err
	}

	// The queue. Its options use the keeper and the secret, which need the queue themselves.
	var keeper *retention.Keeper
	var tokenSecret []byte
	keep := time.Duration(cfg.CacheRetentionDays) * 24 * time.Hour
	taskOptions := tasks.Options{
		Log:         log.With("component", "tasks"),
		Metrics:     queueMetrics,
		Retention:   keep,
		Records:     time.Duration(cfg.RecordRetentionDays) * 24 * time.Hour,
		MaxPending:  maxPending(cfg),
		MaxWait:     cfg.QueueMaxAge,
		WebhookData: func(rec tasks.Record) any { return views.New(tokenSecret).Webhook(rec) },
		Discard: func(ctx context.Context, rec tasks.Record) error {
			return keeper.Delete(ctx, storage.ArtifactKeyOf(rec.ID, rec.ContentType))
		},
		DiscardSources: func(ctx context.Context, jobID string) error { return keeper.DeleteSources(ctx, jobID) },
		Queues:         queues(cfg),
		RenderSlots:    workers(cfg),

		InferConcurrency: cfg.InferenceConcurrency,
		ToolConcurrency:  cfg.ToolConcurrency,
		AudioConcurrency: cfg.AudioConcurrency,
	}

	queue, err := tasks.NewClient(redisURL, taskOptions)
	if err != nil {
		return nil, err
	}

	if err := life.start(ctx, "queue", queue); err != nil {
		return nil, err
	}
	// The options above refer to keeper by closures, which run only once tasks are taken.
	keeper = newKeeper(cfg, store, redis, queue, keep, log)
	metrics.MustRegister(sharedMetrics(queue.Skew, keeper.Counts)...)

	if err := life.start(ctx, "keeper", keeper); err != nil {
		return nil, fmt.Errorf("%s: %w", storeSetting(cfg), err)
	}

	if tokenSecret, err = tokenSecretOf(ctx, queue, cfg.TokenSecret); err != nil {
		return nil, err
	}
	checks := dependencies(queue, store, roles)

	catalogue := themes.Open(themes.Options{Dir: cfg.ThemesDir, Log: log.With("component", "themes")})
	if err := life.start(ctx, "themes", catalogue); err != nil {
		return nil, err
	}

	// Models, and the addresses that callers may name.
	engine, err := startEngine(ctx, cfg, log, life)
	if err != nil {
		return nil, err
	}

	models, err := openModels(ctx, cfg, roles, engine, log, life)
	if err != nil {
		return nil, err
	}
	ledger := meter.New(redis, log.With("component", "meter"))
	life.inBackground("meter", ledger.Keep)

	own, err := ownAddresses(cfg, redisURL)
	if err != nil {
		return nil, UsageError{err}
	}

	// Its port is chosen at the start, so it is in no setting.
	if engine != nil {
		own = append(own, engine.Address())
	}
	changing := &changingAddresses{redisURLs: []string{redisURL, cfg.CacheRedisURL}, models: models.Current, log: log}
	// Once before the first request, so that the guard never works with an empty list.
	changing.refreshNodes(ctx)
	life.inBackground("nodes", changing.followNodes)

	outbound, exports, err := newPolicies(cfg, own, changing.current)
	if err != nil {
		return nil, err
	}
	images := guard.NewFetcher(outbound, guard.FetchOptions{UserAgent: agent(o.Version)})

	// The choice of themes. Each role reaches the model in its own way.
	adviceRedis, err := dialCache(cfg, redis, life)
	if err != nil {
		return nil, err
	}
	analysisLog := log.With("component", "analysis")
	newRecommender := func(model *recommend.Model) *recommend.Recommender {
		return recommend.New(recommend.Options{
			Model: model,
			Cache: func() cache.Cache {
				return cache.NewRedis(adviceRedis, cache.Options{MaxEntries: adviceEntries, Log: analysisLog})
			},
			Log: analysisLog,
		})
	}

	// The worker.
	var taskServer *tasks.Server
	var diagrams *diagram.Renderer // nil without a browser
	toolbox := tools.NewToolbox(tools.ToolboxOptions{
		Queue: queue, Store: store, Keeper: keeper, Log: log.With("component", "tools"),
	})

	if roles.Worker {
		workerLog := log.With("component", "worker")

		if taskServer, err = tasks.NewServer(redisURL, taskOptions); err != nil {
			return nil, err
		}
		checks = append(checks, ready.Check{Name: "tasks", Probe: func(ctx context.Context) (map[string]any, error) {
			return nil, taskServer.Progress(ctx)
		}})

		// Every worker delivers webhooks and answers calls, if it serves their queues.
		webhooks, err := newWebhooks(ctx, o, queue, outbound, metrics)
		if err != nil {
			return nil, err
		}
		tasks.HandlePlain(taskServer, tasks.DeliverWebhook, webhooks.Deliver)

		completions := worker.NewCompletions(worker.CompletionOptions{
			Gateway: newGateway(o, models.Current, outbound, toolbox), Meter: ledger, Store: store, Keeper: keeper,
			Metrics: metrics, Tracer: tracer, Log: log.With("component", "inference"),
		})
		tasks.HandleCalls(taskServer, completions.Complete)

		// The choice of a theme by a model needs no browser. It runs on a worker without one as well.
		if servesQueue(cfg, tasks.Text) {
			var model *recommend.Model
			if cfg.AnalysisModel != "" {
				model = recommend.Direct(completions.CompleteInternal, cfg.AnalysisModel)
			}
			chooser := worker.New(worker.Options{
				Store: store, Keeper: keeper, Themes: catalogue, Recommender: newRecommender(model),
				Retention: keep, Tracer: tracer, Log: workerLog,
			})
			tasks.Handle(taskServer, tasks.ChooseTheme, chooser.Choose)
		}

		if servesQueue(cfg, tasks.Audio) {
			download := guard.NewDownloader(outbound, guard.DownloadOptions{
				UserAgent: agent(o.Version), MaxBytes: cfg.MaxAudioBytes,
			})
			transcriber := worker.New(worker.Options{
				Store: store, Keeper: keeper, Themes: catalogue, Retention: keep,
				Models: models.Current, Gateway: completions.Gateway, Meter: ledger,
				Recordings: newRecordings(ctx, cfg, log), Download: download.Download,
				Metrics: metrics, Tracer: tracer, Log: log.With("component", "audio"),
			})
			tasks.Handle(taskServer, tasks.TranscribeAudio, transcriber.Transcribe)
		}

		// One Worker per group of queues, each with only the parts that its handlers need.
		var exporter *chromium.Exporter // nil without a browser
		var browserStats map[string]func() chromium.Stats

		if needsBrowser(cfg) {
			var browser *chromium.Browser
			if browser, exporter, err = startBrowsers(ctx, cfg, exports, log, life); err != nil {
				return nil, err
			}
			checks = append(checks, browserCheck(browser), exporterCheck(exporter))
			metrics.MustRegister(worker.BrowserMetrics(browser.Stats))
			metrics.MustRegister(worker.ExporterMetrics(exporter.Stats, exporter.Refusals))
			metrics.MustRegister(worker.SlotMetrics(taskServer.Slots)...)
			browserStats = map[string]func() chromium.Stats{
				worker.ForDocuments: browser.Stats, worker.ForPages: exporter.Stats,
			}
			diagrams = diagram.New(diagram.Options{Script: browser.Script, Log: log.With("component", "diagram")})
			printer := worker.New(worker.Options{
				Store: store, Keeper: keeper, Themes: catalogue, Recommender: newRecommender(nil),
				Converter: newConverter(cfg, browser, catalogue, images, diagrams, log),
				Picture:   pictures(browser), Diagrams: diagrams, Exporter: exporter,
				SharedRenders: cfg.RenderCacheShared, RenderTimeout: cfg.RenderTimeout, Retention: keep,
				Metrics: metrics, Tracer: tracer, Log: workerLog,
			})
			tasks.Handle(taskServer, tasks.ConvertPDF, printer.Convert)
			tasks.Handle(taskServer, tasks.ExportPage, printer.Export)
			tasks.Handle(taskServer, tasks.EditPDF, printer.EditPDF)
			tasks.HandleAsk(taskServer, tasks.RenderPreview, printer.Preview)
			tasks.HandleAsk(taskServer, tasks.DrawDiagrams, printer.Draw)
		}
		// Vitals of a worker without a browser have no browsers.
		taskServer.Report(worker.Vitals(o.Version, browserStats))

		if servesQueue(cfg, tasks.Tools) {
			builtin, err := startTools(ctx, o, outbound, exporter, life)
			if err != nil {
				return nil, err
			}
			sessions := tools.NewServer(tools.ServerOptions{
				Tools: builtin, Store: store, Metrics: metrics, Tracer: tracer, Log: log.With("component", "tools"),
			})
			tasks.HandleTools(taskServer, sessions.Offer, sessions.Serve)
		}
	}

	// A worker alone has a small listener for operators. With the API, the API serves the same routes.
	if !roles.API {
		ops := worker.NewOps(worker.OpsOptions{
			Addr: cfg.WorkerAddr, Checks: checks, Metrics: metrics, Log: log.With("component", "ops"),
		})

		return &App{options: o, life: life, worker: taskServer, ops: ops}, nil
	}

	// The API.
	page, err := monitor.New(redisURL, "/monitor", cfg.MonitorReadonly)
	if err != nil {
		return nil, err
	}
	life.onStop("monitor", page.Stop)

	var model *recommend.Model
	if cfg.AnalysisModel != "" {
		model = recommend.Queue(queue, cfg.AnalysisModel)
	}

	apiServer, err := api.New(api.Options{
		Addr:          net.JoinHostPort(cfg.APIHost, strconv.Itoa(cfg.APIPort)),
		TLSCert:       cfg.APITLSCert,
		TLSKey:        cfg.APITLSKey,
		Queue:         queue,
		Store:         store,
		Keeper:        keeper,
		Themes:        catalogue,
		Webhooks:      outbound,
		Exports:       exports,
		ExportAuthOff: cfg.ExportAuth == "off",
		Recommender:   newRecommender(model),
		Inference: &api.Inference{
			Calls: queue, Models: models.Current, Vendor: cfg.InferenceVendor, Lax: cfg.InferenceLax,
			QueueTimeout: cfg.InferenceQueueTimeout,
		},
		Toolbox:          toolbox,
		Version:          o.Version,
		TokenSecret:      tokenSecret,
		Keys:             cfg.APIKeys,
		KeysFile:         cmp.Or(cfg.KeysConfig, DefaultKeys),
		KeysFileOptional: cfg.KeysConfig == "",
		AuthOff:          cfg.APIAuth == "off",
		AllowedOrigins:   cfg.AllowedOrigins,
		TrustedProxies:   cfg.TrustedProxies,
		Fetch:            images.Fetch,
		Diagrams:         diagrams,
		MaxContentBytes:  cfg.MaxContentBytes,
		MaxUploadBytes:   cfg.MaxUploadBytes,
		MaxAudioBytes:    cfg.MaxAudioBytes,
		Recordings:       outbound,
		RateLimitRPM:     cfg.RateLimitRPM,
		Meter:            ledger,
		TraceURL:         cfg.TraceURL,
		Checks:           append(checks, workersCheck(queue, roles)),
		Monitor:          page,
		Stats:            queue.Fleet,
		Events:           queue.Events,
		Metrics:          metrics,
		Tracer:           tracer,
		Log:              log.With("component", "api"),
	})
	if err != nil {
		return nil, UsageError{err}
	}

	return &App{options: o, life: life, worker: taskServer, api: apiServer}, nil
}
