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

	"presswork/api/admin"
	"presswork/api/exchange"
	"presswork/internal/analysis/recommend"
	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/markdown/diagram"
	"presswork/internal/ready"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/themes"
)

// Options configure a Server.
type Options struct {
	// Addr is the host:port to listen on; port 0 picks a free one. Mandatory.
	Addr string
	// TLSCert and TLSKey are paths of PEM files. With both set, the server speaks HTTPS. Default: HTTP.
	TLSCert, TLSKey string

	// Queue submits jobs and reports their events. Mandatory.
	Queue Queue
	// Store holds sources and artifacts. Mandatory.
	Store storage.Store
	// Keeper counts stored bytes. Nil: nothing is counted, and the store is never full.
	Keeper *retention.Keeper
	// Themes is the catalogue. Mandatory.
	Themes *themes.Catalogue
	// Webhooks decides which addresses webhooks may call. Mandatory.
	Webhooks *guard.Policy

	// Fetch downloads the remote images of POST /api/preview, within the address rules. Nil: previews have no
	// remote images.
	Fetch func(ctx context.Context, url string) (data []byte, contentType string, err error)
	// Diagrams draws the diagrams of POST /api/preview. Nil: a worker draws them, for processes without a
	// browser.
	Diagrams *diagram.Renderer
	// Recommender analyses documents and chooses themes. Default: one without memory.
	Recommender *recommend.Recommender
	// Exports decides which pages may be exported. Mandatory.
	Exports *guard.Policy
	// ExportAuthOff allows page exports, and nothing else, without a key.
	ExportAuthOff bool

	// Inference configures the routes under /v1. Nil: there are none.
	Inference *Inference

	// Toolbox searches and reads the web for the tools of /mcp. Nil: these tools return an error.
	Toolbox inference.Toolbox
	// Version is the program's version, which /mcp reports.
	Version string

	// TokenSecret signs the tokens in URLs and encrypts the reasoning in responses; at least 16 bytes. Mandatory.
	TokenSecret []byte
	// Keys are shared API keys; each is an admin. Default: none.
	Keys []string
	// KeysFile is a file of named keys, reloaded when it changes. Default: none.
	KeysFile string
	// KeysFileOptional allows KeysFile to be missing. Once the file exists, requests need a key. Default: it must
	// exist.
	KeysFileOptional bool
	// Getenv resolves the ${NAME} of KeysFile. Default os.Getenv.
	Getenv func(string) string
	// AuthOff allows a server without keys to listen on an address other than loopback.
	AuthOff bool
	// AllowedOrigins are the origins whose pages may call the API ("https://app.example", or "*" for all).
	// Default: only the server's own origin.
	AllowedOrigins []string
	// TrustedProxies are addresses or CIDRs whose X-Forwarded-* headers are trusted. Default: none.
	TrustedProxies []string

	// MaxContentBytes is the largest Markdown document, in bytes. Default 10 MiB.
	MaxContentBytes int64
	// MaxUploadBytes is the largest sum of all files of a request, in bytes. Default 100 MiB.
	MaxUploadBytes int64
	// MaxAudioBytes is the largest recording, in bytes. Default 25 MiB.
	MaxAudioBytes int64
	// HeldMemory is how many bytes of request bodies this node may hold in memory, HeldDisk how many in temporary
	// files. One key may hold half of each. Default: 512 MiB and 4 GiB, or enough for two of the largest requests.
	HeldMemory, HeldDisk int64
	// Recordings decides which addresses recordings may be fetched from. Mandatory with Inference.
	Recordings *guard.Policy
	// RateLimitRPM is how many requests per minute a key may send that create work; 0 means no limit. The rpm of a
	// key in KeysFile takes precedence.
	RateLimitRPM int
	// Meter enforces the limits of keys and records their usage. Nil: there are no limits. Mandatory with
	// Inference.
	Meter *meter.Meter

	// TraceURL is the page of a trace, with {trace} for its id. Default: jobs have no link to their trace.
	TraceURL string

	// ReadTimeout bounds reading the headers of a request, and reading each further 16 KiB of its body. Default 15
	// s.
	ReadTimeout time.Duration
	// WriteTimeout bounds each write of up to 64 KiB to a client. Default 30 s.
	WriteTimeout time.Duration
	// PingInterval is the time between pings on a WebSocket and comments in an
	// event stream. Default 15 s.
	PingInterval time.Duration

	// PreviewWait is how long a request waits until a worker has rendered the preview of a theme. Default 30 s.
	PreviewWait time.Duration
	// DrawWait is how long POST /api/preview waits for a worker to draw diagrams. Diagrams that are not ready then
	// are shown as source. Default 10 s.
	DrawWait time.Duration

	// Checks are the readiness checks of /readyz. Default: none.
	Checks []ready.Check
	// Monitor is the web page of the queue, served at /monitor. Nil: there is none.
	Monitor http.Handler
	// Events reports the events that this process has relayed, for /metrics. Nil: no such metrics.
	Events func() tasks.EventStats
	// Stats reports the state of queues and workers, for /metrics. Nil: no such metrics.
	Stats func(ctx context.Context) (tasks.Fleet, error)
	// Metrics is the registry that /metrics serves. Default: a new one.
	Metrics *prometheus.Registry
	// Tracer creates a span for each request. Default: no spans.
	Tracer trace.TracerProvider
	// Log receives failures at the levels error and warn, and requests at debug. Default: discard.
	Log *slog.Logger
}

