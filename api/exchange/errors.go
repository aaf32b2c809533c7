package exchange

import (
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"presswork/api/guide"
	"presswork/api/openai"
	"presswork/internal/fault"
	"presswork/internal/inference"
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

// Statuses returns the HTTP status of each error code.
func Statuses() map[fault.Code]int { return maps.Clone(statuses) }

// retryAfter is the Retry-After header, in seconds, of errors that do not set their own.
const retryAfter = "5"

// StatusError is an error with an HTTP status that differs from the status of its code.
type StatusError struct {
	Status int
	// Err is the error in the body of the answer.
	Err *fault.Error
}

func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *StatusError) Unwrap() error { return e.Err }

// StatusOf returns the HTTP status of an error; 500 for errors that are not public. A StatusError takes precedence
// over the status of its code.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Status
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

// SendError answers with the public form of err, in the format that clients of the path expect. Details of internal
// errors appear only in the log.
func SendError(ctx *fasthttp.RequestCtx, err error, log *slog.Logger) {
	e, status := fault.AsError(err), StatusOf(err)
	var body errorBody
	body.Error.Message, body.Error.Code, body.Error.Param = e.Message, e.Code, e.Param

	body.Error.Type = typeOf(status)
	body.Error.DocURL = guide.ErrorsPath + "#" + string(e.Code)

	if status >= http.StatusInternalServerError {
		log.Error("request failed", "request_id", Of(ctx).ID, "status", status, "error", err)
	}
	// The WebSocket library clears the headers when it rejects an upgrade.
	SetHeaders(ctx, Of(ctx))

	h := &ctx.Response.Header
	if e.After > 0 {
		SetRetryAfter(h, e.After)
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

	if InferencePath(string(ctx.Path())) {
		writeInferenceError(ctx, InferenceError(err))
		return
	}
	WriteJSON(ctx, status, body)
}

// writeInferenceError answers in the error format of the client and sets X-Should-Retry, which SDKs obey.
func writeInferenceError(ctx *fasthttp.RequestCtx, e *inference.Error) {
	h := &ctx.Response.Header
	h.Set("X-Should-Retry", strconv.FormatBool(e.Retryable))

	if e.RetryAfter > 0 {
		SetRetryAfter(h, e.RetryAfter)
	}
	ctx.SetContentType("application/json")

	if MessagesClient(ctx) {
		writeMessagesError(ctx, e)
		return
	}
	ctx.SetStatusCode(e.Status)
	ctx.Response.SetBodyRaw(openai.AppendError(nil, e))
}

// InferenceError returns the form that an error has under /v1.
func InferenceError(err error) *inference.Error {
	if e, ok := errors.AsType[*inference.Error](err); ok {
		return e
	}
	e, status := fault.AsError(err), StatusOf(err)
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

// StoreError returns the public form of a store error: err itself when it is public, else StoreFull or
// StoreUnavailable.
func StoreError(err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}

	if errors.Is(err, storage.ErrFull) {
		return fault.Errorf(fault.StoreFull, "the object store is full; try again later").WithCause(err)
	}

	return fault.Errorf(fault.StoreUnavailable, "the object store did not answer").WithCause(err)
}

// SetRetryAfter sets Retry-After in seconds and Retry-After-Ms in milliseconds, which OpenAI's SDKs prefer. Both
// are rounded up, so that a retry at that time is not too early.
func SetRetryAfter(h interface{ Set(key, value string) }, after time.Duration) {
	h.Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	h.Set("Retry-After-Ms", strconv.FormatInt(int64(math.Ceil(float64(after)/float64(time.Millisecond))), 10))
}
