package tasks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/asynqext"
	"presswork/tasks/record"
)

// conclude decides what the error of a run means for its job and its task, and records it. It returns the error for
// Asynq: nil removes the task, a *retryError retries it. tried is the number of counted retries so far.
//   - The job was cancelled, or another run has it: there is nothing to write.
//   - The worker stops: the task goes back to its queue, and the try does not count.
//   - The error is final, the retries are used up, or the job waited maxOutageAge for a service: the job fails.
//   - Otherwise the task is retried after a delay, and the job's record says so.
func (s *Server) conclude(q Queue, run *Run, h handler, tried int, err error) error {
	switch {
	case errors.Is(err, ErrCancelled):
		cancelled := run.Record
		cancelled.Status = presswork.Cancelled
		s.logEnd(slog.LevelInfo, run, cancelled, nil)

		return nil
	case errors.Is(err, ErrSuperseded):
		return s.concludeSuperseded(run)
	case errors.Is(err, errDraining):
		s.metrics.broken.WithLabelValues(returned).Inc()
		return &retryError{cause: err}
	}
	v := verdictOf(err)

	age := s.clock.Now().Sub(run.Record.CreatedAt)
	usedUp := v == countedRetry && tried >= h.retries
	tooOld := v == uncountedRetry && age > maxOutageAge

	if v == final || usedUp || tooOld {
		// The run's context may have ended, and its result must still be written.
		rec, finishErr := run.finish(context.Background(), record.Failed("", publicError(err)))
		switch {
		case finishErr == nil:
			s.logEnd(slog.LevelError, run, rec.Record, err)
			s.countFailed(q)
			s.settle(rec)

			return nil
		case record.LostCause(finishErr) != nil:
			return s.concludeSuperseded(run)
		}

		return &retryError{delay: delayOf(uncountedRetry, 0, nil), cause: errors.Join(err, finishErr)}
	}

	delay := delayOf(v, tried, h.backoff)
	if v == uncountedRetry { // tried does not grow then, but the attempt does
		delay = delayOf(v, run.Attempt, nil)
	}

	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()

	message := fmt.Sprintf("attempt %d did not succeed (%s); trying again in %s", run.Attempt, fault.CodeOf(err),
		delay.Round(time.Second))
	if err := run.holdReport(s.records.Warnings(message, nil)); err != nil {
		return err
	}

	if writeErr := run.writeReports(ctx); record.LostCause(writeErr) != nil {
		return s.concludeSuperseded(run)
	}
	s.metrics.broken.WithLabelValues(retried).Inc()
	s.log.Warn("a run failed; the job is retried", "job_id", run.ID, "attempt", run.Attempt,
		"request_id", run.Record.RequestID, "traceparent", run.Record.TraceParent, "err", err, "delay", delay)

	return &retryError{delay: delay, counted: v == countedRetry, cause: err}
}

// concludeSuperseded handles a run that may no longer update its job. It returns nil when the job has ended or no
// longer exists, so that the task is removed. Otherwise it returns errOtherRun.
func (s *Server) concludeSuperseded(run *Run) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()

	rec, err := s.records.Read(ctx, run.ID)
	if err == nil && rec == nil {
		s.log.Error("a job is gone while it runs: Redis has lost its data, or another deployment uses the same",
			"job_id", run.ID, "attempt", run.Attempt)

		return nil
	}

	if err == nil && rec.Status.Terminal() {
		if err := s.outbox.deleteObjects(ctx, rec); err != nil {
			s.log.Warn("the objects of an ended job could not be deleted", "err", err)
		}

		return nil
	}
	s.metrics.broken.WithLabelValues(superseded).Inc()
	s.log.Warn("a run was superseded by another", "job_id", run.ID, "attempt", run.Attempt)

	return errOtherRun
}

// concludeNotBegun handles a task whose run could not begin, because of err. It returns nil when the job needs no work,
// and an error that retries the task otherwise.
func (s *Server) concludeNotBegun(ctx context.Context, id string, err error) error {
	switch {
	case record.LostCause(err) != nil:
		// The job is finished, cancelled or deleted, so the task has ended.
		s.log.Debug("the job of a task needs no work", "job_id", id, "reason", err)
		// The job's last run may have stored an artifact before it died.
		rec, err := s.records.Read(ctx, id)
		if err == nil {
			err = s.outbox.deleteObjects(ctx, rec)
		}

		if err != nil {
			return &retryError{delay: delayOf(uncountedRetry, 0, nil), cause: err}
		}

		return nil
	case errors.Is(context.Cause(ctx), errDraining):
		return &retryError{cause: errDraining}
	}
	s.log.Warn("a run could not begin; the task is retried", "job_id", id, "err", err)

	return &retryError{delay: delayOf(uncountedRetry, 0, nil), cause: err}
}

// countFailed counts a failed job in Asynq's counters. Asynq sees a task without an error and counts it as a
// success.
func (s *Server) countFailed(q Queue) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()

	if err := asynqext.CountFailed(ctx, s.rdb, q, s.clock.Now()); err != nil {
		s.log.Debug("a failure could not be counted", "queue", q, "err", err)
	}
}

// dropTaskEnd keeps Asynq from writing the end of a task that another run owns, or whose end is already written. If
// Asynq's own context has ended, Asynq writes no end. A drop would then remove the end of the other run, so none
// is registered.
func (s *Server) dropTaskEnd(actx context.Context, id string) {
	if actx.Err() == nil {
		s.completion.Drop(id)
	}
}

// rejoinTurns keeps a task in its owner's turns while it waits for its retry. If Redis does not answer, the task runs
// when it reaches the end of the pending list.
func (s *Server) rejoinTurns(q Queue, id string, delay time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()

	if err := asynqext.RejoinTurns(ctx, s.rdb, q, id, delay); err != nil {
		s.log.Debug("a retried task is not in its owner's turns", "task_id", id, "err", err)
	}
}

// errOtherRun is returned when another run owns the task. Its end must not be written.
var errOtherRun = errors.New("another run owns the task")

// errEndWritten is returned when the end of the task is already written. It must not be written again.
var errEndWritten = errors.New("the end of the task is already written")

// verdictOf returns the verdict on the error of a handler.
func verdictOf(err error) verdict {
	if _, ok := errors.AsType[unreadableError](err); ok {
		return final
	}

	if errors.Is(err, fault.ErrUnfit) {
		return uncountedRetry
	}

	return verdictByCode(err)
}
