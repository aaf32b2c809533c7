package worker

import (
	"context"
	"encoding/json"

	"presswork/internal/markdown/diagram"
	"presswork/tasks"
)

// Draw handles tasks.DrawDiagrams: the pictures of a document's diagrams, to the
// store under the task's key. A task that nobody waits for any more is dropped.
func (w *Worker) Draw(ctx context.Context, task tasks.Drawing) error {
	if w.Keeper.Now().After(task.Until) {
		return nil
	}

	pictures, err := w.Diagrams.Draw(ctx, task.Sources, diagram.Style(task.Style))
	if err != nil {
		return err
	}

	data, err := json.Marshal(pictures)
	if err != nil {
		return err
	}

	return w.leave(ctx, task.Key, data, "application/json")
}
