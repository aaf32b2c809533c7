package worker

import (
	"context"
	"errors"
	"strconv"

	"presswork"
	"presswork/internal/document"
	"presswork/storage"
	"presswork/tasks"
)

// metaJob is the attribute with the id of the job that a document was printed for. Copies keep it.
const metaJob = "job"

// earlierResult returns the artifact that an earlier run of the job stored, or failure when there is none. It is called
// after this run has failed with failure. The earlier run may have completed the job and deleted its sources. Redis may
// have lost that completion in a failover, a power cut or a restore.
func (w *Worker) earlierResult(
	ctx context.Context, run *tasks.Run, task tasks.Convert, failure error,
) (made result, err error) {
	if ctx.Err() != nil { // the run has ended, so it must not complete the job
		return result{}, failure
	}

	info, err := w.Store.Stat(ctx, storage.ArtifactKeyOf(run.ID, task.Output.ContentType()))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return result{}, failure
	case err != nil:
		return result{}, storeError(err)
	}
	w.Log.WarnContext(ctx, "a run failed; the job completes with the result of an earlier run", "job_id", run.ID,
		"error", failure)
	made.artifact, made.cached, err = w.adoptStored(run, info)

	return made, err
}

// adopt returns the artifact that another run of the job has printed or copied from the render cache.
func (w *Worker) adopt(ctx context.Context, run *tasks.Run, c document.Composed) (presswork.Artifact, bool, error) {
	info, err := w.Store.Stat(ctx, artifactKey(run, c))
	if err != nil {
		return presswork.Artifact{}, false, storeError(err)
	}

	return w.adoptStored(run, info)
}

// adoptStored returns a stored object as the artifact of the run, and reports the warnings of its print
// on the job. cached reports whether the object came from the render cache.
func (w *Worker) adoptStored(run *tasks.Run, info storage.Info) (artifact presswork.Artifact, cached bool, err error) {
	if info.Meta[metaJob] != run.ID {
		return artifactOf(run, info), true, nil
	}

	return artifactOf(run, info), false, run.Warn(run.Record.Printed...)
}

// artifactOf returns the artifact of a stored object, without its file name and expiry.
func artifactOf(run *tasks.Run, info storage.Info) presswork.Artifact {
	pages, _ := strconv.Atoi(info.Meta["pages"]) // 0 for results without pages

	return presswork.Artifact{
		ID: run.ID, Size: info.Size, Pages: pages, SHA256: info.SHA256, ContentType: info.ContentType,
	}
}
