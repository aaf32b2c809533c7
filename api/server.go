// Package api is the HTTP server. It checks requests, puts jobs and calls on the queue, and relays their events
// and results. routes.go lists all routes; openapi.yaml describes them for callers. A test compares the two.
//
// A request passes these steps:
//  1. Server.wrapRequests gives it an id and a span, rejects ambiguous heads, and checks its origin.
//  2. Server.guarded identifies the caller by a key or a token, as the access of the route demands.
//  3. limits.Limiter.Wrap counts it against the limits of the key, before the body is read.
//  4. The handler reads the body, within its own limit, and checks what can be checked without a worker.
//  5. It submits a job, or package calls begins a call. The handler answers 202, or waits for the end.
//  6. An error becomes the answer in Server.onError, in the form that the route's clients expect.
//
// Documents are printed by workers only. This process composes previews and analyses texts, in package compose.
package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/trace"

	"presswork/api/access"
	"presswork/api/admin"
	"presswork/api/calls"
	"presswork/api/compose"
	"presswork/api/conn"
	"presswork/api/exchange"
	"presswork/api/limits"
	"presswork/api/metrics"
	"presswork/api/objects"
	"presswork/api/openai"
	"presswork/api/pages"
	"presswork/api/upload"
	"presswork/api/usage"
	"presswork/api/views"
	"presswork/internal/fault"
	"presswork/internal/mcp"
)

// idleTimeout is how long a connection may stay open without a request.
const idleTimeout = 75 * time.Second

// Server is the HTTP server of the api role.
type Server struct {
	Options
	// app routes requests to the handlers of this package and of its children.
	app *fiber.App
	// keys, origins and proxies decide who may call: see package access.
	keys    *access.Keyring
	origins access.Origins
	proxies access.Proxies
	// views and objects are shared by the handlers: JSON with signed addresses, and the object store.
	views   views.Views
	objects objects.Objects
	// streams are the answers that last until the client leaves or a job ends.
	streams *conn.Streams
	// completions are the long answers that end by themselves. At a stop they get more time than streams.
	completions *conn.Streams
	v1          *openai.Service // answers the routes under /v1; nil without Inference
	mcp         http.Handler    // answers /mcp
	// The handlers of the child packages.
	pages    *pages.Pages
	admin    *admin.Admin
	usage    *usage.Report
	calls    *calls.Handlers
	limiter  *limits.Limiter
	composer *compose.Composer
	// bodies reads requests within the memory of this node.
	bodies  exchange.Bodies
	metrics *metrics.Metrics
	tracer  trace.Tracer

	// listener is nil before Start.
	listener net.Listener
	// served receives the result of the HTTP server's accept loop.
	served   chan error
	reloader sync.WaitGroup
	// stopReloader ends the goroutine of reloader, which reloads the keys.
	stopReloader context.CancelFunc
	// stopping makes Stop do its work once; stopErr is its result.
	stopping sync.Once
	stopErr  error
}

