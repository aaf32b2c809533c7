package main

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"presswork/internal/config"
)

// newTracing sends traces to the operator's collector, if there is one. What is
// sent in the background is flushed when life stops it.
func newTracing(ctx context.Context, cfg config.Config, r roles, life *lifecycle) (trace.TracerProvider, error) {
	if cfg.OTLPEndpoint == "" {
		return noop.NewTracerProvider(), nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(cfg.OTLPEndpoint+"/v1/traces"))
	if err != nil {
		return nil, err
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(
			semconv.ServiceName("presswork"), semconv.ServiceVersion(version()), attribute.String("presswork.role", r.name()))),
	)
	life.onStop("tracing", provider.Shutdown)
	return provider, nil
}
