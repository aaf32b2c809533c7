package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
)

// discardTimeout bounds the deletion of a cancelled job's artifact, or of a completed job's sources.
const discardTimeout = 30 * time.Second

// content returns the Markdown of a task, from its payload or from the store.
func (w *Worker) content(ctx context.Context, task tasks.Convert) ([]byte, error) {
	if task.ContentKey == "" {
		return []byte(task.Content), nil
	}

	return w.read(ctx, task.ContentKey)
}

// assets returns a function that reads a file of the document by its name. Only files of the task can be read,
// whatever name the document has.
func (w *Worker) assets(ctx context.Context, list []tasks.Asset) func(string) ([]byte, error) {
	keys := make(map[string]string, len(list))
	for _, a := range list {
		keys[a.Name] = a.Key
	}

	return func(name string) ([]byte, error) {
		key, ok := keys[name]
		if !ok {
			return nil, fmt.Errorf("no file %q came with the document", name)
		}

		return w.read(ctx, key)
	}
}

// read returns the content of an object. Errors: those of storeError.
func (w *Worker) read(ctx context.Context, key string) ([]byte, error) {
	r, info, err := w.Store.Get(ctx, key, storage.Range{})
	if err != nil {
		return nil, storeError(err)
	}
	defer r.Close()

	b := bytes.NewBuffer(make([]byte, 0, info.Size+bytes.MinRead))
	if _, err := io.Copy(b, r); err != nil {
		return nil, storeError(err)
	}

	return b.Bytes(), nil
}

// discard deletes the artifact that a run stored before its job was cancelled. A superseded run deletes
// nothing, because the artifact belongs to the later run.
func (w *Worker) discard(ctx context.Context, job tasks.Record) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()

	if err := w.Keeper.Delete(ctx, storage.ArtifactKeyOf(job.ID, job.ContentType)); err != nil {
		w.Log.WarnContext(ctx, "the artifact of a cancelled job was not deleted", "job_id", job.ID, "error", err)
	}
}

// deleteKeys deletes objects that a completed job no longer needs, even while the worker stops.
func (w *Worker) deleteKeys(ctx context.Context, jobID string, keys []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()

	for _, key := range keys {
		if err := w.Keeper.Delete(ctx, key); err != nil {
			w.Log.WarnContext(ctx, "a source was not deleted; the next sweep does it", "job_id", jobID, "key", key,
				"error", err)
		}
	}
}

// storeError returns the public error for an error of the store. Only a missing source is final; every
// other error allows a retry.
func storeError(err error) error {
	if _, public := errors.AsType[*fault.Error](err); public {
		return err
	}

	if errors.Is(err, storage.ErrNotFound) {
		return fault.Errorf(fault.RenderFailed, "the document of this job is no longer stored").WithCause(err)
	}

	if errors.Is(err, storage.ErrCorrupt) {
		// Perhaps only the transfer has damaged it, so use a code that allows a retry.
		return fault.Errorf(fault.Internal, "the document of this job is damaged in the object store").WithCause(err)
	}

	if errors.Is(err, storage.ErrFull) {
		return fault.Errorf(fault.StoreFull, "the object store is full").WithCause(err)
	}

	return fault.Errorf(fault.StoreUnavailable, "the object store did not answer").WithCause(err)
}
