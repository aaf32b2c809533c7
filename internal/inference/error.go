package inference

import (
	"errors"
	"net/http"
	"time"

	"presswork/internal/fault"
)

// The codes of the inference API, in addition to those of package fault.
const (
	// ModelNotFound is 404: the model does not exist, or the key may not use it.
	ModelNotFound fault.Code = "model_not_found"
	// ToolUseFailed is 400: the model called a forbidden tool, used wrong arguments, or did not make a required
	// call. FailedGeneration is its text.
	ToolUseFailed fault.Code = "tool_use_failed"
	// ToolUnavailable is 400: the request names a built-in tool that this server does not have.
	ToolUnavailable fault.Code = "tool_unavailable"
	// ToolServerFailed is 424: an MCP server of the request does not answer, or its list of tools cannot be used.
	ToolServerFailed fault.Code = "tool_server_failed"
	// JSONValidateFailed is 400: the answer does not match the response format.
	JSONValidateFailed fault.Code = "json_validate_failed"
	// ContextLength is 400: the request is larger than the model's context.
	ContextLength fault.Code = "context_length_exceeded"
	// UpstreamError is 502: the upstream failed, or its answer cannot be read.
	UpstreamError fault.Code = "upstream_error"
	// UpstreamTimeout is 504, or 502 when the model stopped sending in the middle of an answer: a time-out of Routing
	// has passed.
	UpstreamTimeout fault.Code = "upstream_timeout"
	// UpstreamUnavailable is 503: no upstream answers or has capacity.
	UpstreamUnavailable fault.Code = "upstream_unavailable"
	// ReaderTooSlow is 503: the caller read too slowly, and the buffer is full.
	ReaderTooSlow fault.Code = "reader_too_slow"
	// RequestCancelled is 499. It appears only in logs and metrics, because the caller has disconnected.
	RequestCancelled fault.Code = "request_cancelled"
	// RateLimitExceeded is 429, or 413 for a request that alone is over the limit.
	RateLimitExceeded fault.Code = "rate_limit_exceeded"
)

// The types of an error body.
const (
	// InvalidRequestType is the type for 4xx except 429.
	InvalidRequestType = "invalid_request_error"
	// ServerErrorType is the type for 5xx except 503.
	ServerErrorType = "internal_server_error"
	// UnavailableType is the type for 503.
	UnavailableType = "service_unavailable"
	// RequestsType is the type for 429; if tokens are limited it is "tokens".
	RequestsType = "requests"
)

// ErrKeyRefused is wrapped by the error of an upstream that refused the key; check with errors.Is.
var ErrKeyRefused = errors.New("the upstream refused the key")

// ErrUnreachable is wrapped by the error of an upstream that sent no answer, not even an error; check with errors.Is.
var ErrUnreachable = errors.New("the upstream does not answer")

// publicError is an alias because an embedded fault.Error would be a field named Error, like the method.
type publicError = fault.Error

// Error is a failure of the inference API. It goes from worker to API as JSON; openai.AppendError writes the body
// for callers.
type Error struct {
	publicError
	// Status is the HTTP status, Type the body's type.
	Status int    `json:"status"`
	Type   string `json:"type"`
	// FailedGeneration is the text of the model, if that text caused the failure.
	FailedGeneration string `json:"failed_generation,omitempty"`
	// Executed are the built-in tools that ran before the failure.
	Executed []ExecutedTool `json:"-"`
	// Retryable means that the same request may succeed later: x-should-retry.
	Retryable bool `json:"retryable,omitempty"`
	// RetryAfter is how long to wait before that; 0 leaves it to the caller.
	RetryAfter time.Duration `json:"retry_after,omitempty"`
}

// Unwrap returns the public error, so that errors.As finds a *fault.Error.
func (e *Error) Unwrap() error { return &e.publicError }

// WithParam returns a copy of e that names the request field at fault.
func (e *Error) WithParam(param string) *Error {
	c := *e
	c.Param = param

	return &c
}

// WithCause returns a copy of e that carries cause for the log.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.Cause = cause

	return &c
}

// Errorf returns an error with an HTTP status and a public message. The type follows from the status. 429 and 5xx
// except 500 may be retried.
func Errorf(status int, code fault.Code, format string, args ...any) *Error {
	e := &Error{publicError: *fault.Errorf(code, format, args...), Status: status, Type: InvalidRequestType}
	switch {
	case status == http.StatusTooManyRequests:
		e.Type = RequestsType
	case status == http.StatusServiceUnavailable:
		e.Type = UnavailableType
	case status >= 500:
		e.Type = ServerErrorType
	}
	e.Retryable = status == http.StatusTooManyRequests || status > 500

	return e
}

// Invalidf returns a 400 about one field of the request.
func Invalidf(param, format string, args ...any) *Error {
	return Errorf(http.StatusBadRequest, fault.InvalidOption, format, args...).WithParam(param)
}

// AsError returns the inference error inside err, or a general error that reveals nothing. AsError(nil) is nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}

	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code != fault.Internal {
		return &Error{publicError: *e, Status: http.StatusBadRequest, Type: InvalidRequestType}
	}

	return Errorf(http.StatusInternalServerError, fault.Internal, "internal error").WithCause(err)
}