// New reads the keys and returns a server that does not listen yet. It fails for invalid options, for an invalid key
// file, and for an address that other machines can reach when no key is set.
func New(o Options) (*Server, error) {
	o.setDefaults()

	if err := o.validate(); err != nil {
		return nil, err
	}

	keys, err := access.NewKeyring(access.KeyringOptions{
		Shared: o.Keys, File: o.KeysFile, FileOptional: o.KeysFileOptional, Getenv: o.Getenv, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}

	proxies, err := access.ParseProxies(o.TrustedProxies)
	if err != nil {
		return nil, err
	}

	v1, err := newV1(o.Inference, o.TokenSecret)
	if err != nil {
		return nil, err
	}
	measured := newMetrics(o)
	s := &Server{
		Options:     o,
		keys:        keys,
		origins:     access.NewOrigins(o.Addr, o.AllowedOrigins),
		proxies:     proxies,
		views:       views.New(o.TokenSecret),
		objects:     objects.Objects{Store: o.Store, Keeper: o.Keeper, Log: o.Log},
		streams:     conn.NewStreams(measured.CountStream),
		completions: conn.NewStreams(measured.CountStream),
		pages:       pages.New(openapiYAML),
		limiter:     limits.New(limits.Options{Meter: o.Meter, RPM: o.RateLimitRPM, Log: o.Log}),
		bodies: exchange.Bodies{Timeout: o.ReadTimeout, Intake: upload.NewIntake(upload.IntakeOptions{
			Memory: o.HeldMemory, MemoryGauge: measured.Bodies.WithLabelValues("memory"),
			Disk: o.HeldDisk, DiskGauge: measured.Bodies.WithLabelValues("disk"),
		})},
		metrics:      measured,
		v1:           v1,
		mcp:          mcp.New(mcp.Options{Version: o.Version, Log: o.Log}).Handler(),
		tracer:       o.Tracer.Tracer("presswork/api"),
		served:       make(chan error, 1),
		stopReloader: func() {},
	}
	s.admin, s.usage, s.calls = s.newAdmin(), s.newUsage(), s.newCalls()
	s.composer = compose.New(compose.Options{
		Themes: o.Themes, Fetch: o.Fetch, Diagrams: o.Diagrams, Remote: s.drawDiagrams, Recommender: o.Recommender,
		Log: o.Log,
	})
	s.app = s.newApp()

	return s, nil
}

// newMetrics registers the metrics of the server.
func newMetrics(o Options) *metrics.Metrics {
	m := metrics.Options{Registry: o.Metrics, Events: o.Events, Stats: o.Stats}
	if o.Keeper != nil {
		m.Level = o.Keeper.Level
	}

	return metrics.New(m)
}

// newAdmin returns the handlers of the operators' page.
func (s *Server) newAdmin() *admin.Admin {
	return admin.New(admin.Options{
		Queue:           s.Queue,
		Objects:         s.objects,
		Views:           s.views,
		Bodies:          s.bodies,
		MaxContentBytes: s.MaxContentBytes,
		Check:           s.checkConversion,
		TaskOf:          s.taskOf,
		TraceURL:        s.TraceURL,
		Log:             s.Log,
	})
}

// newUsage returns the handlers that report usage.
func (s *Server) newUsage() *usage.Report {
	o := usage.Options{Meter: s.Meter, Callers: s.keys.Callers, Now: s.now}
	if s.Inference != nil {
		o.Models = s.Inference.Models
	}

	return usage.New(o)
}

// newCalls returns the handlers of calls; nil without Inference.
func (s *Server) newCalls() *calls.Handlers {
	if s.Inference == nil {
		return nil
	}

	return calls.New(calls.Options{
		Service: s.v1,
		Queue:   s.Inference.Calls,
		Objects: s.objects,
		Limiter: s.limiter,
		Bodies:  s.bodies,
		Streams: s.completions,
		Log:     s.Log,
	})
}

// newApp returns the Fiber application with its routes.
func (s *Server) newApp() *fiber.App {
	app := fiber.New(fiber.Config{
		DisableStartupMessage:     true,
		DisableDefaultContentType: true,
		CaseSensitive:             true,
		// Parameters and headers are used in jobs, logs and goroutines after Fiber has reused the buffers of the
		// request.
		Immutable: true,
		// Handlers read bodies themselves, each with its own limit, after the key was checked.
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		BodyLimit:                    math.MaxInt,
		ReadBufferSize:               16 << 10,
		ReadTimeout:                  s.ReadTimeout,
		IdleTimeout:                  idleTimeout,
		ErrorHandler:                 s.onError,
	})
	s.mount(app)
	server := app.Server()
	server.Handler = s.wrapRequests(app.Handler())
	server.ErrorHandler = s.onBadRequest
	server.CloseOnShutdown = true

	return app
}

// Start begins to serve. It returns once the port is open; ctx bounds only that. Errors: the address is in use, or
// the TLS files are not valid.
func (s *Server) Start(ctx context.Context) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Addr)
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}

	// TLS wraps the listener with the write deadlines, so that they also cover the records of TLS.
	serving := net.Listener(conn.Listener{Listener: ln, WriteTimeout: s.WriteTimeout, Log: s.Log})
	if s.TLSCert != "" {
		cert, err := tls.LoadX509KeyPair(s.TLSCert, s.TLSKey)
		if err != nil {
			return errors.Join(fmt.Errorf("api: API_TLS_CERT, API_TLS_KEY: %w", err), ln.Close())
		}
		serving = tls.NewListener(serving,
			&tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	}
	background, stopReloader := context.WithCancel(context.Background())
	s.listener, s.stopReloader = ln, stopReloader

	s.reloader.Go(func() { s.keys.Watch(background) })
	go func() {
		err := s.app.Server().Serve(serving)
		if err != nil {
			s.Log.Error("the API stopped accepting connections", "err", err)
		}
		s.served <- err
	}()

	return nil
}

// Address returns the address of the listener ("127.0.0.1:8000"); "" before Start.
func (s *Server) Address() string {
	if s.listener == nil {
		return ""
	}

	return s.listener.Addr().String()
}

// Stop drains the server. It closes sockets with code 1001, ends event streams and long polls, and answers requests
// under way. Completions may continue for half of the time until ctx's deadline. Stop returns when all answers have
// ended, or with an error when ctx ends. A second call returns the result of the first.
func (s *Server) Stop(ctx context.Context) error {
	s.stopping.Do(func() { s.stopErr = s.stop(ctx) })
	return s.stopErr
}

// stop ends open streams and requests. ctx limits it; completions may finish during the first half of that time.
func (s *Server) stop(ctx context.Context) error {
	s.stopReloader()
	s.reloader.Wait()

	if s.listener == nil {
		return nil
	}
	cause := fault.Errorf(fault.QueueUnavailable, "the server is shutting down")

	patience := idleTimeout
	if deadline, ok := ctx.Deadline(); ok {
		patience = time.Until(deadline) / 2
	}

	// Both drains run at the same time, because completions may use half of the time.
	completed := make(chan error, 1)
	go func() { completed <- s.completions.Drain(ctx, patience, cause) }()
	err := errors.Join(s.streams.Drain(ctx, 0, cause), <-completed)
	err = errors.Join(err, s.app.Server().ShutdownWithContext(ctx))
	// If Serve has not started yet, it would start now and never end.
	_ = s.listener.Close()

	if err != nil {
		return fmt.Errorf("api: some answers did not end in time: %w", err)
	}

	return <-s.served
}

// now returns the time of Redis, which all nodes share, or this machine's without a Keeper.
func (s *Server) now() time.Time {
	if s.Keeper != nil {
		return s.Keeper.Now()
	}

	return time.Now()
}
