package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"

	"presswork"
	"presswork/internal/document"
	"presswork/storage"
	"presswork/tasks"
)

// artifactKey returns the store key of the result of a composed document.
func artifactKey(run *tasks.Run, c document.Composed) string {
	return storage.ArtifactKeyOf(run.ID, c.Output.ContentType())
}

// fromCache copies the cached result of an equal page to this job. The artifact is zero when the cache has none. cached
// is false for an artifact that an earlier run of this job has printed.
func (w *Worker) fromCache(
	ctx context.Context, run *tasks.Run, c document.Composed,
) (artifact presswork.Artifact, cached bool, err error) {
	render := w.renderKey(run, c.Key)

	info, err := w.Store.Copy(ctx, render, artifactKey(run, c))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return presswork.Artifact{}, false, nil
	case errors.Is(err, storage.ErrCorrupt):
		w.Log.ErrorContext(ctx, "a page of the render cache is damaged; it is printed again", "key", render,
			"error", errors.Join(err, w.Keeper.Delete(ctx, render)))

		return presswork.Artifact{}, false, nil
	case errors.Is(err, storage.ErrExists):
		// An earlier run of this job stored its result and died before it completed the job.
		return w.adopt(ctx, run, c)
	case err != nil:
		return presswork.Artifact{}, false, storeError(err)
	}
	w.Keeper.Touch(render)

	return artifactOf(run, info), true, nil
}

// ownerOf returns the owner whose jobs may reuse the print of this job; "" means all owners.
func (w *Worker) ownerOf(run *tasks.Run) string {
	if w.SharedRenders {
		return ""
	}

	return run.Record.Owner
}

// renderKey returns the store key of a page in the render cache. The owner is part of the hash, so that no key can
// learn what another has printed.
func (w *Worker) renderKey(run *tasks.Run, page string) string {
	owner := w.ownerOf(run)
	if owner == "" {
		return storage.RenderKey(page)
	}
	sum := sha256.Sum256([]byte(page + " " + owner))

	return storage.RenderKey(hex.EncodeToString(sum[:]))
}

// storePrint stores the result of a print, and reports whether the keeper has counted it. If another run of the job
// has stored a result, the job gets that one.
func (w *Worker) storePrint(
	ctx context.Context, run *tasks.Run, c document.Composed, made document.Made,
) (artifact presswork.Artifact, counted bool, err error) {
	ctx, endStage := w.stage(ctx, presswork.StageStoring)
	defer endStage()
	attrs := storage.Attrs{
		ContentType: c.Output.ContentType(),
		Meta:        map[string]string{"pages": strconv.Itoa(made.Pages), metaJob: run.ID},
	}

	info, err := w.put(ctx, run, artifactKey(run, c), made.Data, attrs)
	if errors.Is(err, storage.ErrExists) {
		artifact, _, err := w.adopt(ctx, run, c)
		return artifact, false, err
	}

	if err != nil {
		return presswork.Artifact{}, false, storeError(err)
	}

	if len(made.Warnings) > len(c.Warnings) {
		// Another job would get the copy without the warnings of the print.
		return artifactOf(run, info), false, nil
	}

	return artifactOf(run, info), w.copyToRenderCache(ctx, info, w.renderKey(run, c.Key)), nil
}

// copyToRenderCache copies a printed page to the render cache. counted reports whether the keeper has counted both the
// artifact and the copy. It counts the copy first, because nothing would count it after a crash. A failure is only
// logged, because the job does not depend on the cache.
func (w *Worker) copyToRenderCache(ctx context.Context, artifact storage.Info, render string) (counted bool) {
	err := w.Keeper.Record(ctx, artifact.Key, artifact.Size, render)
	if err != nil {
		w.notCounted(ctx, render, err)
	}

	if _, err := w.Store.Copy(ctx, artifact.Key, render); err != nil && !errors.Is(err, storage.ErrExists) {
		w.Log.WarnContext(ctx, "a page could not be stored in the render cache",
			"error", errors.Join(err, w.Keeper.Delete(ctx, render)))
	}

	return err == nil
}

// notCounted logs that the keeper did not count an object.
func (w *Worker) notCounted(ctx context.Context, key string, err error) {
	w.Log.WarnContext(ctx, "an object was stored but not counted; the next sweep finds it", "key", key, "error", err)
}
