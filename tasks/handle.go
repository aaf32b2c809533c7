package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"presswork/internal/fault"
	"presswork/tasks/record"
)

// handler is the registered handler of a kind, with the kind's settings.
type handler struct {
	queue   Queue
	retries int // after the first attempt
	timeout time.Duration
	backoff []time.Duration // the delays before retries
	// job is set for kinds that belong to a job, plain for the others.
	job   func(ctx context.Context, run *Run, payload []byte) error
	plain func(ctx context.Context, payload []byte) error
}

// Handle registers the handler for a kind of task that belongs to a job. Its tasks run from the queue of the kind
// and, if it prints, from Bulk. The handler ends the job with Run.Complete or continues it with Run.Next. When it
// returns an error, the job fails or the task is retried: see verdictByCode. A handler may run twice for one job,
// so its effects must be repeatable. Call Handle before Start.
//
// ctx ends when the job is cancelled, after the kind's Timeout, and when the server stops. context.Cause(ctx) is
// the reason.
func Handle[P any](s *Server, k Kind[P], h func(ctx context.Context, run *Run, payload P) error) {
	s.handle(k.Name, handler{
		queue: k.Queue, retries: k.Retries, timeout: k.Timeout, backoff: k.Backoff,
		job: func(ctx context.Context, run *Run, b []byte) error {
			payload, err := decodePayload[P](k.Name, b)
			if err != nil {
				return err
			}

			return h(ctx, run, payload)
		},
	})
}

// HandlePlain registers the handler for a kind of task that belongs to no job. An error retries the task until the
// kind's Retries are used up. Then the task is logged and dropped. Call HandlePlain before Start.
func HandlePlain[P any](s *Server, k Kind[P], h func(ctx context.Context, payload P) error) {
	s.handle(k.Name, handler{
		queue: k.Queue, retries: k.Retries, timeout: k.Timeout, backoff: k.Backoff,
		plain: func(ctx context.Context, b []byte) error {
			payload, err := decodePayload[P](k.Name, b)
			if err != nil {
				return err
			}

			return h(ctx, payload)
		},
	})
}

// unreadableError is returned for a payload that cannot be decoded. A retry would fail in the same way.
type unreadableError struct{ cause error }

func (e unreadableError) Error() string { return e.cause.Error() }
func (e unreadableError) Unwrap() error { return e.cause }

// decodePayload decodes the payload of a task. The error makes the task fail without a retry.
func decodePayload[P any](kind string, b []byte) (payload P, err error) {
	if err := json.Unmarshal(b, &payload); err != nil {
		return payload, unreadableError{fmt.Errorf("payload of a %s task: %w", kind, err)}
	}

	return payload, nil
}

// handle registers a handler. A second handler of a kind is a programming error and panics.
func (s *Server) handle(kind string, h handler) {
	if _, taken := s.handlers[kind]; taken {
		panic("tasks: kind " + kind + " has two handlers")
	}
	s.handlers[kind] = h
}

// process is Asynq's handler. It does not pass on Asynq's context, which ends by Asynq's own rules: after that
// Asynq would ignore the result of the task.
func (s *Server) process(actx context.Context, t *asynq.Task) error {
	id, _ := asynq.GetTaskID(actx)
	name, _ := asynq.GetQueueName(actx)
	q := Queue(name)

	// The dequeuer acquired the slot before it took the task.
	s.slots.Claim(q)
	defer s.slots.Release(q)

	err := s.perform(actx, q, id, t)
	if again, ok := errors.AsType[*retryError](err); ok {
		s.rejoinTurns(q, id, again.delay)
	}

	return err
}

// perform runs the handler of a task. It returns the error for Asynq, as conclude does.
func (s *Server) perform(actx context.Context, q Queue, id string, t *asynq.Task) error {
	tried, _ := asynq.GetRetryCount(actx)
	kind, isJob := strings.CutPrefix(t.Type(), record.TaskPrefix)

	h, ok := s.handlers[kind]
	if !ok || isJob && h.job == nil {
		if !isJob && s.isAbandonedCall(actx, q, id) {
			s.log.Warn("dropped a task of another release, whose call is over", "task_id", id, "kind", kind)
			return nil
		}
		// A worker of the release that queued it will take it.
		return &retryError{
			delay: delayOf(uncountedRetry, 5, nil), // the longest delay: about 30 s
			cause: fmt.Errorf("this worker does not know the kind %q", t.Type()),
		}
	}

	if h.plain != nil {
		return s.processPlain(id, t.Type(), q, h, t.Payload(), tried)
	}

	err := s.processJob(id, q, h, kind, tried)
	if !errors.Is(err, errOtherRun) && !errors.Is(err, errEndWritten) {
		return err
	}
	s.dropTaskEnd(actx, id)

	return nil
}

