package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"presswork/internal/analysis/recommend"
	"presswork/internal/guard"
	"presswork/internal/inference/meter"
	"presswork/internal/markdown/diagram"
	"presswork/internal/ready"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/themes"
)

// Options wire a Server.
type Options struct {
	// Addr is the host:port to listen on; port 0 picks a free one. Mandatory.
	Addr string
	// TLSCert and TLSKey are PEM files; both set, the server speaks TLS.
	TLSCert, TLSKey string

	// Queue takes and follows jobs. Mandatory.
	Queue Queue
	// Store holds sources and artifacts. Mandatory.
	Store storage.Store
	// Keeper counts what is stored. Nil: nothing is counted and the store is
	// never full.
	Keeper *retention.Keeper
	// Themes is the catalogue. Mandatory.
	Themes *themes.Catalogue
	// Webhooks decides which addresses a webhook may have. Mandatory.
	Webhooks *guard.Policy

	// Fetch gets the remote images of POST /api/preview, through the address
	// rules. Nil: they are left out.
	Fetch func(ctx context.Context, url string) (data []byte, contentType string, err error)
	// Diagrams draws the Mermaid diagrams of POST /api/preview. Nil, as where no
	// browser is in the process: a worker draws them.
	Diagrams *diagram.Renderer
	// Recommender reads documents and chooses themes. Default: one that remembers
	// nothing.
	Recommender *recommend.Recommender
	// Exports decides which addresses a page to export may have. Mandatory.
	Exports *guard.Policy
	// ExportAuthOff opens page export, and nothing else, to callers without a key.
	ExportAuthOff bool

	// Inference wires the routes under /v1. Nil: there are none.
	Inference *Inference

	// TokenSecret signs the tokens in URLs; at least 16 bytes. Mandatory.
	TokenSecret []byte
	// Keys are shared API keys; each is an admin. Default: none.
	Keys []string
	// KeysFile is a file of named keys, reloaded when it changes. Default: none.
	KeysFile string
	// KeysFileOptional lets KeysFile be absent; once it appears it is read, and
	// from then on a key is needed. Default: it must be there.
	KeysFileOptional bool
	// Getenv resolves the ${NAME} of KeysFile. Default os.Getenv.
	Getenv func(string) string
	// AuthOff allows a server without keys on an address beyond loopback.
	AuthOff bool
	// AllowedOrigins may call from a browser ("https://app.example", or "*").
	// Default: the server's own origin only.
	AllowedOrigins []string
	// TrustedProxies are addresses or CIDRs whose X-Forwarded-* headers count.
	TrustedProxies []string

	// MaxContentBytes is the largest Markdown. Default 10 MiB.
	MaxContentBytes int64
	// MaxUploadBytes bounds all assets of one request. Default 100 MiB.
	MaxUploadBytes int64
	// MaxAudioBytes is the largest recording. Default 25 MiB.
	MaxAudioBytes int64
	// HeldMemory is how many bytes of request bodies this node holds in memory at a time,
	// HeldDisk how many it holds in temporary files; one key may have half of each.
	// Default: 512 MiB and 4 GiB, or what two of the largest requests need.
	HeldMemory, HeldDisk int64
	// Recordings judges the addresses of recordings. Mandatory with Inference.
	Recordings *guard.Policy
	// RateLimitRPM is how many requests that make work a key may make per minute;
	// 0 is no limit. A key of KeysFile with an rpm of its own follows that.
	RateLimitRPM int
	// Meter holds the limits of keys and knows what they used. Nil: no limit is
	// held. Mandatory with Inference.
	Meter *meter.Meter

	// ReadTimeout bounds the headers of a request, and each wait for another 16 KB of
	// its body. Default 15 s.
	ReadTimeout time.Duration
	// WriteTimeout bounds each wait for a client to take more of an answer.
	// Default 30 s.
	WriteTimeout time.Duration
	// PingInterval is the time between pings on a WebSocket and comments in an
	// event stream. Default 15 s.
	PingInterval time.Duration

	// PreviewWait is how long a request waits for a worker to render the preview
	// of a theme. Default 30 s.
	PreviewWait time.Duration
	// DrawWait is how long POST /api/preview waits for a worker to draw diagrams;
	// those that are not drawn by then stay source. Default 10 s.
	DrawWait time.Duration

	// Checks are what /readyz asks. Default: none.
	Checks []ready.Check
	// Monitor is the queue's web page, mounted at /monitor. Nil: there is none.
	Monitor http.Handler
	// Events is what this process has relayed to watchers, for /metrics. Nil: no such
	// metrics.
	Events func() tasks.EventStats
	// Stats describes queues and workers for /metrics. Nil: no such metrics.
	Stats func(ctx context.Context) (tasks.Fleet, error)
	// Metrics is registered with and served at /metrics. Default: a new one.
	Metrics *prometheus.Registry
	// Tracer makes a span of every request. Default: none is made.
	Tracer trace.TracerProvider
	// Log gets failures at error and warn, requests at debug. Default: discard.
	Log *slog.Logger
}

