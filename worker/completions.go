package worker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/meter"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/tasks/stream"
)

const (
	// recordTimeout bounds the writes after a completion. It is as long as the outage of Redis that a call
	// survives.
	recordTimeout = 30 * time.Second
	// stoppingTimeout bounds the same writes in a worker that stops.
	stoppingTimeout = 3 * time.Second
	// recordPause is the time between two tries of a write.
	recordPause = 200 * time.Millisecond
)

// CompletionOptions configure Completions.
type CompletionOptions struct {
	// Gateway runs the completions. Mandatory.
	Gateway *gateway.Gateway
	// Meter records the usage and settles it with the key's limits. Mandatory.
	Meter *meter.Meter
	// Store and Keeper hold requests that are too large for Redis. A request is deleted after its
	// answer. Mandatory.
	Store  storage.Store
	Keeper *retention.Keeper
	// Metrics registers the metrics of completions. Default: they are not exported.
	Metrics prometheus.Registerer
	// Tracer creates a span for each completion, below the span of its request. Default: no spans.
	Tracer trace.TracerProvider
	// Log receives failed completions, and usage that could not be recorded. Default: discarded.
	Log *slog.Logger
}

// Completions answers calls for completions, speech, embeddings, rankings and relayed requests. It is safe for
// concurrent use.
type Completions struct {
	CompletionOptions
	metrics completionMetrics
	tracer  trace.Tracer
}

// NewCompletions returns Completions with defaults for unset options. Create one per registry of metrics.
func NewCompletions(o CompletionOptions) *Completions {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.Tracer == nil {
		o.Tracer = noop.NewTracerProvider()
	}

	return &Completions{
		CompletionOptions: o,
		metrics:           newCompletionMetrics(o.Metrics),
		tracer:            o.Tracer.Tracer("presswork/worker"),
	}
}

// Complete handles a call of the inference API. It runs the completion, sends each inference.Frame as it
// comes, and records the usage, also after a failure. A failure of the completion is sent as the last
// frame and is not an error of Complete. Errors: those of Redis, and the cause of ctx when the caller has
// left or the worker stops.
func (c *Completions) Complete(ctx context.Context, run *stream.Run) error {
	job, err := c.requestOf(ctx, run)
	switch {
	case err != nil && stream.IsStopping(ctx):
		// Another worker will run the call.
		return context.Cause(ctx)
	case err != nil:
		return c.fail(run, inference.AsError(err), nil)
	case run.Begun:
		// The caller has received a part of the answer, so it cannot start over.
		return c.failBegun(ctx, run, job)
	}

	ctx, span := c.startSpan(ctx, run, job)
	defer span.End()
	// The gateway compares Accepted with this machine's clock.
	job.Request.Accepted, job.Request.Owner = time.Now().Add(-run.Waited), run.Call.Owner

	// The caller reads this answer only when it is complete, so frames may share writes.
	if !job.Streams() {
		run.Gather()
	}
	timer := c.metrics.startTimer(ctx, job.Request.Model, run.Waited)
	var buffer []byte
	emit := func(frame inference.Frame, first bool) (err error) {
		if first {
			frame.QueueTime = run.Waited.Seconds()
			timer.recordFirstToken()
		}

		if buffer, err = frame.Append(buffer[:0]); err != nil {
			return err
		}

		return run.Send(buffer)
	}

	result, err := c.runJob(ctx, job, emit)
	timer.end(&result, err)

	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, string(fault.CodeOf(err)))
	}

	return c.conclude(ctx, run, job, &result, err)
}

// failBegun ends the call of a worker that died in the middle of the answer.
func (c *Completions) failBegun(ctx context.Context, run *stream.Run, job inference.Job) error {
	c.record(run, job, c.earlierUsage(ctx, run, job), ctx)

	return c.fail(run, inference.Errorf(http.StatusBadGateway, inference.UpstreamError,
		"the worker that ran this request ended unexpectedly, in the middle of the answer"), nil)
}

