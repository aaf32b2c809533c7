package worker

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks"
)

// observe begins a run's span, below that of its submission. The func it
// returns ends the span and counts the run.
func (w *Worker) observe(ctx context.Context, run *tasks.Run) (context.Context, func(cached bool, err error)) {
	kind, began := run.Record.Kind, time.Now()
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": run.Record.TraceParent})

	ctx, span := w.tracer.Start(ctx, string(kind), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("presswork.job_id", run.ID), attribute.Int("presswork.attempt", run.Attempt)))
	if started := run.Record.StartedAt; run.Attempt == 1 && started != nil {
		waited := max(0, started.Sub(run.Record.CreatedAt))
		span.SetAttributes(attribute.Float64("presswork.wait_seconds", waited.Seconds()))
		observe(ctx, w.metrics.waits.WithLabelValues(string(kind)), waited)
	}

	return ctx, func(cached bool, err error) {
		w.metrics.done(kind, cached, err)
		observe(ctx, w.metrics.runs.WithLabelValues(string(kind)), time.Since(began))
		span.SetAttributes(attribute.Bool("presswork.cached", cached))

		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, string(fault.CodeOf(err)))
		}
		span.End()
	}
}

// stage begins a stage's span. The func it returns ends it and records how long
// the stage took.
func (w *Worker) stage(ctx context.Context, stage presswork.Stage) (context.Context, func()) {
	began := time.Now()
	ctx, span := w.tracer.Start(ctx, string(stage))

	return ctx, func() {
		observe(ctx, w.metrics.stages.WithLabelValues(string(stage)), time.Since(began))
		span.End()
	}
}