func (o *Options) validate() error {
	switch {
	case o.Queue == nil, o.Store == nil, o.Themes == nil, o.Webhooks == nil, o.Exports == nil:
		return errors.New("api: Queue, Store, Themes, Webhooks and Exports are mandatory")
	case o.Inference != nil && o.Meter == nil:
		return errors.New("api: Inference needs a Meter")
	case len(o.TokenSecret) < 16:
		return errors.New("api: TokenSecret has less than 16 bytes")
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return errors.New("api: set both TLSCert and TLSKey or neither")
	}

	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return fmt.Errorf("api: the listen address %q is not host:port", o.Addr)
	}

	keyed := len(o.Keys) > 0 || o.KeysFile != ""
	if o.KeysFileOptional && len(o.Keys) == 0 {
		_, err := os.Stat(o.KeysFile)
		keyed = err == nil
	}

	if !keyed && !o.AuthOff && !isLoopback(host) {
		return fmt.Errorf("api: %s is reachable from other machines and no key is set: set API_KEY or KEYS_CONFIG, "+
			"or API_AUTH=off to serve everybody", o.Addr)
	}

	return nil
}

func (o *Options) defaults() {
	o.MaxContentBytes = cmp.Or(o.MaxContentBytes, 10<<20)
	o.MaxAudioBytes = cmp.Or(o.MaxAudioBytes, 25<<20)
	o.MaxUploadBytes = cmp.Or(o.MaxUploadBytes, 100<<20)
	o.HeldMemory = cmp.Or(o.HeldMemory, max(512<<20, 2*(o.MaxContentBytes*escaped+jsonOverhead)))
	// An archive lies there twice, as it came and unpacked.
	o.HeldDisk = cmp.Or(o.HeldDisk, max(4<<30, 4*o.MaxUploadBytes, 2*o.MaxAudioBytes))
	o.ReadTimeout = cmp.Or(o.ReadTimeout, 15*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 30*time.Second)
	o.PingInterval = cmp.Or(o.PingInterval, 15*time.Second)
	o.PreviewWait = cmp.Or(o.PreviewWait, 30*time.Second)
	o.DrawWait = cmp.Or(o.DrawWait, 10*time.Second)

	o.Metrics = cmp.Or(o.Metrics, prometheus.NewRegistry())
	if o.Tracer == nil {
		o.Tracer = noop.NewTracerProvider()
	}

	if o.Recommender == nil {
		o.Recommender = recommend.New(recommend.Options{})
	}

	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}

	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// Queue is the wall between HTTP and the task queue. tasks.Client is the one
// in production.
type Queue interface {
	// Reserve is the first half of Submit, for what is stored under the job's id
	// before it is submitted; see tasks.Client. Errors: as Submit.
	Reserve(ctx context.Context, s *tasks.Submission) (rec tasks.Record, replayed bool, err error)
	// Submit accepts a job for good: once it returns nil the job survives any
	// crash. Replayed reports whether the idempotency key was known and rec is the
	// earlier job. Errors: IdempotencyConflict, QueueFull, QueueUnavailable.
	Submit(ctx context.Context, s tasks.Submission) (rec tasks.Record, replayed bool, err error)
	// Replay looks an idempotency key up before the work of a submission is
	// done. Errors: IdempotencyConflict, QueueUnavailable.
	Replay(ctx context.Context, owner, key, fingerprint string) (rec tasks.Record, found bool, err error)
	// Ask has a worker run a task that belongs to no job, and waits for its answer. Callers
	// that ask with the same key at the same time share one task; "" shares with none.
	// Errors: the worker's, QueueFull, QueueUnavailable, the cause of ctx.
	Ask(ctx context.Context, key string, t tasks.Task) (json.RawMessage, error)
	// Workers counts the worker processes that are alive. Errors: QueueUnavailable.
	Workers(ctx context.Context) (int, error)
	// Job returns a job, with its queue position. Errors: NotFound, QueueUnavailable.
	Job(ctx context.Context, id string) (tasks.Record, error)
	// Jobs lists an owner's jobs, newest first. Errors: InvalidOption (a bad
	// cursor), QueueUnavailable.
	Jobs(ctx context.Context, owner string, q tasks.Query) (tasks.Page, error)
	// Cancel ends a job that is not terminal. Errors: NotFound, JobFinished
	// (with the record as it is), QueueUnavailable.
	Cancel(ctx context.Context, id string) (tasks.Record, error)
	// Watch follows a job's events; see tasks.Watch. since < 0 means from now.
	// Errors: NotFound, QueueUnavailable.
	Watch(ctx context.Context, id string, since int64) (*tasks.Watch, error)

	// Fleet returns how workers and queues are. Errors: QueueUnavailable.
	Fleet(ctx context.Context) (tasks.Fleet, error)
	// Search lists jobs of every owner, newest first. Errors: as Jobs.
	Search(ctx context.Context, q tasks.Search) (tasks.Page, error)
	// Inspect returns a job of any owner with its history. Errors: NotFound,
	// QueueUnavailable.
	Inspect(ctx context.Context, id string) (tasks.Inspection, error)
	// Retry tries a job again, and returns the job that runs then; see tasks.Client.
	// Errors: NotFound, JobFinished, InvalidOption, QueueFull, QueueUnavailable.
	Retry(ctx context.Context, id string) (tasks.Record, error)
	// Dismiss takes a failed job from the dead letters. Errors: NotFound,
	// QueueUnavailable.
	Dismiss(ctx context.Context, id string) error
}
