package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"presswork/api/conn"
	"presswork/api/guide"
	"presswork/api/openai"
	"presswork/api/web"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/input"
	"presswork/storage"
)

// statuses maps each error code to its HTTP status.
var statuses = map[fault.Code]int{
	fault.InvalidRequest:     http.StatusBadRequest,
	fault.InvalidJSON:        http.StatusBadRequest,
	fault.UnknownField:       http.StatusBadRequest,
	fault.InvalidType:        http.StatusBadRequest,
	fault.InvalidOption:      http.StatusBadRequest,
	fault.ThemeNotFound:      http.StatusBadRequest,
	fault.ContentEmpty:       http.StatusBadRequest,
	fault.ContentNotUTF8:     http.StatusBadRequest,
	fault.InvalidURL:         http.StatusBadRequest,
	fault.FrontMatterInvalid: http.StatusBadRequest,
	fault.WebhookInvalid:     http.StatusBadRequest,

	fault.InvalidAPIKey:     http.StatusUnauthorized,
	fault.Forbidden:         http.StatusForbidden,
	fault.AddressNotAllowed: http.StatusForbidden,
	fault.OriginNotAllowed:  http.StatusForbidden,

	fault.NotFound:            http.StatusNotFound,
	fault.MethodNotAllowed:    http.StatusMethodNotAllowed,
	fault.IdempotencyConflict: http.StatusConflict,
	fault.JobFinished:         http.StatusConflict,
	fault.ArtifactExpired:     http.StatusGone,

	fault.ContentTooLarge:      http.StatusRequestEntityTooLarge,
	fault.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	fault.RenderFailed:         http.StatusUnprocessableEntity,
	fault.ContentTooComplex:    http.StatusUnprocessableEntity,
	fault.StrictFindings:       http.StatusUnprocessableEntity,
	fault.PageUnreachable:      http.StatusUnprocessableEntity,
	fault.PageError:            http.StatusUnprocessableEntity,
	fault.PageTimeout:          http.StatusUnprocessableEntity,
	fault.PDFInvalid:           http.StatusUnprocessableEntity,
	fault.PDFPassword:          http.StatusUnprocessableEntity,

	fault.RateLimited:      http.StatusTooManyRequests,
	fault.QueueFull:        http.StatusTooManyRequests,
	fault.StoreUnavailable: http.StatusServiceUnavailable,
	fault.StoreFull:        http.StatusServiceUnavailable,
	fault.QueueUnavailable: http.StatusServiceUnavailable,
	fault.RenderTimeout:    http.StatusGatewayTimeout,

	// A job that failed because of a model keeps the model's error code.
	inference.ModelNotFound:       http.StatusNotFound,
	inference.RateLimitExceeded:   http.StatusTooManyRequests,
	inference.UpstreamError:       http.StatusBadGateway,
	inference.UpstreamUnavailable: http.StatusServiceUnavailable,
	inference.UpstreamTimeout:     http.StatusGatewayTimeout,
}

// retryAfter is the Retry-After header, in seconds, of errors that do not set their own.
const retryAfter = "5"

// statusError is an error with an HTTP status that differs from the status of its code.
type statusError struct {
	status int
	err    *fault.Error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// statusOf returns the HTTP status of an error; 500 for errors that are not public.
func statusOf(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}

	if e, ok := errors.AsType[*inference.Error](err); ok {
		return e.Status
	}

	if status, ok := statuses[fault.CodeOf(err)]; ok {
		return status
	}

	return http.StatusInternalServerError
}

// typeOf returns the value of the field type in an error body, as OpenAI names it.
func typeOf(status int) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status < http.StatusInternalServerError:
		return "invalid_request_error"
	case status == http.StatusInternalServerError:
		return "internal_server_error"
	default:
		return "service_unavailable"
	}
}

// errorBody is the body of every error outside /v1.
type errorBody struct {
	Error struct {
		Message string     `json:"message"`
		Type    string     `json:"type"`
		Code    fault.Code `json:"code"`
		Param   string     `json:"param,omitempty"`
		// DocURL is the path of the explanation of Code on this server.
		DocURL string `json:"doc_url"`
	} `json:"error"`
}

