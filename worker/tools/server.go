package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"presswork/internal/inference"
	"presswork/storage"
	"presswork/tasks"
	"presswork/tasks/stream"
)

const (
	// maxReplyBytes is the limit of a call's result, in bytes of JSON.
	maxReplyBytes = 8 << 20
	// maxCodeBytes is the limit of the pictures and texts that code shows, in bytes. It has space for four pictures of
	// a megabyte in base64.
	maxCodeBytes = 6 << 20
	// toolIdle is how long a session without calls stays open: longer than a model thinks.
	toolIdle = 10 * time.Minute
)

// Tool is a built-in tool of a worker.
type Tool struct {
	// Type is inference.CodeInterpreter or inference.BrowserSearch.
	Type string
	// Unavailable is why this worker does not have the tool, a public sentence without its full stop;
	// "" when it has the tool.
	Unavailable string
	// Open starts the tool for a session with these files. The end of the session closes the OpenTool.
	// Not needed when the tool is unavailable.
	Open func(ctx context.Context, files []File) (OpenTool, error)
}

// OpenTool is a tool in one session. It is not safe for concurrent use.
type OpenTool interface {
	// Call runs one call, as inference.ToolSession.Call does. An error ends the session.
	Call(ctx context.Context, c inference.BuiltinCall) (inference.ToolResult, error)
	// Close releases what the tool holds for the session.
	Close() error
}

// ServerOptions configure a Server.
type ServerOptions struct {
	// Tools are the tools of this worker, each type once.
	Tools []Tool
	// Store has the files of sessions. Mandatory.
	Store storage.Store
	// Idle is how long a session without calls stays open. Default 10 min.
	Idle time.Duration
	// Metrics registers the metrics of tools. Default: they are not exported.
	Metrics prometheus.Registerer
	// Tracer makes a span for each call, below the span of its completion. Default: no spans.
	Tracer trace.TracerProvider
	// Log receives failed sessions. Default: discarded.
	Log *slog.Logger
}

// Server serves the sessions of completions with built-in tools. It is the side of the worker that runs
// the tools; Toolbox is the other side.
type Server struct {
	ServerOptions
	metrics metrics
	tracer  trace.Tracer
}

// NewServer returns a Server with defaults for unset options.
func NewServer(o ServerOptions) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.Tracer == nil {
		o.Tracer = noop.NewTracerProvider()
	}

	if o.Idle == 0 {
		o.Idle = toolIdle
	}

	return &Server{ServerOptions: o, metrics: newMetrics(o.Metrics), tracer: o.Tracer.Tracer("presswork/worker")}
}

// Offer returns the tools of this worker, with the reason why one is unavailable.
func (s *Server) Offer() tasks.Offer {
	offer := tasks.Offer{}
	for _, tool := range s.Tools {
		offer[tool.Type] = tool.Unavailable
	}

	return offer
}

// errIdle ends a session that got no call for ServerOptions.Idle. Its text is shown to the caller.
var errIdle = errors.New("the session was idle for too long")

// Serve runs a session until its caller leaves. It answers the calls one after another. Errors: those of
// Redis, and the cause of ctx.
func (s *Server) Serve(ctx context.Context, run *stream.Run) error {
	if run.Begun {
		return endSession(run, "its worker ended unexpectedly, so its state is lost")
	}

	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": run.Call.TraceParent})
	defer s.metrics.session(run.Waited)()

	session := &openSession{server: s, open: map[string]OpenTool{}}
	defer session.close()

	if err := session.readFiles(ctx, run); err != nil {
		if stream.IsStopping(ctx) {
			// Another worker will read the files.
			return context.Cause(ctx)
		}
		s.Log.WarnContext(ctx, "a session of tools could not begin", "call_id", run.ID, "error", err)

		return endSession(run, "its files could not be read")
	}

	for {
		reply, err := session.nextReply(ctx, run)
		switch {
		case err == nil:
			if err := run.Send(reply); err != nil {
				return err
			}
		case errors.Is(err, errIdle):
			return endSession(run, errIdle.Error())
		case ctx.Err() == nil:
			s.Log.WarnContext(ctx, "a session of tools failed", "call_id", run.ID, "error", err)
			return endSession(run, "a tool stopped unexpectedly")
		case errors.Is(context.Cause(ctx), stream.ErrDraining) && session.replied:
			return endSession(run, "its worker is being restarted")
		default:
			return context.Cause(ctx)
		}
	}
}

