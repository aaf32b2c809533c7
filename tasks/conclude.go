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

// conclude decides what an error of a run means, and records it.
func (s *Server) conclude(q Queue, run *Run, h handler, tried int, err error) error {
	switch {
	case errors.Is(err, ErrCancelled):
		cancelled := run.Record
		cancelled.Status = presswork.Cancelled
		s.logEnd(slog.LevelInfo, run, cancelled, nil)

		return nil
	case errors.Is(err, ErrSuperseded):
		return s.superseded(run)
	case errors.Is(err, errDraining):
		s.metrics.broken.WithLabelValues(returned).Inc()
		return &retryError{cause: err}
	}
	v := judge(err)

	exhausted := v == again && tried >= h.retries || v == patient && s.clock.Now().Sub(run.Record.CreatedAt) > patience
	if v == final || exhausted {
		// The run's own context may have ended; what it reports outlives it.
		rec, ferr := run.finish(context.Background(), record.Failed("", public(err)))
		switch {
		case ferr == nil:
			s.logEnd(slog.LevelError, run, rec.Record, err)
			s.countFailed(q)
			s.settle(rec)

			return nil
		case record.Lost(ferr) != nil:
			return s.superseded(run)
		}

		return &retryError{delay: delayOf(patient, 0, nil), cause: errors.Join(err, ferr)}
	}

	delay := delayOf(v, tried, h.backoff)
	if v == patient {
		delay = delayOf(v, run.Attempt, nil)
	}

	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()

	message := fmt.Sprintf(
		"attempt %d did not succeed (%s); trying again in %s",
		run.Attempt,
		fault.CodeOf(err),
		delay.Round(time.Second),
	)
	if err := run.holdOr(s.records.Warnings(message, nil)); err != nil {
		return err
	}

	if terr := run.tell(ctx); record.Lost(terr) != nil {
		return s.superseded(run)
	}
	s.metrics.broken.WithLabelValues(retried).Inc()
	s.log.Warn(
		"a job will be tried again",
		"job_id",
		run.ID,
		"attempt",
		run.Attempt,
		"request_id",
		run.Record.RequestID,
		"traceparent",
		run.Record.TraceParent,
		"err",
		err,
		"delay",
		delay,
	)

	return &retryError{delay: delay, counted: v == again, cause: err}
}

// superseded answers errNotOurs, or, when the job is finished, lets the task be
// done.
func (s *Server) superseded(run *Run) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()

	rec, err := s.records.Read(ctx, run.ID)
	if err == nil && rec == nil {
		s.log.Error(
			"a job is gone while it runs: Redis has lost its data, or another deployment uses the same",
			"job_id",
			run.ID,
			"attempt",
			run.Attempt,
		)

		return nil
	}

	if err == nil && rec.Status.Terminal() {
		if err := s.outbox.clear(ctx, rec); err != nil {
			s.log.Warn("a job has ended, and a later run left something", "err", err)
		}

		return nil
	}
	s.metrics.broken.WithLabelValues(superseded).Inc()
	s.log.Warn("a run was superseded by another", "job_id", run.ID, "attempt", run.Attempt)

	return errNotOurs
}

// notBegun decides about a task whose job cannot be worked at.
func (s *Server) notBegun(ctx context.Context, id string, err error) error {
	switch {
	case record.Lost(err) != nil:
		// Finished, cancelled or gone: the task is done.
		s.log.Debug("a task's job needs no work", "job_id", id, "reason", err)
		// Its last run may have died with the result stored.
		rec, err := s.records.Read(ctx, id)
		if err == nil {
			err = s.outbox.clear(ctx, rec)
		}

		if err != nil {
			return &retryError{delay: delayOf(patient, 0, nil), cause: err}
		}

		return nil
	case errors.Is(context.Cause(ctx), errDraining):
		return &retryError{cause: errDraining}
	}
	s.log.Warn("a job could not be begun", "job_id", id, "err", err)

	return &retryError{delay: delayOf(patient, 0, nil), cause: err}
}

// countFailed counts a failure of a task that Asynq takes as done, so that its
// counters show what became of the work.
func (s *Server) countFailed(q Queue) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()

	if err := asynqext.CountFailed(ctx, s.rdb, q, s.clock.Now()); err != nil {
		s.log.Debug("a failure is not counted", "queue", q, "err", err)
	}
}

// disown drops the end of a task that another run owns, or that is written already. When Asynq has given
// this run up already it writes none, and the other's would be dropped.
func (s *Server) disown(actx context.Context, id string) {
	if actx.Err() == nil {
		s.completion.Drop(id)
	}
}

// rejoin lets a task that will be tried again keep its owner's turns. Without
// Redis it waits for its place in the list instead.
func (s *Server) rejoin(q Queue, id string, delay time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()

	if err := asynqext.Rejoin(ctx, s.rdb, q, id, delay); err != nil {
		s.log.Debug("a task to be tried again is not in its owner's line", "task_id", id, "err", err)
	}
}

// errNotOurs: another run owns the task, so that its end is not to be written.
var errNotOurs = errors.New("the task is another run's")

// errWritten: the end of the task is written, so that it is not to be written again.
var errWritten = errors.New("the end of the task is written")

// judge is verdictOf, with what only this package knows.
func judge(err error) verdict {
	if _, ok := errors.AsType[unreadableError](err); ok {
		return final
	}

	if errors.Is(err, fault.ErrUnfit) {
		return patient
	}

	return verdictOf(err)
}