// sendError answers with the public form of err. Details of internal errors appear only in the log.
func (s *Server) sendError(ctx *fasthttp.RequestCtx, err error) {
	e, status := fault.AsError(err), statusOf(err)
	var body errorBody
	body.Error.Message, body.Error.Code, body.Error.Param = e.Message, e.Code, e.Param

	body.Error.Type = typeOf(status)
	body.Error.DocURL = guide.ErrorsPath + "#" + string(e.Code)

	if status >= http.StatusInternalServerError {
		s.Log.Error("request failed", "request_id", metadataOf(ctx).id, "status", status, "error", err)
	}
	// The WebSocket library clears the headers when it rejects an upgrade.
	setHeaders(ctx, metadataOf(ctx))

	h := &ctx.Response.Header
	if e.After > 0 {
		setRetryAfter(h, e.After)
	}

	if (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) &&
		len(h.Peek("Retry-After")) == 0 {
		h.Set("Retry-After", retryAfter)
	}
	// These headers describe the answer that the error replaces. With Content-Disposition a browser would save the
	// error as a file.
	for _, name := range []string{"ETag", "Last-Modified", "Location", "Content-Location", "Content-Disposition"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	ctx.Response.ResetBody()

	if inferencePath(string(ctx.Path())) {
		writeInferenceError(ctx, inferenceError(err))
		return
	}
	writeJSON(ctx, status, body)
}

// writeInferenceError answers in the error format of the client and sets X-Should-Retry, which SDKs obey.
func writeInferenceError(ctx *fasthttp.RequestCtx, e *inference.Error) {
	h := &ctx.Response.Header
	h.Set("X-Should-Retry", strconv.FormatBool(e.Retryable))

	if e.RetryAfter > 0 {
		setRetryAfter(h, e.RetryAfter)
	}
	ctx.SetContentType("application/json")

	if messagesClient(ctx) {
		writeMessagesError(ctx, e)
		return
	}
	ctx.SetStatusCode(e.Status)
	ctx.Response.SetBodyRaw(openai.AppendError(nil, e))
}

// inferenceError returns the form that an error has under /v1.
func inferenceError(err error) *inference.Error {
	if e, ok := errors.AsType[*inference.Error](err); ok {
		return e
	}
	e, status := fault.AsError(err), statusOf(err)
	rejection := inference.Errorf(status, e.Code, "%s", e.Message).WithParam(e.Param).WithCause(e.Cause)

	rejection.RetryAfter = e.After
	switch e.Code {
	case fault.RateLimited:
		rejection.Type, rejection.Code = "requests", inference.RateLimitExceeded
	case fault.QueueFull, fault.QueueUnavailable, fault.StoreUnavailable, fault.StoreFull,
		inference.RateLimitExceeded, inference.UpstreamError, inference.UpstreamUnavailable, inference.UpstreamTimeout:
	default:
		rejection.Retryable = false
	}

	return rejection
}

// onError answers for handlers and for Fiber's router. It never returns an error.
func (s *Server) onError(c *fiber.Ctx, err error) error {
	s.sendError(c.Context(), routerError(c, err))
	return nil
}

// routerError returns the public form of an error of Fiber's router; other errors stay as they are.
func routerError(c *fiber.Ctx, err error) error {
	f, ok := errors.AsType[*fiber.Error](err)
	if !ok {
		return err
	}
	meta := metadataOf(c.Context())

	switch f.Code {
	case http.StatusNotFound:
		if inferencePath(c.Path()) {
			return inference.Errorf(
				http.StatusNotFound,
				unknownURL,
				"Unknown request URL: %s %s. /openapi.yaml lists every address.",
				meta.method,
				input.Quote(c.Path()),
			)
		}

		return fault.Errorf(
			fault.NotFound,
			"there is nothing at %s; /openapi.yaml lists every address",
			input.Quote(c.Path()),
		)
	case http.StatusMethodNotAllowed:
		return fault.Errorf(fault.MethodNotAllowed, "%s does not take %s; allowed: %s",
			input.Quote(c.Path()), input.Quote(meta.method), c.GetRespHeader(fiber.HeaderAllow))
	}

	return fault.Errorf(fault.Internal, "internal error").WithCause(err)
}

// unknownURL is the error code for an unknown path under /v1.
const unknownURL fault.Code = "unknown_url"

// onBadRequest answers a request whose head could not be parsed, or did not arrive in time.
func (s *Server) onBadRequest(ctx *fasthttp.RequestCtx, err error) {
	meta := newMetadata(ctx, s.proxies)
	ctx.SetUserValue(metadataKey{}, meta)
	conn.LingerAtClose(ctx.Conn())

	bad := &statusError{
		http.StatusBadRequest,
		fault.Errorf(fault.InvalidRequest, "the request is not valid HTTP"),
	}
	if _, ok := errors.AsType[*fasthttp.ErrSmallBuffer](err); ok {
		bad = &statusError{
			http.StatusRequestHeaderFieldsTooLarge,
			fault.Errorf(fault.InvalidRequest, "the address and headers of a request may have 16 KB together"),
		}
	}

	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		bad = &statusError{
			http.StatusRequestTimeout,
			fault.Errorf(fault.InvalidRequest, "the request did not arrive within %s", s.ReadTimeout),
		}
	}
	s.sendError(ctx, bad)
	s.metrics.Observe("unreadable", otherMethod, bad.status, 0, nil)
	s.Log.Debug("unreadable request", slog.String("request_id", meta.id), slog.Any("error", err))
}

// writeJSON answers with v as JSON.
func writeJSON(ctx *fasthttp.RequestCtx, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		// Bodies are plain structs, which always encode.
		panic(fmt.Errorf("api: encoding %T: %w", v, err))
	}
	sendText(ctx, status, "application/json; charset=utf-8", b)
}

// minPacked is the size from which text is compressed, in bytes. Less fits into one packet anyway.
const minPacked = 1400

// sendText sends text, compressed if the client accepts gzip.
func sendText(ctx *fasthttp.RequestCtx, status int, kind string, text []byte) {
	ctx.SetStatusCode(status)
	ctx.SetContentType(kind)

	if len(text) >= minPacked {
		ctx.Response.Header.Add(fiber.HeaderVary, fiber.HeaderAcceptEncoding)

		if web.AcceptsGzip(string(ctx.Request.Header.Peek(fiber.HeaderAcceptEncoding))) {
			ctx.Response.Header.Set(fiber.HeaderContentEncoding, "gzip")
			text = fasthttp.AppendGzipBytesLevel(nil, text, fasthttp.CompressBestSpeed)
		}
	}
	ctx.Response.SetBodyRaw(text)
}

// storeError returns the public form of a store error: err itself when it is public, else StoreFull or
// StoreUnavailable.
func storeError(err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}

	if errors.Is(err, storage.ErrFull) {
		return fault.Errorf(fault.StoreFull, "the object store is full; try again later").WithCause(err)
	}

	return fault.Errorf(fault.StoreUnavailable, "the object store did not answer").WithCause(err)
}
