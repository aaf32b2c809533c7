package worker

import (
	"context"

	"presswork/tasks"
)

// Choose handles tasks.ChooseTheme: it chooses the theme of a document and makes
// the job a conversion, on the queue that the task names. It is a kind of its own
// so that a slow model holds no place of a print.
func (w *Worker) Choose(ctx context.Context, run *tasks.Run, task tasks.Choice) error {
	document, err := w.document(ctx, run, task.Convert)
	if err != nil {
		return err
	}
	if task.Convert.Theme, err = w.choose(ctx, run, document.Text()); err != nil {
		return err
	}
	next, err := tasks.ConvertPDF.Task(task.Convert)
	if err != nil {
		return err
	}
	return run.Next(ctx, next.On(task.Queue))
}