// conclude records the usage of a run that has ended with err, and sends the last frame. Errors are as in Complete.
func (c *Completions) conclude(
	ctx context.Context, run *stream.Run, job inference.Job, result *inference.Result, err error,
) error {
	if err != nil && !result.Emitted && stream.IsStopping(ctx) {
		// The caller has received nothing, so another worker can run the call.
		return context.Cause(ctx)
	}
	c.record(run, job, *result, ctx)

	if errors.Is(context.Cause(ctx), stream.ErrLeft) {
		c.deleteBody(run)
		return context.Cause(ctx)
	}

	if err != nil {
		e := inference.AsError(err)
		if stream.IsStopping(ctx) {
			e = inference.Errorf(http.StatusServiceUnavailable, inference.UpstreamError,
				"the worker is being restarted")
		} else if e.Status >= http.StatusInternalServerError {
			c.Log.WarnContext(ctx, "a completion failed", "call_id", run.ID, "request_id", run.Call.RequestID,
				"model", result.Model, "upstream", result.Upstream, "error", err, "cause", e.Cause)
		}

		return c.fail(run, e, result)
	}

	return c.sendLastFrame(run, inference.Frame{Result: result})
}

// fail sends an error as the last frame, with the result of the run if there is one.
func (c *Completions) fail(run *stream.Run, e *inference.Error, result *inference.Result) error {
	return c.sendLastFrame(run, inference.Frame{Error: e, Result: result})
}

// CompleteInternal completes a request of the program itself, without the queue and its limits. It passes each chunk to
// emit, and records the usage in the ledger under key. Errors: *inference.Error.
func (c *Completions) CompleteInternal(
	ctx context.Context, key string, r *inference.Request, emit func(*inference.Chunk) error,
) error {
	result, err := c.Gateway.Complete(ctx, r, emit)

	recordCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stoppingTimeout)
	defer cancel()

	recordErr := c.Meter.Record(recordCtx, tasks.NewID(), time.Time{}, usage(key, r.Model, result))
	if recordErr != nil {
		c.Log.ErrorContext(ctx, "the use of a completion was not recorded", "key", key, "model", r.Model,
			"error", recordErr)
	}

	return err
}

// requestOf returns the request of the call. Request is always set in the result, so that the fields which all
// calls share have one place. Errors: *inference.Error, for a body that is not in the store or cannot be decoded.
func (c *Completions) requestOf(ctx context.Context, run *stream.Run) (inference.Job, error) {
	var job inference.Job

	body := []byte(run.Call.Body)
	if run.Call.BodyKey != "" {
		var err error
		if body, err = c.readBody(ctx, run.Call.BodyKey); err != nil {
			return job, inference.Errorf(http.StatusServiceUnavailable, fault.StoreUnavailable,
				"the request could not be read back from the store").WithCause(err)
		}
	}

	err := json.Unmarshal(body, &job)

	switch {
	case job.Request != nil:
	case job.Speech != nil:
		job.Request = &inference.Request{Model: job.Speech.Model}
	case job.Embedding != nil:
		job.Request = &inference.Request{Model: job.Embedding.Model}
	case job.Reranking != nil:
		job.Request = &inference.Request{Model: job.Reranking.Model}
	case job.Relay != nil:
		job.Request = &inference.Request{Model: job.Relay.Model}
	}

	if err != nil || job.Request == nil {
		return job, inference.Errorf(http.StatusInternalServerError, fault.Internal, "the request cannot be read").
			WithCause(err)
	}

	return job, nil
}

// readBody reads a request that is too large for Redis from the store.
func (c *Completions) readBody(ctx context.Context, key string) ([]byte, error) {
	r, _, err := c.Store.Get(ctx, key, storage.Range{})
	if err != nil {
		return nil, err
	}
	defer r.Close()

	return io.ReadAll(r)
}

// startSpan starts the span of a completion, below that of its request.
func (c *Completions) startSpan(ctx context.Context, run *stream.Run, job inference.Job) (context.Context, trace.Span) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": run.Call.TraceParent})

	return c.tracer.Start(
		ctx,
		"chat "+job.Request.Model,
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			attribute.String("gen_ai.operation.name", "chat"),
			attribute.String("gen_ai.request.model", job.Request.Model),
			attribute.String("presswork.call_id", run.ID),
			attribute.Int("presswork.attempt", run.Attempt),
		),
	)
}

// sendLastFrame sends the last frame, and deletes the request from the store. Errors: those of stream.Run.Finish.
func (c *Completions) sendLastFrame(run *stream.Run, f inference.Frame) error {
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	err = run.Finish(b)
	c.deleteBody(run)

	return err
}

// deleteBody deletes a request that is in the store.
func (c *Completions) deleteBody(run *stream.Run) {
	key := run.Call.BodyKey
	if key == "" {
		return
	}

	ctx, cancel := context.WithTimeout(context.Background(), stoppingTimeout)
	defer cancel()

	if err := c.Keeper.Delete(ctx, key); err != nil {
		c.Log.WarnContext(ctx, "a request was not deleted; the next sweep does it", "call_id", run.ID, "key", key,
			"error", err)
	}
}
