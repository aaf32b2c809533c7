// Package app wires the roles of Presswork. New builds every part and connects it to its services, Start begins to take
// work, Stop drains. Run does all three. The package decides nothing else.
//
// The other exported functions wire what single commands use, without a queue: NewAdvice, OpenLocalTools, OpenWeb,
// Backup, Restore, Models. A setting or argument that cannot be used is a UsageError everywhere, so that the command
// line can tell it from a failure.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"syscall"
	"time"

	"presswork/api"
	"presswork/internal/config"
	"presswork/tasks"
	"presswork/worker"
)

// DrainLimit bounds a whole stop: the drain of the queue and what follows it.
const DrainLimit = 45 * time.Second

// apiDrainLimit bounds the API's part of a stop. The rest is enough for the 30 seconds of the queue and the grace
// period after them.
const apiDrainLimit = 10 * time.Second

// Options configure an App.
type Options struct {
	// Config holds the settings; CheckSettings accepts it.
	Config config.Config
	// Roles are the roles that the process plays; at least one is set.
	Roles Roles
	// Version is the program's version. Requests, metrics and traces name it.
	Version string
	// Log receives what every part logs.
	Log *slog.Logger
}

// agent is the User-Agent header of requests to other servers.
func agent(version string) string { return "Presswork/" + version }

// App is one process with its roles.
type App struct {
	options Options
	life    *lifecycle
	worker  *tasks.Server // nil without the worker's role
	api     *api.Server   // nil without the API's role
	ops     *worker.Ops   // nil with the API's role, which serves the same routes
}

// UsageError is a setting or an argument that the process cannot use.
type UsageError struct{ error }

// Unwrap returns the reason.
func (e UsageError) Unwrap() error { return e.error }

// Run plays the roles until ctx ends, then drains for up to DrainLimit. It calls ready with the address on which
// the process listens. Errors: UsageError for a setting that it cannot use, a service that did not answer, an
// incomplete drain.
func Run(ctx context.Context, o Options, ready func(address string)) error {
	if err := o.Roles.check(o.Config); err != nil {
		return UsageError{err}
	}

	if err := CheckSettings(o.Config); err != nil {
		return err
	}

	a, err := New(ctx, o)
	if err != nil {
		return err
	}

	if err := a.Start(ctx); err != nil {
		return errors.Join(err, drain(ctx, a.Stop))
	}
	ready(a.Address())

	<-ctx.Done()
	o.Log.InfoContext(ctx, "draining", "cause", context.Cause(ctx).Error(), "limit", DrainLimit.String())

	return drain(ctx, a.Stop)
}

// drain calls stop with DrainLimit, which begins now, whether or not ctx has ended.
func drain(ctx context.Context, stop func(context.Context) error) error {
	cause := errors.New("the drain took too long")

	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), DrainLimit, cause)
	defer cancel()

	return stop(ctx)
}

// Start takes tasks and listens. After an error the caller must call Stop. Errors: Redis does not answer, or the
// address cannot be listened on; the error names the setting.
func (a *App) Start(ctx context.Context) error {
	if a.worker != nil {
		if err := a.life.start(ctx, "worker", a.worker); err != nil {
			return err
		}
	}

	if a.api != nil {
		return a.startAPI(ctx)
	}

	return a.startOps(ctx)
}

// startAPI starts the listener of the API.
func (a *App) startAPI(ctx context.Context) error {
	if err := a.api.Start(ctx); err != nil {
		return portError("API_PORT", "API_HOST", err)
	}
	// A client that reads slowly must not use up the worker's time to drain.
	a.life.onStop("api", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, apiDrainLimit, errors.New("clients were still connected"))
		defer cancel()

		return a.api.Stop(ctx)
	})
	a.options.Log.InfoContext(ctx, "listening",
		"role", a.options.Roles.name(), "address", a.Address(), "version", a.options.Version)

	return nil
}

// startOps starts the listener of a worker for health checks and metrics.
func (a *App) startOps(ctx context.Context) error {
	if err := a.life.start(ctx, "ops", a.ops); err != nil {
		return portError("WORKER_ADDR", "WORKER_ADDR", err)
	}
	a.options.Log.InfoContext(ctx, "listening", "role", a.options.Roles.name(), "address", a.Address(),
		"workers", workers(a.options.Config), "version", a.options.Version)

	return nil
}

// Address returns the host and port on which the process listens, once Start has returned.
func (a *App) Address() string {
	if a.api != nil {
		return a.api.Address()
	}

	return a.ops.Addr()
}

// Stop drains the parts in the reverse order of their start, until ctx ends. It returns the errors of all parts.
func (a *App) Stop(ctx context.Context) error { return a.life.stop(ctx) }

// portError names the setting of a port that another program uses. host is the setting of an address that this machine
// does not have.
func portError(setting, host string, err error) error {
	_, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s: another program listens there already: end it, or set %s to something else "+
			"(0 is any free port): %w", setting, setting, err)
	case unknown, errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s: this machine does not have the address: %w", host, err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s: this user may not listen on the port; use a port from 1024 on: %w", setting, err)
	}

	return err
}

// workers returns the number of jobs that a worker runs at once.
func workers(cfg config.Config) int {
	if cfg.Workers == 0 {
		return runtime.NumCPU()
	}

	return cfg.Workers
}
