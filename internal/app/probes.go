package app

import (
	"context"
	"errors"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/ready"
	"presswork/storage"
	"presswork/tasks"
)

// A probe writes, so that it notices a full Redis or store. The writes are rare, because /readyz needs no key.
const (
	redisProbeEvery = time.Second
	storeProbeEvery = 15 * time.Second
)

// dependencies returns the checks of the services that every node needs. An API without its store still serves the
// states of jobs and lists, and takes small documents.
func dependencies(queue *tasks.Client, store storage.Store, roles Roles) []ready.Check {
	checks := []ready.Check{{Name: "redis", Probe: ready.Every(redisProbeEvery, queue.Health)}}
	if _, none := store.(storage.None); !none {
		checks = append(checks,
			ready.Check{Name: "store", Optional: roles.API, Probe: ready.Every(storeProbeEvery, store.Health)})
	}

	return checks
}

// workersCheck counts the workers of the fleet.
func workersCheck(queue *tasks.Client, roles Roles) ready.Check {
	probe := func(ctx context.Context) (map[string]any, error) {
		n, err := queue.Workers(ctx)
		if err == nil && n == 0 {
			err = errors.New("no worker is running")
		}

		detail := map[string]any{"count": n}
		if offers, offersErr := queue.Offers(ctx); offersErr == nil && offers.Workers > 0 {
			detail["tools"] = offers.Tools
		}

		return detail, err
	}

	return ready.Check{Name: "workers", Optional: !roles.Worker, Probe: probe}
}

// noSandbox is the public reason why a browser runs without its sandbox. Chromium's own message has paths, and
// /readyz needs no key.
const noSandbox = "this machine does not allow Chromium's sandbox; the log has the reason"

// exporterCheck reports on the browser for foreign pages and does not start it: documents are converted without it.
func exporterCheck(exporter *chromium.Exporter) ready.Check {
	return ready.Check{Name: "export_browser", Optional: true, Probe: func(context.Context) (map[string]any, error) {
		running, err := exporter.Running()

		detail := map[string]any{"running": running}
		if on, _ := exporter.Sandbox(); running {
			detail["sandbox"] = on
			if !on {
				detail["reason"] = noSandbox
			}
		}

		return detail, err
	}}
}

// browserCheck reports on the browser that prints documents.
func browserCheck(browser *chromium.Browser) ready.Check {
	return ready.Check{Name: "browser", Probe: func(ctx context.Context) (map[string]any, error) {
		err := browser.Health(ctx)
		on, _ := browser.Sandbox()

		detail := map[string]any{"sandbox": on, "network_isolated": browser.NetworkIsolated()}
		if !on && err == nil {
			detail["reason"] = noSandbox
		}

		return detail, err
	}}
}
