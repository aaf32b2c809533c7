// Package fault defines the errors and warnings that reach users. Each has a code,
// which is part of the public contract, and a message.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Code names a failure. Codes are part of the public contract: they appear in
// error bodies, in failed jobs and in webhooks, and are never renamed.
type Code string

// The codes, grouped by the HTTP status that api/exchange gives them.
const (
	// InvalidRequest is a request that is wrong before its fields are looked
	// at: unreadable HTTP, a broken multipart body, a range past the end.
	InvalidRequest     Code = "invalid_request"
	InvalidJSON        Code = "invalid_json"
	UnknownField       Code = "unknown_field"
	InvalidType        Code = "invalid_type"
	InvalidOption      Code = "invalid_option"
	ThemeNotFound      Code = "theme_not_found"
	ContentEmpty       Code = "content_empty"
	ContentNotUTF8     Code = "content_not_utf8"
	InvalidURL         Code = "invalid_url"
	FrontMatterInvalid Code = "front_matter_invalid"
	WebhookInvalid     Code = "webhook_invalid"

	InvalidAPIKey     Code = "invalid_api_key"
	Forbidden         Code = "forbidden"
	AddressNotAllowed Code = "address_not_allowed"
	OriginNotAllowed  Code = "origin_not_allowed"

	NotFound            Code = "not_found"
	MethodNotAllowed    Code = "method_not_allowed"
	IdempotencyConflict Code = "idempotency_conflict"
	JobFinished         Code = "job_finished"
	ArtifactExpired     Code = "artifact_expired"

	ContentTooLarge      Code = "content_too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	RenderFailed         Code = "render_failed"
	ContentTooComplex    Code = "content_too_complex"
	StrictFindings       Code = "strict_findings"
	// PageUnreachable is a page to export whose name does not resolve, whose
	// server does not answer, or whose certificate is not valid.
	PageUnreachable Code = "page_unreachable"
	// PageError is a page that answered, but with a failure.
	PageError   Code = "page_error"
	PageTimeout Code = "page_timeout"
	// PDFInvalid is an existing PDF file that cannot be read.
	PDFInvalid Code = "pdf_invalid"
	// PDFPassword is an existing PDF file that needs a password, or its owner's.
	PDFPassword Code = "pdf_password"

	RateLimited      Code = "rate_limited"
	QueueFull        Code = "queue_full"
	StoreUnavailable Code = "store_unavailable"
	StoreFull        Code = "store_full"
	QueueUnavailable Code = "queue_unavailable"
	RenderTimeout    Code = "render_timeout"

	// BrowserUnavailable is seen by no caller: a worker tries again, and the job
	// fails as RenderFailed when the tries are used up. Those with ErrUnfit are not
	// counted.
	BrowserUnavailable Code = "browser_unavailable"
	// Internal is the code of every other error. Its text stays in the log.
	Internal Code = "internal_error"
)

// Error is a failure with two texts: Message is fit for the caller, Cause is
// for the log only.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Param is the request field at fault, such as "options.page_size"; empty when
	// no single field is.
	Param string `json:"param,omitempty"`
	Cause error  `json:"-"`
	// After is how long to wait before trying again; 0 if unknown.
	After time.Duration `json:"-"`
}

// Errorf returns an error whose message is public. It does not support %w. Never pass another error as an
// argument: its text may hold a path, an address or a program's output. Use WithCause to keep it for the log.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithCause returns a copy of e that carries cause for the log.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.Cause = cause

	return &c
}

// WithAfter returns a copy of e that says when to try again.
func (e *Error) WithAfter(after time.Duration) *Error {
	c := *e
	c.After = after

	return &c
}

// WithParam returns a copy of e that names the request field at fault.
func (e *Error) WithParam(param string) *Error {
	c := *e
	c.Param = param

	return &c
}

// Error gives both texts; it is for logs.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s (%v)", e.Code, e.Message, e.Cause)
	}

	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.Cause }

// ErrUnfit is in the chain of an error that is this machine's, whatever the work was:
// another machine may do it.
var ErrUnfit = errors.New("this machine cannot do it at present")

// AsError returns the *Error inside err, or an Internal one whose public
// message gives nothing away. AsError(nil) is nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}

	return &Error{Code: Internal, Message: "internal error", Cause: err}
}

// CodeOf returns the code of err: "" for nil, Internal for an error that is no *Error.
func CodeOf(err error) Code {
	if e := AsError(err); e != nil {
		return e.Code
	}

	return ""
}
