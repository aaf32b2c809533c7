package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"presswork/internal/config"
	"presswork/tasks"
)

// drainLimit bounds the whole stop: the queue's own drain and what follows it.
const drainLimit = 45 * time.Second

// drainGrace is what a stop may take beyond its limit until the process ends as it
// is: containers are killed after a minute.
const drainGrace = 10 * time.Second

// apiDrainLimit bounds the API's part of it: what is left is enough for the
// queue's 30 seconds and the grace after them.
const apiDrainLimit = 10 * time.Second

// roles are the parts of the system one process plays.
type roles struct{ api, worker bool }

// name is the sub-command that plays the roles.
func (r roles) name() string {
	switch {
	case r.api && r.worker:
		return "serve"
	case r.api:
		return "api"
	default:
		return "worker"
	}
}

func newServeCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run everything on one machine: API, worker, and what they need",
		Long: "Run everything on one machine. Without REDIS_URL it runs a private redis-server under DATA_DIR;\n" +
			"without S3_ENDPOINT it keeps artifacts in PDF_OUTPUT_DIR. SIGTERM and Ctrl-C drain: no accepted job is\n" +
			"lost or repeated. A second Ctrl-C ends at once.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.runRoles(cmd.Context(), roles{api: true, worker: true})
		},
	}
}

func newAPICommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "api",
		Short: "Run one API node of a fleet",
		Long:  "Run one API node of a fleet. It needs REDIS_URL and an S3 store, which all nodes share.",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.runRoles(cmd.Context(), roles{api: true})
		},
	}
}

func newWorkerCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "Run one worker of a fleet",
		Long: "Run one worker of a fleet. It needs REDIS_URL and an S3 store, which all nodes share. It serves\n" +
			"/healthz, /readyz and /metrics on WORKER_ADDR.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.runRoles(cmd.Context(), roles{worker: true})
		},
	}
}

// runRoles plays the roles until the process gets a signal to stop, then drains.
func (p *program) runRoles(ctx context.Context, r roles) error {
	cfg, log, err := p.settings()
	if err != nil {
		return err
	}
	if err := r.check(cfg); err != nil {
		return usageError{err}
	}
	if err := checkSettings(cfg); err != nil {
		return err
	}
	logRedis.Do(func() { redis.SetLogger(redisLog{log.With("component", "redis")}) })
	life := &lifecycle{log: log}
	address, err := wire(ctx, cfg, log, r, life)
	if err == nil {
		if r.api && r.worker {
			fmt.Fprintf(p.stdout, "Presswork is ready: open %s\n", homepage(address, cfg.APITLSCert != ""))
		}
		<-ctx.Done()
		log.InfoContext(ctx, "draining", "cause", context.Cause(ctx).Error(), "limit", drainLimit.String())
	}
	stopping, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), drainLimit, errors.New("the drain took too long"))
	defer cancel()
	return errors.Join(err, life.stop(stopping))
}

// homepage is the page to open in a browser on this machine.
func homepage(address string, secure bool) string {
	host, port, _ := net.SplitHostPort(address) // the listener's own
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	page := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/"}
	if secure {
		page.Scheme = "https"
	}
	return page.String()
}

// portError names the setting of a port that another program has; host is that of an
// address which this machine does not have.
func portError(setting, host string, err error) error {
	_, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s: another program listens there already: end it, or set %s to something else (0 is any free port): %w", setting, setting, err)
	case unknown, errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s: it is no address of this machine: %w", host, err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s: this user may not listen there; ports from 1024 on are for everybody: %w", setting, err)
	}
	return err
}

// check refuses a fleet role on services that only this machine has.
func (r roles) check(cfg config.Config) error {
	if r.api && r.worker {
		return nil
	}
	if cfg.InferenceEngine != "" {
		return errors.New("INFERENCE_ENGINE is for `presswork serve`; a fleet names its engines in models.yaml")
	}
	if cfg.RedisURL == "" {
		return errors.New("REDIS_URL is not set: the nodes of a fleet meet on one Redis; a private one is for `presswork serve`")
	}
	if cfg.S3Endpoint == "" && !completionsOnly(cfg) {
		return errors.New("S3_ENDPOINT is not set: the nodes of a fleet share one S3 store (unless every node has WORKER_QUEUES=infer,tools, or one of them); " +
			"files in PDF_OUTPUT_DIR are for `presswork serve`")
	}
	return nil
}

// completionsOnly reports whether the node's fleet stores nothing, because
// nothing but completions is served.
func completionsOnly(cfg config.Config) bool {
	other := func(name string) bool { return name != string(tasks.Infer) && name != string(tasks.Tools) }
	return len(cfg.WorkerQueues) > 0 && !slices.ContainsFunc(cfg.WorkerQueues, other)
}

// logRedis says where the Redis client logs what it does on its own: to one place for the
// whole process, which may not change while a client is used.
var logRedis sync.Once

// redisLog takes what the Redis client logs about its connections; the
// parts that use it report what failed.
type redisLog struct{ log *slog.Logger }

func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, "redis client", "said", fmt.Sprintf(format, args...))
}
