package worker

import (
	"context"

	"presswork/tasks"
)

// Choose handles tasks.ChooseTheme. It chooses the theme of a document and makes the job a conversion on the queue that
// the task names. It is a separate kind, so that a slow model holds no slot for printing. Errors: those of Convert.
func (w *Worker) Choose(ctx context.Context, run *tasks.Run, task tasks.Choice) error {
	return w.throughOutages(ctx, run, func() error { return w.chooseAndQueue(ctx, run, task) })
}

// chooseAndQueue chooses the theme and queues the conversion. When that fails and an earlier run has
// stored the result, it completes the job.
func (w *Worker) chooseAndQueue(ctx context.Context, run *tasks.Run, task tasks.Choice) error {
	err := w.chooseTheme(ctx, run, &task.Convert)
	if err != nil {
		made, err := w.earlierResult(ctx, run, task.Convert, err)
		if err != nil {
			return err
		}

		return w.complete(ctx, run, task.Convert, made)
	}

	next, err := tasks.ConvertPDF.Task(task.Convert)
	if err != nil {
		return err
	}

	return run.Next(ctx, next.On(task.Queue))
}

// chooseTheme sets the theme that suits the document of the task.
func (w *Worker) chooseTheme(ctx context.Context, run *tasks.Run, task *tasks.Convert) error {
	doc, err := w.document(ctx, run, *task)
	if err != nil {
		return err
	}
	task.Theme, err = w.choose(ctx, run, doc.Text())

	return err
}
