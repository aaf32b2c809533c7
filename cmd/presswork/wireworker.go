package main

import (
	"context"
	"fmt"
	"slices"

	"presswork"
	"presswork/internal/analysis/recommend"
	"presswork/internal/chromium"
	"presswork/internal/chromium/fonts"
	"presswork/internal/markdown/diagram"
	"presswork/internal/pdf"
	"presswork/internal/ready"
	"presswork/tasks"
	"presswork/worker"
)

// newWorker builds the taker of tasks and starts what its work needs. It takes
// no task before it is started itself.
func (p *parts) newWorker(ctx context.Context) (*tasks.Server, error) {
	taker, err := tasks.NewServer(p.redisURL, p.tasks)
	if err != nil {
		return nil, err
	}
	p.checks = append(p.checks, ready.Check{Name: "tasks", Probe: func(ctx context.Context) (map[string]any, error) { return nil, taker.Progress(ctx) }})
	if err := p.handleWebhooks(ctx, taker); err != nil {
		return nil, err
	}
	completions := p.handleCompletions(taker)
	if p.takes(tasks.Text) {
		p.handleChoices(taker, completions)
	}
	if p.takes(tasks.Audio) {
		p.handleRecordings(ctx, taker, completions)
	}
	var exporter *chromium.Exporter
	if p.prints() {
		if exporter, err = p.handlePages(ctx, taker); err != nil {
			return nil, err
		}
	}
	if p.prints() {
		p.metrics.MustRegister(worker.SlotMetrics(taker.Slots)...)
	}
	taker.Report(worker.Vitals(version(), p.browserStats))
	if p.takes(tasks.Tools) {
		err = p.handleTools(ctx, taker, exporter)
	}
	return taker, err
}

// handleChoices wires the choice of themes by a model.
func (p *parts) handleChoices(taker *tasks.Server, completions *worker.Completions) {
	var model *recommend.Model
	if p.cfg.AnalysisModel != "" {
		model = recommend.Direct(completions.Own, p.cfg.AnalysisModel)
	}
	reader := worker.New(worker.Options{
		Store: p.store, Keeper: p.keeper, Themes: p.themes, Recommender: p.newRecommender(model), Tracer: p.tracer, Log: p.log.With("component", "worker"),
	})
	tasks.Handle(taker, tasks.ChooseTheme, reader.Choose)
}

// prints reports whether this worker takes any queue that needs a browser.
func (p *parts) prints() bool {
	return p.takes(tasks.Render) || p.takes(tasks.Export) || p.takes(tasks.Bulk)
}

// takes reports whether this worker takes a queue.
func (p *parts) takes(q tasks.Queue) bool {
	taken := queues(p.cfg)
	return len(taken) == 0 || slices.Contains(taken, q)
}

// handlePages wires conversions, exports, previews and diagrams, and returns the
// browser of foreign pages.
func (p *parts) handlePages(ctx context.Context, taker *tasks.Server) (*chromium.Exporter, error) {
	browser, exporter, err := p.browsers(ctx)
	if err != nil {
		return nil, err
	}
	p.diagrams = diagram.New(diagram.Options{Script: browser.Script, Log: p.log.With("component", "diagram")})
	picture := func(ctx context.Context, page presswork.Page) ([]byte, error) {
		return browser.Screenshot(ctx, page, chromium.ScreenshotOptions{})
	}
	jobs := worker.New(worker.Options{
		Store:  p.store,
		Keeper: p.keeper,
		Converter: pdf.New(pdf.Options{
			Printer:  browser,
			Idle:     browser.Idle,
			Timeout:  p.cfg.RenderTimeout,
			Themes:   p.themes,
			Fetch:    p.fetcher().Fetch,
			Diagrams: p.diagrams,
			Picture:  picture,
			Script:   browser.Script,
			Log:      p.log.With("component", "pdf"),
		}),
		Picture:       picture,
		Diagrams:      p.diagrams,
		Exporter:      exporter,
		Themes:        p.themes,
		Recommender:   p.newRecommender(nil),
		SharedRenders: p.cfg.RenderCacheShared,
		RenderTimeout: p.cfg.RenderTimeout,
		Retention:     p.retention,
		Metrics:       p.metrics,
		Tracer:        p.tracer,
		Log:           p.log.With("component", "worker"),
	})
	tasks.Handle(taker, tasks.ConvertPDF, jobs.Convert)
	tasks.Handle(taker, tasks.ExportPage, jobs.Export)
	tasks.HandlePlain(taker, tasks.RenderPreview, jobs.Preview)
	tasks.HandlePlain(taker, tasks.DrawDiagrams, jobs.Draw)
	return exporter, nil
}

func (p *parts) handleWebhooks(ctx context.Context, taker *tasks.Server) error {
	secret, err := webhookSecret(ctx, p.queue, p.cfg.WebhookSecret)
	if err != nil {
		return err
	}
	webhooks, err := worker.NewWebhooks(worker.WebhookOptions{
		Policy: p.outbound, Secret: secret, Version: version(), Metrics: p.metrics, Log: p.log.With("component", "webhooks"),
	})
	if err != nil {
		return usageError{fmt.Errorf("WEBHOOK_SECRET: %w", err)}
	}
	tasks.HandlePlain(taker, tasks.DeliverWebhook, webhooks.Deliver)
	return nil
}

// browsers starts the one that prints our own documents and prepares the one
// that visits foreign pages, which starts with the first of them.
func (p *parts) browsers(ctx context.Context) (*chromium.Browser, *chromium.Exporter, error) {
	profiles, err := profileDir(p.cfg)
	if err != nil {
		return nil, nil, usageError{err}
	}
	fontConfig, err := fonts.Install(profiles)
	if err != nil {
		p.log.WarnContext(ctx, "documents are printed with the system's fonts", "error", err)
	}
	browser := chromium.New(chromium.Options{
		Path: p.cfg.ChromiumPath, Tabs: workers(p.cfg), PrintTimeout: p.cfg.RenderTimeout, Dir: profiles, FontConfig: fontConfig,
		Log: p.log.With("component", "chromium"),
	})
	if err := p.life.start(ctx, "browser", browser); err != nil {
		return nil, nil, err
	}
	p.metrics.MustRegister(worker.BrowserMetrics(browser.Stats))
	p.checks = append(p.checks, browserCheck(browser))
	exporter := chromium.NewExporter(chromium.ExporterOptions{
		Browser: chromium.Options{
			Path: p.cfg.ChromiumPath, Tabs: workers(p.cfg), Dir: profiles, FontConfig: fontConfig, Log: p.log.With("component", "export"),
		},
		Policy: p.exports,
	})
	p.browserStats = map[string]func() chromium.Stats{worker.ForDocuments: browser.Stats, worker.ForPages: exporter.Stats}
	p.metrics.MustRegister(worker.ExporterMetrics(exporter.Stats, exporter.Refusals))
	p.checks = append(p.checks, exporterCheck(exporter))
	return browser, exporter, p.life.start(ctx, "exporter", exporter)
}