// abandonedAfter is the least age of an abandoned call on a queue that also has jobs.
const abandonedAfter = 10 * time.Minute

// isAbandonedCall reports whether the task is that of a call for which no caller waits. It is false for webhooks, and
// when Redis does not answer.
func (s *Server) isAbandonedCall(ctx context.Context, q Queue, id string) bool {
	call, _, _ := strings.Cut(id, ".")

	created, ok := record.CreatedAt(call)
	if !ok || !hasOnlyCalls(q) && s.clock.Now().Sub(created) < abandonedAfter {
		return false
	}
	open, err := s.calls.IsOpen(ctx, call)

	return err == nil && !open
}

// processPlain runs a task without a job.
func (s *Server) processPlain(id, kind string, q Queue, h handler, payload []byte, tried int) error {
	ctx, cancel := s.context(h.timeout)
	defer cancel(nil)
	defer s.active.addRun(&activeRun{task: id, kind: kind, queue: q, began: s.clock.Now(), ctx: ctx, end: cancel})()

	err := recoverPanic(func() error { return h.plain(ctx, payload) })
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errDraining):
		return &retryError{cause: errDraining}
	case verdictOf(err) == final || tried >= h.retries:
		s.log.Error("a task is dropped", "task_id", id, "tries", tried+1, "err", err)
		s.countFailed(q)

		return nil
	}
	s.log.Warn("a task will run again", "task_id", id, "tries", tried+1, "err", err)

	return &retryError{delay: delayOf(countedRetry, tried, h.backoff), counted: true, cause: err}
}

// processJob begins a run of a job, calls the handler and ends the run.
func (s *Server) processJob(id string, q Queue, h handler, kind string, tried int) error {
	ctx, cancel := s.context(h.timeout)
	defer cancel(nil)

	begun, err := s.begin(ctx, id, kind)
	if err != nil {
		return s.concludeNotBegun(ctx, id, err)
	}

	run := &Run{
		ID:      id,
		Attempt: begun.Job.Attempts,
		Record:  begun.Job.Record,
		records: s.records,
		outbox:  s.outbox,
		fence:   begun.Fence,
		queue:   q,
		end:     cancel,
		began:   time.Now(),
	}
	// Stop the timer of held reports: the run must not report after its handler has returned.
	defer run.takeHeld()
	defer s.active.addRun(&activeRun{
		task: id, kind: kind, queue: q, began: s.clock.Now(), fence: begun.Fence, ctx: ctx, end: cancel,
	})()
	err = recoverPanic(func() error { return h.job(ctx, run, begun.Payload) })

	if run.continued {
		return nil
	}

	if run.done != nil {
		s.logEnd(slog.LevelInfo, run, run.done.Record, nil)
		s.settle(run.done)

		if run.done.TaskEnded {
			return errEndWritten
		}

		return nil
	}

	if err == nil {
		err = errors.New("the handler ended without a result")
	}

	if ctx.Err() != nil {
		// The handler may have wrapped or replaced the cause.
		err = context.Cause(ctx)
	}

	return s.conclude(q, run, h, tried, err)
}

// beginArgv returns the arguments of record.DequeueLua, and a function that keeps its answer for begin.
func (s *Server) beginArgv(nonce string) (argv []any, begun func(id string, answer []any)) {
	var kinds []string

	for kind, h := range s.handlers {
		if h.job != nil {
			kinds = append(kinds, kind)
		}
	}
	drops := s.completion.Drops()

	argv = s.records.DequeueArgs(nonce, s.name, kinds)
	begun = func(id string, answer []any) {
		// Cancel only the drops from before the dequeue: see begin.
		s.completion.Keep(id, drops)
		s.begun.Store(id, answer)
	}

	return argv, begun
}

// begin begins an attempt, or returns the one that the dequeue has begun. It cancels the drops that were
// registered for earlier ends of this task. Drops that follow stay: the previous run may register one once this
// attempt has superseded it.
func (s *Server) begin(ctx context.Context, id, kind string) (record.Begun, error) {
	if answer, ok := s.begun.LoadAndDelete(id); ok {
		return record.ReadBegun(answer.([]any))
	}
	s.completion.Keep(id, s.completion.Drops())

	return s.records.Begin(ctx, id, kind, s.name)
}

// context returns the context of a handler. It ends after the time-out and when the server stops.
func (s *Server) context(timeout time.Duration) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(s.work)
	tctx, stop := context.WithTimeoutCause(ctx, timeout,
		fault.Errorf(fault.RenderTimeout, "the job took longer than %s", timeout))

	return tctx, func(cause error) {
		cancel(cause)
		stop()
	}
}

// recoverPanic turns a handler's panic into an error.
func recoverPanic(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()

	return f()
}
