package app

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// newTracing sends traces to the operator's collector, or nowhere if no collector is set. The stop function sends the
// remaining traces.
func newTracing(ctx context.Context, o Options, life *lifecycle) (trace.TracerProvider, error) {
	endpoint := o.Config.OTLPEndpoint
	if endpoint == "" {
		return noop.NewTracerProvider(), nil
	}

	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint+"/v1/traces"))
	if err != nil {
		return nil, err
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(
			semconv.ServiceName("presswork"), semconv.ServiceVersion(o.Version),
			attribute.String("presswork.role", o.Roles.name()))),
	)
	life.onStop("tracing", provider.Shutdown)

	return provider, nil
}
