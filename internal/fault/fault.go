// Package fault defines the errors and warnings that reach users. Each has a code, which is part of the public
// contract, and a message. An [Error] also carries a private cause, which only logs show.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Code names a failure. Codes are part of the public contract: they appear in error bodies, in failed jobs and in
// webhooks, and are never renamed.
type Code string

// The codes, grouped by the HTTP status that api/exchange gives them.
const (
	// InvalidRequest is a request that is rejected before its fields are read: unreadable HTTP, a broken multipart body,
	// a range after the end. It is also an input file that cannot be read.
	InvalidRequest     Code = "invalid_request"
	InvalidJSON        Code = "invalid_json"
	UnknownField       Code = "unknown_field"
	InvalidType        Code = "invalid_type"         // of a field
	InvalidOption      Code = "invalid_option"       // a value that is not allowed, or two that cannot be combined
	ThemeNotFound      Code = "theme_not_found"      // there is no such theme, or its file is broken
	ContentEmpty       Code = "content_empty"        // there is no text
	ContentNotUTF8     Code = "content_not_utf8"     // the text is in another encoding
	InvalidURL         Code = "invalid_url"          // not an http or https address
	FrontMatterInvalid Code = "front_matter_invalid" // neither YAML nor TOML
	WebhookInvalid     Code = "webhook_invalid"      // its address is not valid, or not allowed

	InvalidAPIKey     Code = "invalid_api_key"     // missing or unknown
	Forbidden         Code = "forbidden"           // to this key, or outside the allowed folders
	AddressNotAllowed Code = "address_not_allowed" // a page, image or webhook leads to a private address
	OriginNotAllowed  Code = "origin_not_allowed"  // the request came from a page of another site

	NotFound            Code = "not_found" // does not exist, or belongs to another key
	MethodNotAllowed    Code = "method_not_allowed"
	IdempotencyConflict Code = "idempotency_conflict" // the same key with another submission
	JobFinished         Code = "job_finished"         // it cannot be cancelled any more
	ArtifactExpired     Code = "artifact_expired"     // the result was deleted

	ContentTooLarge      Code = "content_too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	RenderFailed         Code = "render_failed"       // the browser failed at each attempt
	ContentTooComplex    Code = "content_too_complex" // nesting, tables or formulas exceed a limit
	StrictFindings       Code = "strict_findings"     // the option strict makes warnings failures
	// PageUnreachable is a page whose name does not resolve, whose server does not answer, or whose certificate is not
	// valid.
	PageUnreachable Code = "page_unreachable"
	// PageError is a page whose server answered with a failure.
	PageError   Code = "page_error"
	PageTimeout Code = "page_timeout"
	// PDFInvalid is an existing PDF file that cannot be read.
	PDFInvalid Code = "pdf_invalid"
	// PDFPassword is an existing PDF file that needs a password, or its owner's.
	PDFPassword Code = "pdf_password"

	RateLimited      Code = "rate_limited"      // too many requests of a key, or bytes in progress
	QueueFull        Code = "queue_full"        // for this key or for all
	StoreUnavailable Code = "store_unavailable" // the object store does not answer; nothing was accepted
	StoreFull        Code = "store_full"        // no result is old enough to be deleted
	QueueUnavailable Code = "queue_unavailable" // Redis does not answer, or no worker began in time
	RenderTimeout    Code = "render_timeout"    // RENDER_TIMEOUT was exceeded

	// BrowserUnavailable reaches no caller of the API: a worker retries, and the job fails with RenderFailed after the
	// last retry. Retries because of ErrUnfit do not count.
	BrowserUnavailable Code = "browser_unavailable"
	// Internal is the code of every other error. Its text stays in the log.
	Internal Code = "internal_error"
)

// Error is a failure with two texts, a public one and a private one.
type Error struct {
	Code Code `json:"code"`
	// Message is for the caller.
	Message string `json:"message"`
	// Param is the request field at fault, such as "options.page_size"; empty if it is not about one field.
	Param string `json:"param,omitempty"`
	// Cause is for the log only. It may contain paths, addresses and the output of programs.
	Cause error `json:"-"`
	// After is how long to wait before a retry; 0 if unknown.
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

// WithAfter returns a copy of e with the time to wait before a retry.
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

// Error returns both texts. Show Message to callers instead.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s (%v)", e.Code, e.Message, e.Cause)
	}

	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the private cause, or nil.
func (e *Error) Unwrap() error { return e.Cause }

// ErrUnfit is in the chain of an error that this machine causes, not the job. Another machine may succeed.
var ErrUnfit = errors.New("this machine cannot do it at present")

// AsError returns the *Error inside err, or an Internal one whose public message reveals nothing. AsError(nil) is nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}

	return &Error{Code: Internal, Message: "internal error", Cause: err}
}

// CodeOf returns the code of err: "" for nil, Internal for an error without an *Error in it.
func CodeOf(err error) Code {
	if e := AsError(err); e != nil {
		return e.Code
	}

	return ""
}