// endSession ends a session. The caller gets the reason as an error. It returns the error of stream.Run.Finish.
func endSession(run *stream.Run, reason string) error {
	b, err := json.Marshal(toolReply{Over: reason})
	if err != nil {
		return err
	}

	return run.Finish(b)
}

// openSession is the worker's side of a session.
type openSession struct {
	server *Server
	// files are given to each tool when it is opened.
	files []File
	// open has the tools that were called, by type.
	open map[string]OpenTool
	// replied is set after the first reply, when the session can no longer move to another worker.
	replied bool
}

// readFiles reads the files of the session, from the call or from the store. Errors: those of the store, a body
// that cannot be decoded.
func (s *openSession) readFiles(ctx context.Context, run *stream.Run) error {
	body := []byte(run.Call.Body)
	if run.Call.BodyKey != "" {
		r, _, err := s.server.Store.Get(ctx, run.Call.BodyKey, storage.Range{})
		if err != nil {
			return err
		}
		defer r.Close()

		if body, err = io.ReadAll(r); err != nil {
			return err
		}
	}
	var opening toolOpening
	err := json.Unmarshal(body, &opening)
	s.files = opening.Files

	return err
}

// nextReply waits for a call and returns the reply to it.
func (s *openSession) nextReply(ctx context.Context, run *stream.Run) ([]byte, error) {
	idleCtx, cancel := context.WithTimeoutCause(ctx, s.server.Idle, errIdle)
	defer cancel()

	input, err := run.Receive(idleCtx)
	if err != nil {
		return nil, err
	}

	var call inference.BuiltinCall
	if err := json.Unmarshal(input, &call); err != nil {
		return nil, fmt.Errorf("decode a call: %w", err)
	}
	began := time.Now()
	result, err := s.call(ctx, call)
	took := time.Since(began)

	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}

	if err != nil {
		return nil, err
	}
	s.replied = true

	return encodeReply(result, took)
}

// call runs a call on its tool. A call of an unknown tool is a failed result, which the model sees.
func (s *openSession) call(ctx context.Context, c inference.BuiltinCall) (result inference.ToolResult, err error) {
	ctx, span := s.server.tracer.Start(ctx, "execute_tool "+c.Name, trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", c.Name)))
	defer span.End()

	began := time.Now()
	defer func() { s.server.metrics.call(c.Name, time.Since(began), result.Failed, err) }()

	tool, err := s.tool(ctx, c.Name)
	if err != nil {
		return inference.ToolResult{}, err
	}

	if tool == nil {
		return inference.ToolResult{Failed: true, Output: fmt.Sprintf("There is no tool %q here.", c.Name)}, nil
	}

	return tool.Call(ctx, c)
}

// tool returns the tool that has a function, and opens it at its first use; nil when this worker has no such tool.
func (s *openSession) tool(ctx context.Context, function string) (OpenTool, error) {
	kind := inference.BrowserSearch
	if function == inference.PythonFunction {
		kind = inference.CodeInterpreter
	}

	if tool, ok := s.open[kind]; ok {
		return tool, nil
	}

	for _, tool := range s.server.Tools {
		if tool.Type == kind && tool.Unavailable == "" {
			opened, err := tool.Open(ctx, s.files)
			if err == nil {
				s.open[kind] = opened
			}

			return opened, err
		}
	}

	return nil, nil
}

// close closes the open tools.
func (s *openSession) close() {
	for kind, tool := range s.open {
		if err := tool.Close(); err != nil {
			s.server.Log.Warn("a tool was not closed", "tool", kind, "error", err)
		}
	}
}

// encodeReply encodes the result of a call. It drops pictures and texts beyond maxCodeBytes, and replaces a
// result beyond maxReplyBytes by a failed one.
func encodeReply(r inference.ToolResult, took time.Duration) ([]byte, error) {
	size, dropped := 0, 0

	kept := make([]inference.CodeResult, 0, len(r.Code))
	for _, c := range r.Code {
		if size += len(c.PNG) + len(c.Text); size > maxCodeBytes {
			dropped++
			continue
		}
		kept = append(kept, c)
	}

	if dropped > 0 {
		r.Code = kept
		r.Output += fmt.Sprintf("\n[%d results are left out: they are too large]", dropped)
	}

	b, err := json.Marshal(toolReply{Result: &r, Took: took})
	if err == nil && len(b) > maxReplyBytes {
		return json.Marshal(toolReply{Took: took, Result: &inference.ToolResult{Failed: true, Output: fmt.Sprintf(
			"The result is too large: %d bytes; allowed are %d.", len(b), maxReplyBytes)}})
	}

	return b, err
}
