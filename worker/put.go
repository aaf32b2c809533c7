package worker

import (
	"bytes"
	"context"
	"errors"
	"time"

	"presswork"
	"presswork/storage"
	"presswork/tasks"
)

const (
	// putPatience is how long a run keeps its result while the store takes nothing.
	// Its slot is no loss: another job would get no further than its own result.
	putPatience = 10 * time.Minute
	// putMargin is what a run needs to give its task back before its time is over.
	putMargin = 30 * time.Second
	// firstPutPause and lastPutPause are the pauses between tries, which double.
	firstPutPause = 250 * time.Millisecond
	lastPutPause  = 5 * time.Second
)

// put stores what a run has made. A store that is away or full is asked again, so
// that nothing is made twice for that; RenderTimeout bounds each try. A try is not
// broken off when the run ends: it might reach the store after what the job left
// there was deleted. Errors: as the
// store's, storage.ErrExists among them, or the last outage when it lasted too long.
func (w *Worker) put(ctx context.Context, run *tasks.Run, key string, data []byte, attrs storage.Attrs) (info storage.Info, err error) {
	until := time.Now().Add(putPatience)
	if end, ok := ctx.Deadline(); ok && end.Add(-putMargin).Before(until) {
		until = end.Add(-putMargin)
	}
	for pause := firstPutPause; ; pause = min(2*pause, lastPutPause) {
		err = w.within(context.WithoutCancel(ctx), func(ctx context.Context) error {
			info, err = w.Store.Put(ctx, key, bytes.NewReader(data), int64(len(data)), attrs)
			return err
		})
		if err == nil || errors.Is(err, storage.ErrExists) || ctx.Err() != nil || time.Now().Add(pause).After(until) {
			return info, err
		}
		code := presswork.CodeOf(storeError(err))
		if code != presswork.StoreUnavailable && code != presswork.StoreFull {
			return info, err
		}
		w.Log.WarnContext(ctx, "a result could not be stored; it is kept and tried again", "job_id", run.ID, "error", err, "pause", pause.String())
		// Where the run is over by now, this ends ctx.
		_ = run.Progress(ctx, presswork.StageStoring, 0, "the store does not take the result; trying again")
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return info, context.Cause(ctx)
		}
	}
}
