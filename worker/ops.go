package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"presswork/internal/ready"
)

// OpsOptions configure an Ops.
type OpsOptions struct {
	// Addr is host:port to listen on; port 0 takes a free one. Mandatory.
	Addr string
	// Checks are the checks of /readyz. Default: none, always ready.
	Checks []ready.Check
	// Metrics has the metrics of /metrics. Mandatory.
	Metrics prometheus.Gatherer
	// Log receives failed checks. Default: discarded.
	Log *slog.Logger
}

// Ops is the operations listener of a worker: /healthz, /readyz and /metrics.
// It requires no key, so its address must stay inside the operator's network.
type Ops struct {
	opts   OpsOptions
	server *http.Server
	// listener is nil before Start.
	listener net.Listener
}

// NewOps returns an Ops. It does not listen yet.
func NewOps(o OpsOptions) *Ops {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Ops{opts: o}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	// ContinueOnError: one broken collector must not hide all other metrics.
	mux.Handle("GET /metrics", promhttp.HandlerFor(o.Metrics,
		promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true}))
	s.server = &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      15 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}

	return s
}

// Start listens and serves in the background. ctx bounds the start only. It returns an error if it
// cannot listen on Addr.
func (s *Ops) Start(ctx context.Context) error {
	var lc net.ListenConfig

	l, err := lc.Listen(ctx, "tcp", s.opts.Addr)
	if err != nil {
		return fmt.Errorf("operations listener: %w", err)
	}

	s.listener = l
	go func() {
		if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.opts.Log.Error("the operations listener ended", "error", err)
		}
	}()

	return nil
}

// Addr returns the host:port of the listener; "" before Start.
func (s *Ops) Addr() string {
	if s.listener == nil {
		return ""
	}

	return s.listener.Addr().String()
}

// Stop lets running answers finish until ctx ends, and then closes their connections. A second call does nothing.
// It returns an error if it had to close connections.
func (s *Ops) Stop(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.server.Close())
	}

	if s.listener != nil {
		// Shutdown does not close a listener that Serve has not registered yet.
		s.listener.Close()
	}

	return err
}

// healthz reports that the process is alive. It checks no other service.
func (s *Ops) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"status":"ok"}`)
}

// readyz runs the checks and answers 503 when one fails.
func (s *Ops) readyz(w http.ResponseWriter, r *http.Request) {
	ok, report := ready.Run(r.Context(), s.opts.Checks)
	report.Log(r.Context(), s.opts.Log)

	body, err := json.Marshal(report)
	if err != nil {
		http.Error(w, "the report could not be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")

	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write(body)
}