// validate returns an error unless a server can use the options. Without a key it allows only loopback addresses,
// so that an open server is not exposed by accident.
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
			"or API_AUTH=off to serve every caller", o.Addr)
	}

	return nil
}

// setDefaults sets the zero fields that have a default.
func (o *Options) setDefaults() {
	o.MaxContentBytes = cmp.Or(o.MaxContentBytes, 10<<20)
	o.MaxAudioBytes = cmp.Or(o.MaxAudioBytes, 25<<20)
	o.MaxUploadBytes = cmp.Or(o.MaxUploadBytes, 100<<20)
	o.HeldMemory = cmp.Or(o.HeldMemory, max(512<<20, 2*exchange.JSONLimit(o.MaxContentBytes)))
	// An archive occupies the disk twice: as it arrived, and unpacked.
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

// isLoopback reports whether only this machine can reach a host: an IP address, or the name localhost.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// Queue is the task queue as the API needs it. *tasks.Client implements it.
type Queue interface {
	admin.Queue

	// Reserve sets the id of s before its sources are stored under that id; see tasks.Client. Errors: as Submit.
	Reserve(ctx context.Context, s *tasks.Submission) (rec tasks.Record, replayed bool, err error)
	// Submit accepts a job. After Submit has returned nil, the job survives any crash. replayed reports that the
	// idempotency key is known and rec is the earlier job. Errors: IdempotencyConflict, QueueFull,
	// QueueUnavailable.
	Submit(ctx context.Context, s tasks.Submission) (rec tasks.Record, replayed bool, err error)
	// Replay looks up an idempotency key before any work is done for a submission. Errors: IdempotencyConflict,
	// QueueUnavailable.
	Replay(ctx context.Context, owner, key, fingerprint string) (rec tasks.Record, found bool, err error)
	// Ask runs a task without a job on a worker and waits for its answer. Simultaneous calls with the same key
	// share one task; calls with the key "" share none. Errors: the worker's, QueueFull, QueueUnavailable, the
	// cause of ctx.
	Ask(ctx context.Context, key string, t tasks.Task) (json.RawMessage, error)
	// Workers returns the number of live worker processes. Errors: QueueUnavailable.
	Workers(ctx context.Context) (int, error)
	// Jobs lists an owner's jobs, newest first. Errors: InvalidOption (a bad
	// cursor), QueueUnavailable.
	Jobs(ctx context.Context, owner string, q tasks.Query) (tasks.Page, error)
	// Watch follows the events of a job after the sequence number since; a negative since means from now on. The
	// caller closes the Watch. Errors: NotFound, QueueUnavailable.
	Watch(ctx context.Context, id string, since int64) (*tasks.Watch, error)
}
