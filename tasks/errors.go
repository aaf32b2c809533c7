package tasks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hibiken/asynq"

	"presswork/internal/fault"
	"presswork/tasks/record"
	"presswork/tasks/stream"
	"presswork/tasks/watch"
)

// Reasons why a run may no longer update its job. Its context ends with one of them as its cause, and
// the methods of Run return them.
var (
	// ErrCancelled is returned when the job was cancelled.
	ErrCancelled = record.ErrCancelled
	// ErrSuperseded is returned when a later run has taken over the job, or the job has ended.
	ErrSuperseded = record.ErrSuperseded
)

// ErrSlow is returned by a watch whose reader fell too far behind.
var ErrSlow = watch.ErrSlow

// Watch is one watcher's view of a job.
type Watch = watch.Watch

// EventStats is what a process has relayed to its watchers.
type EventStats = watch.EventStats

// errDraining ends the context of a run when its worker stops. The task goes back to its queue.
var errDraining = stream.ErrDraining

// verdict is the consequence of a handler's error for its task.
type verdict int

const (
	// final means that a retry would fail in the same way.
	final verdict = iota
	// countedRetry means a retry, as often as the kind's Retries allow.
	countedRetry
	// uncountedRetry means a retry that is not counted, because a service that the job needs is down.
	uncountedRetry
)

// maxOutageAge is the age of a job from which on it fails, instead of waiting longer for a service that is down.
const maxOutageAge = 24 * time.Hour

// verdictByCode returns the verdict on an error by its fault.Code. Codes that are not listed describe the document,
// the page or the request, so a retry would fail in the same way.
func verdictByCode(err error) verdict {
	switch fault.CodeOf(err) {
	case fault.StoreUnavailable, fault.StoreFull, fault.QueueUnavailable:
		return uncountedRetry
	case fault.BrowserUnavailable, fault.Internal:
		return countedRetry
	}

	return final
}

// causedByCaller reports whether a job failed because of its document, its options, or the page that it exports. Such a
// job fails again however often it is retried.
func causedByCaller(code fault.Code) bool {
	switch code {
	case fault.InvalidRequest, fault.InvalidJSON, fault.UnknownField, fault.InvalidType, fault.InvalidOption,
		fault.ThemeNotFound, fault.ContentEmpty, fault.ContentNotUTF8, fault.InvalidURL, fault.FrontMatterInvalid,
		fault.WebhookInvalid, fault.AddressNotAllowed, fault.ContentTooLarge, fault.UnsupportedMediaType,
		fault.ContentTooComplex, fault.StrictFindings, fault.PageUnreachable, fault.PageError, fault.PDFInvalid,
		fault.PDFPassword:
		return true
	}

	return false
}

// publicError returns the error that the caller of a failed job gets. BrowserUnavailable has been retried by then,
// so the document itself breaks the browser: the caller gets RenderFailed.
func publicError(err error) *fault.Error {
	e := fault.AsError(err)
	if e.Code == fault.BrowserUnavailable {
		return fault.Errorf(fault.RenderFailed, "the browser failed each time it printed this document").WithCause(err)
	}

	return e
}

// retryError makes Asynq run a task again after delay. counted is set if the try that failed uses up a retry.
type retryError struct {
	// delay is 0 for a task that goes back to its queue at once.
	delay   time.Duration
	counted bool
	cause   error
}

func (e *retryError) Error() string { return fmt.Sprintf("again in %s: %v", e.delay, e.cause) }
func (e *retryError) Unwrap() error { return e.cause }

// delayOf returns the delay before the next try. Counted tries use the kind's backoff, or 1, 4, 15 and
// 60 s. Delays of uncounted tries double up to 30 s. Jitter of up to a tenth spreads retries.
func delayOf(v verdict, tried int, backoff []time.Duration) time.Duration {
	var d time.Duration

	switch {
	case v == uncountedRetry:
		d = min(30*time.Second, time.Second<<min(tried, 5))
	case len(backoff) > 0:
		d = backoff[min(tried, len(backoff)-1)]
	default:
		d = []time.Duration{time.Second, 4 * time.Second, 15 * time.Second, time.Minute}[min(tried, 3)]
	}

	return d + rand.N(d/10)
}

// retryDelay is Asynq's RetryDelayFunc.
func retryDelay(_ int, err error, _ *asynq.Task) time.Duration {
	if r, ok := errors.AsType[*retryError](err); ok {
		return r.delay
	}
	// Asynq ended the task itself: its lease was lost, or the handler ignored the end of its context.
	return 0
}

// isFailure is Asynq's IsFailure. It reports whether a try that ended with err uses up a retry. A try that Asynq
// itself ended does not: the lease was lost, or the worker was stopped.
func isFailure(err error) bool {
	if r, ok := errors.AsType[*retryError](err); ok {
		return r.counted
	}

	return !errors.Is(err, asynq.ErrLeaseExpired) && !errors.Is(err, context.Canceled)
}
