package api

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"presswork/api/conn"
	"presswork/api/exchange"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/input"
)

// wrapRequests wraps next with everything that each request needs: request id, trace, CORS, recovery from panics,
// metrics and logging.
func (s *Server) wrapRequests(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		meta := exchange.Begin(ctx, s.proxies)
		meta.BeginSpan(s.tracer)
		s.metrics.Running.Inc()

		exchange.SetHeaders(ctx, meta)
		// recoverPanic runs before endRequest, so that a panic is counted with its status.
		defer s.endRequest(ctx, meta)
		defer s.recoverPanic(ctx, meta)

		if !unambiguous(&ctx.Request.Header) {
			ctx.SetConnectionClose()
			exchange.SendError(ctx, &exchange.StatusError{Status: http.StatusBadRequest, Err: fault.Errorf(
				fault.InvalidRequest,
				"a request needs one Host, and a Content-Length or (only in HTTP/1.1) a Transfer-Encoding",
			)}, s.Log)

			return
		}

		if answered := s.checkOrigin(ctx, meta); answered {
			return
		}

		if !exchange.IsMethod(meta.Method) {
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

// recoverPanic turns a panic of a handler into a log entry and an answer with status 500. It must be deferred
// directly.
func (s *Server) recoverPanic(ctx *fasthttp.RequestCtx, meta *exchange.Meta) {
	p := recover()
	if p == nil {
		return
	}
	s.Log.Error("panic in a handler",
		"request_id", meta.ID, "route", meta.Route, "panic", p, "stack", string(debug.Stack()))
	exchange.SendError(ctx, fault.Errorf(fault.Internal, "internal error"), s.Log)
}

// endRequest releases the body, counts the answer and logs it. The log has no query, which may hold a token.
func (s *Server) endRequest(ctx *fasthttp.RequestCtx, meta *exchange.Meta) {
	meta.Held.Release()
	s.bodies.Finish(ctx)
	status, took := ctx.Response.StatusCode(), time.Since(meta.Began)

	route := meta.Route
	if route == "" {
		route = "unmatched"
	}
	s.metrics.Running.Dec()

	method := meta.Method
	if !exchange.IsMethod(method) {
		method = otherMethod
	}
	s.metrics.Observe(route, method, status, took, meta.Span)
	meta.EndSpan(status)

	if s.Log.Enabled(ctx, slog.LevelDebug) {
		s.Log.Debug("request", "request_id", meta.ID, "method", meta.Method, "path", string(ctx.Path()),
			"status", status, "took", took, "client", meta.IP, "key", meta.Caller.Name)
	}
}

// otherMethod is the method of requests with an unknown method in metrics: clients could invent any number of them.
const otherMethod = "other"

// onError answers for handlers and for Fiber's router. It never returns an error.
func (s *Server) onError(c *fiber.Ctx, err error) error {
	exchange.SendError(c.Context(), routerError(c, err), s.Log)
	return nil
}

// routerError returns the public form of an error of Fiber's router; other errors stay as they are.
func routerError(c *fiber.Ctx, err error) error {
	f, ok := errors.AsType[*fiber.Error](err)
	if !ok {
		return err
	}
	meta := exchange.Of(c.Context())

	switch f.Code {
	case http.StatusNotFound:
		// Clients of the inference API expect errors in its form.
		if exchange.InferencePath(c.Path()) {
			return inference.Errorf(http.StatusNotFound, unknownURL,
				"Unknown request URL: %s %s. /openapi.yaml lists every address.", meta.Method, input.Quote(c.Path()))
		}

		return fault.Errorf(fault.NotFound, "there is nothing at %s; /openapi.yaml lists every address",
			input.Quote(c.Path()))
	case http.StatusMethodNotAllowed:
		return fault.Errorf(fault.MethodNotAllowed, "%s does not take %s; allowed: %s",
			input.Quote(c.Path()), input.Quote(meta.Method), c.GetRespHeader(fiber.HeaderAllow))
	}

	return fault.Errorf(fault.Internal, "internal error").WithCause(err)
}

// unknownURL is the error code for an unknown path under /v1.
const unknownURL fault.Code = "unknown_url"

// onBadRequest answers a request whose head could not be parsed, or did not arrive in time.
func (s *Server) onBadRequest(ctx *fasthttp.RequestCtx, err error) {
	meta := exchange.Begin(ctx, s.proxies)
	conn.LingerAtClose(ctx.Conn())

	bad := &exchange.StatusError{
		Status: http.StatusBadRequest,
		Err:    fault.Errorf(fault.InvalidRequest, "the request is not valid HTTP"),
	}
	if _, ok := errors.AsType[*fasthttp.ErrSmallBuffer](err); ok {
		bad = &exchange.StatusError{
			Status: http.StatusRequestHeaderFieldsTooLarge,
			Err:    fault.Errorf(fault.InvalidRequest, "the address and headers of a request may have 16 KB together"),
		}
	}

	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		bad = &exchange.StatusError{
			Status: http.StatusRequestTimeout,
			Err:    fault.Errorf(fault.InvalidRequest, "the request did not arrive within %s", s.ReadTimeout),
		}
	}
	exchange.SendError(ctx, bad, s.Log)
	// Neither the method nor the time of arrival is known.
	s.metrics.Observe("unreadable", otherMethod, bad.Status, 0, nil)
	s.Log.Debug("unreadable request", slog.String("request_id", meta.ID), slog.Any("error", err))
}
