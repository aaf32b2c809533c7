package worker

import (
	"context"

	"presswork/internal/markdown/diagram"
	"presswork/tasks"
)

// Draw handles tasks.DrawDiagrams. It returns the pictures of a document's diagrams.
func (w *Worker) Draw(ctx context.Context, task tasks.Drawing) (any, error) {
	return w.Diagrams.Draw(ctx, task.Sources, diagram.Style(task.Style))
}
