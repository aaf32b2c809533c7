package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/oklog/ulid/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"presswork/api/access"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/inference/meter"
)

// metadata holds what the server knows about a request besides its body.
type metadata struct {
	// id is the X-Request-Id, trace the traceparent.
	id, trace string
	// method is the method that the client sent, even if no route supports it.
	method string
	// route is the pattern of the matching route; "" for none.
	route string
	// peer is the address at the other end of the connection.
	peer netip.Addr
	// site is the host that the client sent the request to.
	site access.Site
	// ip is the address of the client, or of the last proxy that is not trusted.
	ip     netip.Addr
	caller access.Caller
	began  time.Time
	// limitsSent reports whether the x-ratelimit headers of the caller are set.
	limitsSent bool
	// bodyRead reports whether the body was read to its end.
	bodyRead bool
	// held counts the bytes that the body takes from the node's intake.
	held upload.Hold
	// grant is the request's share of its key's limits. It is nil without limits, and after a completion has taken
	// it over.
	grant *meter.Grant
	span  trace.Span
}

// metadataKey is the key of the metadata among the user values of a request.
type metadataKey struct{}

// newMetadata returns the metadata of a request that has just begun.
func newMetadata(ctx *fasthttp.RequestCtx, proxies access.Proxies) *metadata {
	h := &ctx.Request.Header
	m := &metadata{
		id:     requestID(string(h.Peek("X-Request-Id"))),
		trace:  traceParent(string(h.Peek("Traceparent"))),
		method: string(h.Method()),
		began:  time.Now(),
	}

	from := access.Forwarded{
		Host:          string(h.Host()),
		ForwardedHost: string(h.Peek("X-Forwarded-Host")),
		ForwardedFor:  string(h.Peek("X-Forwarded-For")),
	}
	if tcp, ok := ctx.RemoteAddr().(*net.TCPAddr); ok {
		from.Peer = tcp.AddrPort().Addr().Unmap()
	}
	m.peer = from.Peer
	m.ip, m.site = proxies.Client(from)

	return m
}

// traceHeader is the header of W3C Trace Context.
const traceHeader = "traceparent"

// beginSpan starts the span of the request as a child of the client's span. It updates m.trace, which the job
// carries to the worker. If no span is recorded, m.trace stays the client's.
func (s *Server) beginSpan(m *metadata) {
	w3c := propagation.TraceContext{}
	parent := w3c.Extract(context.Background(), propagation.MapCarrier{traceHeader: m.trace})
	ctx, span := s.tracer.Start(parent, m.method, trace.WithSpanKind(trace.SpanKindServer))

	m.span = span
	if span.IsRecording() {
		carrier := propagation.MapCarrier{}
		w3c.Inject(ctx, carrier)
		m.trace = carrier[traceHeader]
	}
}

// endSpan names the span by its route and ends it.
func (m *metadata) endSpan(status int) {
	if !m.span.IsRecording() {
		return
	}

	if m.route != "" {
		m.span.SetName(m.method + " " + m.route)
	}
	m.span.SetAttributes(attribute.String("http.request.method", m.method), attribute.String("http.route", m.route),
		attribute.Int("http.response.status_code", status), attribute.String("presswork.request_id", m.id))

	if status >= http.StatusInternalServerError {
		m.span.SetStatus(codes.Error, http.StatusText(status))
	}
	m.span.End()
}

// metadataOf returns the metadata that wrapRequests has stored. It panics for a request that did not pass through it.
func metadataOf(ctx *fasthttp.RequestCtx) *metadata { return ctx.UserValue(metadataKey{}).(*metadata) }

