package worker

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
	// maxReply is the largest result of a call, in bytes of JSON, and maxShown what code
	// may have shown of it: four pictures of a megabyte, in base64.
	maxReply = 8 << 20
	maxShown = 6 << 20
	// toolIdle is how long a session is held in which nothing is called: longer than a
	// model thinks.
	toolIdle = 10 * time.Minute
)

// Tool is a built-in tool as a worker has it.
type Tool struct {
	// Type is inference.CodeInterpreter or inference.BrowserSearch.
	Type string
	// Unavailable is why the tool cannot be had here, a public sentence without its
	// full stop; "" where it can.
	Unavailable string
	// Open begins the tool's part of a session that has these files. Its end closes
	// what Open returned. Not needed where the tool is unavailable.
	Open func(ctx context.Context, files []ToolFile) (OpenTool, error)
}

// OpenTool is what a tool knows of one session. It is for one goroutine.
type OpenTool interface {
	// Call is as in inference.ToolSession; an error ends the session.
	Call(ctx context.Context, c inference.BuiltinCall) (inference.ToolResult, error)
	Close() error
}

// ToolsOptions wire Tools.
type ToolsOptions struct {
	// Tools are those of this worker, each type once.
	Tools []Tool
	// Store has the files of sessions. Mandatory.
	Store storage.Store
	// Idle is how long a session is held in which nothing is called. Default 10 min.
	Idle time.Duration
	// Metrics is where the metrics of tools are registered. Default: nowhere.
	Metrics prometheus.Registerer
	// Tracer makes a span of every call, below that of its completion. Default: none
	// is made.
	Tracer trace.TracerProvider
	// Log gets sessions that failed. Default: discard.
	Log *slog.Logger
}

// Tools holds the sessions of completions with built-in tools: the side of the one
// who runs them; see Toolbox.
type Tools struct {
	ToolsOptions
	metrics toolMetrics
	tracer  trace.Tracer
}

// NewTools wires Tools.
func NewTools(o ToolsOptions) *Tools {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.Tracer == nil {
		o.Tracer = noop.NewTracerProvider()
	}

	if o.Idle == 0 {
		o.Idle = toolIdle
	}

	return &Tools{ToolsOptions: o, metrics: newToolMetrics(o.Metrics), tracer: o.Tracer.Tracer("presswork/worker")}
}

// Offer is what this worker has.
func (t *Tools) Offer() tasks.Offer {
	offer := tasks.Offer{}
	for _, tool := range t.Tools {
		offer[tool.Type] = tool.Unavailable
	}

	return offer
}

var errIdle = errors.New("nothing was called for too long")

// Serve holds a session until its caller leaves: it answers each call, one after the
// other. Errors are those of Redis, and the cause of ctx.
func (t *Tools) Serve(ctx context.Context, run *stream.Run) error {
	if run.Begun {
		return over(run, "its worker ended unexpectedly, and what it held is lost")
	}

	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": run.Call.TraceParent})
	defer t.metrics.session(run.Waited)()

	s := &openSession{tools: t, open: map[string]OpenTool{}}
	defer s.close()

	if err := s.begin(ctx, run); err != nil {
		if stopping(ctx) {
			// Another worker reads the files.
			return context.Cause(ctx)
		}
		t.Log.WarnContext(ctx, "a session of tools could not begin", "call_id", run.ID, "error", err)

		return over(run, "its files could not be read")
	}

	for {
		reply, err := s.next(ctx, run)
		switch {
		case err == nil:
			if err := run.Send(reply); err != nil {
				return err
			}
		case errors.Is(err, errIdle):
			return over(run, errIdle.Error())
		case ctx.Err() == nil:
			t.Log.WarnContext(ctx, "a session of tools failed", "call_id", run.ID, "error", err)
			return over(run, "a tool stopped unexpectedly")
		case errors.Is(context.Cause(ctx), stream.ErrDraining) && s.replied:
			return over(run, "its worker is being restarted")
		default:
			return context.Cause(ctx)
		}
	}
}

// over ends a session with the reason.
func over(run *stream.Run, why string) error {
	b, err := json.Marshal(toolReply{Over: why})
	if err != nil {
		return err
	}

	return run.Finish(b)
}

// openSession is a session as its worker holds it.
type openSession struct {
	tools *Tools
	files []ToolFile
	// open are the tools that were called, by type.
	open    map[string]OpenTool
	replied bool
}

func (s *openSession) begin(ctx context.Context, run *stream.Run) error {
	body := []byte(run.Call.Body)
	if run.Call.BodyKey != "" {
		r, _, err := s.tools.Store.Get(ctx, run.Call.BodyKey, storage.Range{})
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

// next waits for a call and returns the reply to it.
func (s *openSession) next(ctx context.Context, run *stream.Run) ([]byte, error) {
	idle, cancel := context.WithTimeoutCause(ctx, s.tools.Idle, errIdle)
	defer cancel()

	input, err := run.Receive(idle)
	if err != nil {
		return nil, err
	}

	var call inference.BuiltinCall
	if err := json.Unmarshal(input, &call); err != nil {
		return nil, fmt.Errorf("a call cannot be read: %w", err)
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

func (s *openSession) call(ctx context.Context, c inference.BuiltinCall) (result inference.ToolResult, err error) {
	ctx, span := s.tools.tracer.Start(ctx, "execute_tool "+c.Name, trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", c.Name)))
	defer span.End()

	began := time.Now()
	defer func() { s.tools.metrics.call(c.Name, time.Since(began), result.Failed, err) }()

	tool, err := s.tool(ctx, c.Name)
	if err != nil {
		return inference.ToolResult{}, err
	}

	if tool == nil {
		return inference.ToolResult{Failed: true, Output: fmt.Sprintf("There is no tool %q here.", c.Name)}, nil
	}

	return tool.Call(ctx, c)
}

// tool returns the open tool that has a function; nil when there is none.
func (s *openSession) tool(ctx context.Context, function string) (OpenTool, error) {
	kind := inference.BrowserSearch
	if function == inference.PythonFunction {
		kind = inference.CodeInterpreter
	}

	if tool, ok := s.open[kind]; ok {
		return tool, nil
	}

	for _, tool := range s.tools.Tools {
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

func (s *openSession) close() {
	for kind, tool := range s.open {
		if err := tool.Close(); err != nil {
			s.tools.Log.Warn("a tool was not closed", "tool", kind, "error", err)
		}
	}
}

// encodeReply leaves out pictures, the last first, until the result is no larger than a reply may
// be.
func encodeReply(r inference.ToolResult, took time.Duration) ([]byte, error) {
	size, dropped := 0, 0

	kept := make([]inference.CodeResult, 0, len(r.Code))
	for _, c := range r.Code {
		if size += len(c.PNG) + len(c.Text); size > maxShown {
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
	if err == nil && len(b) > maxReply {
		return json.Marshal(toolReply{Took: took, Result: &inference.ToolResult{Failed: true, Output: fmt.Sprintf(
			"The result is too large: %d bytes; allowed are %d.", len(b), maxReply)}})
	}

	return b, err
}
