package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/input"
)

// unreachable returns the error for an upstream that does not answer, or the cause of ctx if ctx has ended. Only the
// log has the address of the upstream.
func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return inference.Errorf(http.StatusServiceUnavailable, inference.UpstreamUnavailable,
		"the model's server does not answer").WithCause(fmt.Errorf("%w: %w", inference.ErrUnreachable, err))
}

// failedf returns the error for an upstream that failed: a 502, which may be retried.
func failedf(format string, args ...any) *inference.Error {
	return inference.Errorf(http.StatusBadGateway, inference.UpstreamError, format, args...)
}

// Unreadable returns the error for an answer that cannot be parsed. reason is shown to the caller.
func Unreadable(reason string) *inference.Error {
	return failedf("the model's server gave an answer that cannot be read: %s", reason)
}

// CutOff returns the error for an answer that ended without a finish reason.
func CutOff() *inference.Error {
	return failedf("the model's server ended the answer before it was complete")
}

// EndedEarly returns the error for an answer that ended for an unknown reason.
func EndedEarly(reason string) *inference.Error {
	return failedf("the model's server ended the answer before it was complete: its finish_reason is %q",
		input.Cut(reason, 64))
}

// ResponseError returns the error for a response other than 200.
func ResponseError(resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if !json.Valid(b) {
		b = nil
	}
	e := ErrorOf(resp.StatusCode, b)
	e.RetryAfter = retryAfter(resp.Header)

	return e
}

// ErrorOf translates an upstream's error for the caller. If the request is the cause, status and message stay.
// Otherwise the error hides the keys, names and limits of this server.
func ErrorOf(status int, body []byte) *inference.Error {
	reported := readError(body)
	switch {
	case status != http.StatusBadGateway: // the status of the response counts, not the one in its body
	case reported.status >= 400:
		status = reported.status
	case reported.failedGeneration != "":
		status = http.StatusBadRequest
	}

	cause := fmt.Errorf("upstream answered %d: %s", status, reported.message)
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		code := fault.Code(reported.code)
		if reported.tooLong() {
			code = inference.ContextLength
		}

		if code == "" {
			code = fault.InvalidRequest
		}

		message := reported.message
		if message == "" {
			message = "the model's server rejected the request"
		}
		e := inference.Errorf(status, code, "%s", message).WithParam(reported.param).WithCause(cause)
		e.FailedGeneration = reported.failedGeneration

		return e
	case http.StatusUnauthorized, http.StatusForbidden:
		e := failedf("the model's server rejects this server's key").
			WithCause(fmt.Errorf("%w: %w", inference.ErrKeyRefused, cause))
		e.Retryable = false

		return e
	case http.StatusNotFound:
		e := failedf("the model's server does not have this model").WithCause(cause)
		e.Retryable = false

		return e
	case http.StatusTooManyRequests:
		return inference.Errorf(status, inference.RateLimitExceeded,
			"the model is at its rate limit; please try again later").WithCause(cause)
	case http.StatusServiceUnavailable, statusGroqCapacity, statusAnthropicOverloaded:
		return inference.Errorf(http.StatusServiceUnavailable, inference.UpstreamUnavailable,
			"the model is at capacity; please try again").WithCause(cause)
	}

	return failedf("the model's server failed").WithCause(cause)
}

// Statuses that services use for a lack of capacity, in addition to 503.
const (
	statusGroqCapacity        = 498 // Groq, service tier flex
	statusAnthropicOverloaded = 529
)

// llamaContextError is the error type of llama-server for a prompt that is too long.
const llamaContextError = "exceed_context_size_error"

// maxErrorBody bounds the bytes that are read of an error.
const maxErrorBody = 64 << 10

// maxMessage bounds the bytes of an upstream's message that are passed on.
const maxMessage = 2000

// reportedError holds what an engine reported about an error. status is 0 if the body names none.
type reportedError struct {
	message, code, param, failedGeneration string
	status                                 int
}

// tooLong reports whether the request exceeds the context window of the model.
func (s reportedError) tooLong() bool {
	if s.code == string(inference.ContextLength) || s.code == llamaContextError {
		return true
	}
	m := strings.ToLower(s.message)

	return strings.Contains(m, "context length") || strings.Contains(m, "context size") ||
		strings.Contains(m, "context window") || strings.Contains(m, "prompt is too long")
}

// errorObject is the form of an error: the body itself or its field "error".
type errorObject struct {
	Error            json.RawMessage `json:"error"`
	Message          string          `json:"message"`
	Detail           string          `json:"detail"` // the message of servers that are written with FastAPI
	Code             any             `json:"code"`   // a word, or an HTTP status
	Type             string          `json:"type"`
	Param            string          `json:"param"`
	FailedGeneration string          `json:"failed_generation"`
}

// readError reads an error body, or the error in it.
func readError(b []byte) reportedError {
	var o errorObject

	_ = DecodeLenient(b, &o) // a body that is not JSON leaves o empty
	if IsSet(o.Error) {
		inner := errorObject{}
		_ = DecodeLenient(o.Error, &inner)
		_ = DecodeLenient(o.Error, &inner.Message) // Ollama's own form is a string
		o = inner
	}

	reported := reportedError{
		message: input.Cut(cmp.Or(o.Message, o.Detail), maxMessage), param: input.Cut(o.Param, 200),
		failedGeneration: input.Cut(o.FailedGeneration, 16<<10),
	}
	switch code := o.Code.(type) {
	case string:
		reported.code = input.Cut(code, 64)
	case float64:
		if code <= 599 {
			reported.status = Count(code)
		}
	}

	if o.Type == llamaContextError {
		reported.code = o.Type
	}

	return reported
}

// retryAfter returns the wait that a response requests, at most one day. It reads retry-after-ms, or retry-after
// in seconds or as a date. Without both it returns 0.
func retryAfter(h http.Header) time.Duration {
	const day = 24 * time.Hour
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms*float64(time.Millisecond), float64(day)))
	}

	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds*float64(time.Second), float64(day)))
	}

	if at, err := http.ParseTime(value); err == nil {
		return max(0, min(time.Until(at), day))
	}

	return 0
}
