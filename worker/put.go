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
	// storePatience is how long a run waits for a store that is away or full, with its result if it has one. Its slot
	// is no loss: another job would get no further.
	storePatience = 10 * time.Minute
	// storeTries is how often a run is tried while the store works. What it still fails for is no outage, and its slot
	// is better used by another job.
	storeTries = 5
	// storeMargin is what a run needs to give its task back before its time is over.
	storeMargin = 30 * time.Second
	// firstStorePause and lastStorePause are the pauses between tries, which double.
	firstStorePause = 250 * time.Millisecond
	lastStorePause  = 2 * time.Second
)

// storeWait is how a run waits for the store.
type storeWait struct {
	until time.Time
	pause time.Duration
}

func newStoreWait(ctx context.Context) *storeWait {
	until := time.Now().Add(storePatience)
	if end, ok := ctx.Deadline(); ok && end.Add(-storeMargin).Before(until) {
		until = end.Add(-storeMargin)
	}

	return &storeWait{until, firstStorePause}
}

// next waits for the next try, and reports whether there is one: not when the run has ended or has waited for too
// long.
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

// isOutage reports whether the store may take or give later what it does not now.
func isOutage(err error) bool {
	code := fault.CodeOf(err)
	return code == fault.StoreUnavailable || code == fault.StoreFull
}

// throughOutages calls do, and calls it again when a store that was away or full is back. So the job goes on within
// seconds of the store's return, whereas a retry of its task may be half a minute away.
func (w *Worker) throughOutages(ctx context.Context, run *tasks.Run, do func() error) error {
	waiting := newStoreWait(ctx)

	for tries := 1; ; tries++ {
		err := do()
		if !isOutage(err) || tries == storeTries {
			return err
		}

		w.Log.WarnContext(
			ctx,
			"the store does not answer or is full; the run waits for it",
			"job_id",
			run.ID,
			"error",
			err,
		)

		if !waiting.next(ctx) {
			return err
		}

		for w.Store.Health(ctx) != nil {
			tries = 0

			if !waiting.next(ctx) {
				return err
			}
		}
	}
}

// put stores what a run has made. A store that is away or full is asked again, so
// that nothing is made twice for that; RenderTimeout bounds each try. A try is not
// broken off when the run ends: it might reach the store after what the job left
// there was deleted. Errors: as the
// store's, storage.ErrExists among them, or the last outage when it lasted too long.
func (w *Worker) put(
	ctx context.Context,
	run *tasks.Run,
	key string,
	data []byte,
	attrs storage.Attrs,
) (info storage.Info, err error) {
	waiting := newStoreWait(ctx)
	for {
		err = w.within(context.WithoutCancel(ctx), func(ctx context.Context) error {
			info, err = w.Store.Put(ctx, key, bytes.NewReader(data), int64(len(data)), attrs)
			return err
		})
		if err == nil || errors.Is(err, storage.ErrExists) || ctx.Err() != nil || !isOutage(storeError(err)) {
			return info, err
		}
		w.Log.WarnContext(
			ctx,
			"a result could not be stored; it is kept and tried again",
			"job_id",
			run.ID,
			"error",
			err,
		)
		// Where the run is over by now, this ends ctx.
		_ = run.Progress(ctx, presswork.StageStoring, 0, "the store does not take the result; trying again")
		if !waiting.next(ctx) {
			return info, cmp.Or(context.Cause(ctx), err)
		}
	}
}
