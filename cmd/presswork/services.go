package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/config"
	"presswork/internal/embedded"
	"presswork/internal/ready"
	"presswork/storage"
	"presswork/storage/minio"
	"presswork/tasks"
)

// redisAddress is the operator's Redis, else that of a private child.
func redisAddress(ctx context.Context, cfg config.Config, log *slog.Logger, life *lifecycle) (string, error) {
	if cfg.RedisURL != "" {
		return cfg.RedisURL, nil
	}
	child, err := embedded.New(embedded.Options{Dir: filepath.Join(cfg.DataDir, "redis"), Log: log.With("component", "redis")})
	if err != nil {
		return "", err
	}
	if err := life.start(ctx, "redis", child); err != nil {
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("DATA_DIR: %w", err)
		}
		return "", err
	}
	return child.URL(), nil
}

// openStore is the operator's S3, else a folder; a fleet for completions alone
// needs neither.
func openStore(ctx context.Context, cfg config.Config, log *slog.Logger, r roles, life *lifecycle) (storage.Store, error) {
	if cfg.S3Endpoint == "" && !(r.api && r.worker) {
		return storage.None{}, nil
	}
	if cfg.S3Endpoint == "" {
		store, err := storage.OpenDisk(storage.DiskOptions{Dir: cfg.PDFOutputDir})
		if err != nil {
			return nil, fmt.Errorf("PDF_OUTPUT_DIR: %w", err)
		}
		return store, nil
	}
	s3, err := minio.New(minio.Options{
		Endpoint:       cfg.S3Endpoint,
		PublicEndpoint: cfg.S3PublicEndpoint,
		Bucket:         cfg.S3Bucket,
		AccessKey:      cfg.S3AccessKey,
		SecretKey:      cfg.S3SecretKey,
		Region:         cfg.S3Region,
		UseTLS:         cfg.S3UseTLS,
		Log:            log.With("component", "minio"),
	})
	if err != nil {
		return nil, usageError{err}
	}
	return s3, await(ctx, log, "S3_ENDPOINT", func(ctx context.Context) (bool, error) {
		err := life.start(ctx, "store", s3)
		return minio.Refused(err), err
	})
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

// maxPending is the bound of a queue as tasks.Options has it, where 0 is the default.
func maxPending(cfg config.Config) int64 {
	if cfg.QueueMaxJobs == 0 {
		return -1
	}
	return cfg.QueueMaxJobs
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

// ownAddresses are the services of Presswork itself: no document and no webhook
// may reach them, whatever OUTBOUND_ALLOW_PRIVATE opens.
func ownAddresses(cfg config.Config, redisURL string) ([]string, error) {
	own, err := tasks.Hosts(redisURL)
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	if cfg.CacheRedisURL != "" {
		cached, err := tasks.Hosts(cfg.CacheRedisURL)
		if err != nil {
			return nil, fmt.Errorf("CACHE_REDIS_URL: %w", err)
		}
		own = append(own, cached...)
	}
	own = append(own, net.JoinHostPort(cfg.APIHost, strconv.Itoa(cfg.APIPort)), cfg.WorkerAddr,
		endpoint(cfg.S3Endpoint, cfg.S3UseTLS), endpoint(cfg.S3PublicEndpoint, cfg.S3UseTLS),
		endpoint(cfg.OTLPEndpoint, false))
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

// A probe writes, so that a full Redis or store shows; the writes are rare,
// because /readyz needs no key.
const (
	redisLook = time.Second
	storeLook = 15 * time.Second
)

// dependencies are the checks of what every node needs. An API whose store is
// away still serves the state of jobs, and lists, and takes small documents.
func dependencies(queue *tasks.Client, store storage.Store, r roles) []ready.Check {
	checks := []ready.Check{{Name: "redis", Probe: ready.Every(redisLook, queue.Health)}}
	if _, none := store.(storage.None); !none {
		checks = append(checks, ready.Check{Name: "store", Optional: r.api, Probe: ready.Every(storeLook, store.Health)})
	}
	return checks
}

func workersCheck(queue *tasks.Client, r roles) ready.Check {
	return ready.Check{Name: "workers", Optional: !r.worker, Probe: func(ctx context.Context) (map[string]any, error) {
		n, err := queue.Workers(ctx)
		if err == nil && n == 0 {
			err = errors.New("no worker is running")
		}
		detail := map[string]any{"count": n}
		if offers, oerr := queue.Offers(ctx); oerr == nil && offers.Workers > 0 {
			detail["tools"] = offers.Tools
		}
		return detail, err
	}}
}

// noSandbox is why a browser runs without its sandbox. Chromium's own words hold
// paths, and /readyz asks for no key.
const noSandbox = "this machine does not let Chromium confine itself; the log says why"

// exporterCheck starts nothing: the browser for foreign pages runs when there is
// one, and documents are converted without it.
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
