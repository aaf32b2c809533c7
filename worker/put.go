package worker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
)

const (
	// maxStoreWait is how long a run waits for a store that does not answer or is full. It keeps its
	// slot, because another job could not store its result either.
	maxStoreWait = 10 * time.Minute
	// storeTries is how often a run tries its work in a row while the store answers health checks. A run that still
	// fails gives its slot to another job.
	storeTries = 5
	// storeMargin is how long before its deadline a run stops waiting, so that it can return its task to the queue.
	storeMargin = 30 * time.Second
	// firstStorePause is the first pause between two tries; pauses double up to lastStorePause.
	firstStorePause = 250 * time.Millisecond
	lastStorePause  = 2 * time.Second
)

// storeWait is the wait of a run for the store.
type storeWait struct {
	// until is when the wait ends, pause how long the next pause is.
	until time.Time
	pause time.Duration
}

// newStoreWait returns how long a run may wait for the store: maxStoreWait, but not longer than its time limit
// allows.
func newStoreWait(ctx context.Context) *storeWait {
	until := time.Now().Add(maxStoreWait)
	if end, ok := ctx.Deadline(); ok && end.Add(-storeMargin).Before(until) {
		until = end.Add(-storeMargin)
	}

	return &storeWait{until, firstStorePause}
}

// next pauses before the next try. It reports false when the run has ended or has waited too long.
func (s *storeWait) next(ctx context.Context) bool {
	if time.Now().Add(s.pause).After(s.until) {
		return false
	}

	select {
	case <-time.After(s.pause):
	case <-ctx.Done():
	}
	s.pause = min(2*s.pause, lastStorePause)

	return ctx.Err() == nil
}

// isOutage reports whether a later try may succeed, because the store answers again or has space again.
func isOutage(err error) bool {
	code := fault.CodeOf(err)
	return code == fault.StoreUnavailable || code == fault.StoreFull
}

// attempt is one run of a job, with its span, its metrics and the wait for the store. do returns whether the result
// came from the render cache. After the end of ctx every step fails, so the error is then its cause: cancelled,
// superseded or stopping.
func (w *Worker) attempt(
	ctx context.Context, run *tasks.Run, do func(ctx context.Context) (cached bool, err error),
) error {
	ctx, endRun := w.observeRun(ctx, run)
	var cached bool

	err := w.throughOutages(ctx, run, func() (err error) {
		cached, err = do(ctx)
		return err
	})
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}

	if errors.Is(err, tasks.ErrCancelled) {
		w.discard(ctx, run.Record)
	}
	endRun(cached, err)

	return err
}

// throughOutages calls do. If do fails because the store does not answer or is full, it waits for the store and calls
// do again. The job then continues within seconds; a retry of its task could take half a minute.
func (w *Worker) throughOutages(ctx context.Context, run *tasks.Run, do func() error) error {
	waiting := newStoreWait(ctx)

	for tries := 1; ; tries++ {
		err := do()
		if !isOutage(err) || tries == storeTries {
			return err
		}

		w.Log.WarnContext(ctx, "the store does not answer or is full; waiting for it", "job_id", run.ID, "error", err)

		if !waiting.next(ctx) {
			return err
		}

		for w.Store.Health(ctx) != nil {
			tries = 0 // count only the tries since the end of the outage

			if !waiting.next(ctx) {
				return err
			}
		}
	}
}

// put stores the result of a run. It retries while the store does not answer or is full, so that the
// result need not be rendered again. RenderTimeout bounds each try. The end of the run does not cancel a
// try, because a cancelled request may still reach the store after the job's objects were deleted.
// Errors: those of the store, including storage.ErrExists, and the last outage when it lasts too long.
func (w *Worker) put(
	ctx context.Context, run *tasks.Run, key string, data []byte, attrs storage.Attrs,
) (info storage.Info, err error) {
	waiting := newStoreWait(ctx)
	for {
		err = w.withRenderTimeout(context.WithoutCancel(ctx), func(ctx context.Context) error {
			info, err = w.Store.Put(ctx, key, bytes.NewReader(data), int64(len(data)), attrs)
			return err
		})
		if err == nil || errors.Is(err, storage.ErrExists) || ctx.Err() != nil || !isOutage(storeError(err)) {
			return info, err
		}
		w.Log.WarnContext(ctx, "a result could not be stored; retrying", "job_id", run.ID, "error", err)
		// Ignore the error: if the run has been superseded, the report also ends ctx.
		_ = run.Progress(ctx, presswork.StageStoring, 0, "the store does not take the result; trying again")
		if !waiting.next(ctx) {
			return info, cmp.Or(context.Cause(ctx), err)
		}
	}
}