// wrapRequests wraps next with everything that each request needs: request id, trace, CORS, recovery from panics,
// metrics and logging.
func (s *Server) wrapRequests(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		meta := newMetadata(ctx, s.proxies)
		s.beginSpan(meta)
		s.metrics.Running.Inc()
		ctx.SetUserValue(metadataKey{}, meta)

		setHeaders(ctx, meta)
		defer s.endRequest(ctx, meta)
		defer s.recoverPanic(ctx, meta)

		if !unambiguous(&ctx.Request.Header) {
			ctx.SetConnectionClose()
			s.sendError(ctx, &statusError{http.StatusBadRequest, fault.Errorf(fault.InvalidRequest,
				"a request needs one Host, and a Content-Length or (only in HTTP/1.1) a Transfer-Encoding")})

			return
		}

		if answered := s.checkOrigin(ctx, meta); answered {
			return
		}

		if !isMethod(meta.method) {
			// The router would answer an unknown method in plain text. It knows TRACE, which no route supports, so
			// it answers 404, or 405 with Allow.
			ctx.Request.Header.SetMethod(fiber.MethodTrace)
		}
		next(ctx)
	}
}

// unambiguous reports whether the head of the request allows only one reading of its host and its length (RFC 9112,
// 3.2 and 6.1). If a proxy read them differently, an attacker could smuggle a second request past it.
func unambiguous(h *fasthttp.RequestHeader) bool {
	hosts, lengths, encodings := 0, 0, 0

	for line := range bytes.Lines(h.RawHeaders()) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Host")):
			hosts++
		case bytes.EqualFold(name, []byte("Content-Length")):
			lengths++
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			encodings++
		}
	}
	http11 := h.IsHTTP11() // HTTP/1.0 has no Transfer-Encoding and needs no Host

	return hosts <= 1 && (hosts == 1 || !http11) && (encodings == 0 || encodings == 1 && lengths == 0 && http11)
}

// setHeaders sets the headers of every answer.
func setHeaders(ctx *fasthttp.RequestCtx, meta *metadata) {
	h := &ctx.Response.Header
	h.Set("X-Request-Id", meta.id)

	if messagesClient(ctx) {
		h.Set("Request-Id", meta.id)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	// URLs hold tokens, which must not leak to other sites through links.
	h.Set("Referrer-Policy", "no-referrer")
}

// recoverPanic turns a panic of a handler into a log entry and an answer with status 500. It must be deferred
// directly.
func (s *Server) recoverPanic(ctx *fasthttp.RequestCtx, meta *metadata) {
	p := recover()
	if p == nil {
		return
	}
	s.Log.Error("panic in a handler",
		"request_id", meta.id, "route", meta.route, "panic", p, "stack", string(debug.Stack()))
	s.sendError(ctx, fault.Errorf(fault.Internal, "internal error"))
}

// endRequest releases the body, counts the answer and logs it. The log has no query, which may hold a token.
func (s *Server) endRequest(ctx *fasthttp.RequestCtx, meta *metadata) {
	meta.held.Release()
	s.finishBody(ctx, meta)
	status, took := ctx.Response.StatusCode(), time.Since(meta.began)

	route := meta.route
	if route == "" {
		route = "unmatched"
	}
	s.metrics.Running.Dec()

	method := meta.method
	if !isMethod(method) {
		method = otherMethod
	}
	s.metrics.Observe(route, method, status, took, meta.span)
	meta.endSpan(status)

	if s.Log.Enabled(ctx, slog.LevelDebug) {
		s.Log.Debug("request", "request_id", meta.id, "method", meta.method, "path", string(ctx.Path()),
			"status", status, "took", took, "client", meta.ip, "key", meta.caller.Name)
	}
}

// otherMethod is the method of requests with an unknown method in metrics: clients could invent any number of them.
const otherMethod = "other"

// isMethod reports whether m is a method that Fiber knows.
func isMethod(m string) bool {
	switch m {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodDelete,
		fiber.MethodConnect, fiber.MethodOptions, fiber.MethodTrace, fiber.MethodPatch:
		return true
	}

	return false
}

// requestID returns the client's request id when it is short and plain, else a new one.
func requestID(incoming string) string {
	const maxLength = 128

	valid := incoming != "" && len(incoming) <= maxLength && strings.IndexFunc(incoming, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:", r))
	}) < 0
	if valid {
		return incoming
	}

	return "req_" + strings.ToLower(ulid.Make().String())
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
