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

// metaJob is the attribute with the job that a document was printed for; copies keep it.
const metaJob = "job"

// earlier returns the artifact that an earlier run of the job stored, or failure where there is none. The job may
// have been completed and its sources deleted, and Redis may then have lost the completion: after a failover, a
// power cut or a restore.
func (w *Worker) earlier(
	ctx context.Context,
	run *tasks.Run,
	task tasks.Convert,
	failure error,
) (made result, err error) {
	if ctx.Err() != nil {
		return result{}, failure
	}

	info, err := w.Store.Stat(ctx, storage.ArtifactKeyOf(run.ID, task.Output.ContentType()))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return result{}, failure
	case err != nil:
		return result{}, storeError(err)
	}
	w.Log.WarnContext(
		ctx,
		"a run failed, but an earlier one had stored the result: the job completes with it",
		"job_id",
		run.ID,
		"error",
		failure,
	)
	made.artifact, made.cached, err = w.adoptStored(run, info)

	return made, err
}

// adopt takes the artifact that another run of the job has stored, printed or copied from the render cache.
func (w *Worker) adopt(ctx context.Context, run *tasks.Run, c document.Composed) (presswork.Artifact, bool, error) {
	info, err := w.Store.Stat(ctx, artifactKey(run, c))
	if err != nil {
		return presswork.Artifact{}, false, storeError(err)
	}

	return w.adoptStored(run, info)
}

// adoptStored makes a stored object the artifact of the run, with the warnings that its print gave. It reports
// whether the object came from the render cache.
func (w *Worker) adoptStored(run *tasks.Run, info storage.Info) (artifact presswork.Artifact, cached bool, err error) {
	if info.Meta[metaJob] != run.ID {
		return artifactOf(run, info), true, nil
	}

	return artifactOf(run, info), false, run.Warn(run.Record.Printed...)
}

func artifactOf(run *tasks.Run, info storage.Info) presswork.Artifact {
	pages, _ := strconv.Atoi(info.Meta["pages"])

	return presswork.Artifact{
		ID:          run.ID,
		Size:        info.Size,
		Pages:       pages,
		SHA256:      info.SHA256,
		ContentType: info.ContentType,
	}
}
