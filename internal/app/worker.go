package app

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/chromium"
	"presswork/internal/chromium/fonts"
	"presswork/internal/chromium/printable"
	"presswork/internal/config"
	"presswork/internal/document"
	"presswork/internal/guard"
	"presswork/internal/markdown/diagram"
	"presswork/tasks"
	"presswork/themes"
	"presswork/worker"
)

// newWebhooks makes the sender of webhooks.
func newWebhooks(
	ctx context.Context, o Options, queue *tasks.Client, outbound *guard.Policy, metrics *prometheus.Registry,
) (*worker.Webhooks, error) {
	secret, err := webhookSecret(ctx, queue, o.Config.WebhookSecret)
	if err != nil {
		return nil, err
	}

	webhooks, err := worker.NewWebhooks(worker.WebhookOptions{
		Policy:  outbound,
		Secret:  secret,
		Version: o.Version,
		Metrics: metrics,
		Record:  queue.LogDelivery,
		Log:     o.Log.With("component", "webhooks"),
	})
	if err != nil {
		return nil, UsageError{fmt.Errorf("WEBHOOK_SECRET: %w", err)}
	}

	return webhooks, nil
}

// newConverter makes the converter of documents, which prints with the browser of this worker.
func newConverter(
	cfg config.Config, browser *chromium.Browser, catalogue *themes.Catalogue, images *guard.Fetcher,
	diagrams *diagram.Renderer, log *slog.Logger,
) *document.Converter {
	return document.New(document.Options{
		Printer:  browser,
		Idle:     browser.Idle,
		Timeout:  cfg.RenderTimeout,
		Themes:   catalogue,
		Fetch:    images.Fetch,
		Diagrams: diagrams,
		Picture:  pictures(browser),
		Script:   browser.Script,
		Log:      log.With("component", "pdf"),
	})
}

// pictures returns a function that takes a picture of a page of ours.
func pictures(browser *chromium.Browser) func(context.Context, printable.Page) ([]byte, error) {
	return func(ctx context.Context, page printable.Page) ([]byte, error) {
		return browser.Screenshot(ctx, page, chromium.ScreenshotOptions{})
	}
}

// startBrowsers starts the browser that prints our own documents, and prepares the browser that visits foreign pages.
// The second one starts with the first foreign page.
func startBrowsers(
	ctx context.Context, cfg config.Config, exports *guard.Policy, log *slog.Logger, life *lifecycle,
) (*chromium.Browser, *chromium.Exporter, error) {
	profiles, err := profileDir(cfg)
	if err != nil {
		return nil, nil, UsageError{err}
	}

	fontConfig, err := fonts.Install(profiles)
	if err != nil {
		log.WarnContext(ctx, "documents are printed with the system's fonts", "error", err)
	}

	browser := chromium.New(chromium.Options{
		Path: cfg.ChromiumPath, Tabs: workers(cfg), PrintTimeout: cfg.RenderTimeout,
		Dir: profiles, FontConfig: fontConfig, Log: log.With("component", "chromium"),
	})
	if err := life.start(ctx, "browser", browser); err != nil {
		return nil, nil, err
	}
	exporter := chromium.NewExporter(chromium.ExporterOptions{
		Browser: chromium.Options{
			Path: cfg.ChromiumPath, Tabs: workers(cfg),
			Dir: profiles, FontConfig: fontConfig, Log: log.With("component", "export"),
		},
		Policy: exports,
	})

	return browser, exporter, life.start(ctx, "exporter", exporter)
}
