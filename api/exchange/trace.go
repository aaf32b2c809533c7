package exchange

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traceHeader is the header of W3C Trace Context.
const traceHeader = "traceparent"

// BeginSpan starts the span of the request as a child of the client's span. It updates m.Trace, which the job
// carries to the worker. If no span is recorded, m.Trace stays the client's.
func (m *Meta) BeginSpan(tracer trace.Tracer) {
	w3c := propagation.TraceContext{}
	parent := w3c.Extract(context.Background(), propagation.MapCarrier{traceHeader: m.Trace})
	ctx, span := tracer.Start(parent, m.Method, trace.WithSpanKind(trace.SpanKindServer))

	m.Span = span
	if span.IsRecording() {
		carrier := propagation.MapCarrier{}
		w3c.Inject(ctx, carrier)
		m.Trace = carrier[traceHeader]
	}
}

// EndSpan names the span by its route and ends it.
func (m *Meta) EndSpan(status int) {
	if !m.Span.IsRecording() {
		return
	}

	if m.Route != "" {
		m.Span.SetName(m.Method + " " + m.Route)
	}
	m.Span.SetAttributes(attribute.String("http.request.method", m.Method), attribute.String("http.route", m.Route),
		attribute.Int("http.response.status_code", status), attribute.String("presswork.request_id", m.ID))

	if status >= http.StatusInternalServerError {
		m.Span.SetStatus(codes.Error, http.StatusText(status))
	}
	m.Span.End()
}

// traceParent returns the client's trace parent when it is valid (W3C Trace Context), else a new one.
func traceParent(incoming string) string {
	if isTraceParent(incoming) {
		return incoming
	}
	var b [24]byte
	// crypto/rand never fails; see its documentation.
	_, _ = rand.Read(b[:])

	return "00-" + hex.EncodeToString(b[:16]) + "-" + hex.EncodeToString(b[16:]) + "-01"
}

// isTraceParent reports whether s is a traceparent header of version 00 of W3C Trace Context, with ids that are not
// zero.
func isTraceParent(s string) bool {
	const zeros = "00000000000000000000000000000000"
	if len(s) != 55 || s[:3] != "00-" || s[35] != '-' || s[52] != '-' || s[3:35] == zeros || s[36:52] == zeros[:16] {
		return false
	}

	for i, r := range s {
		if i == 2 || i == 35 || i == 52 {
			continue
		}

		if !(r >= '0' && r <= '9' || r >= 'a' && r <= 'f') {
			return false
		}
	}

	return true
}
