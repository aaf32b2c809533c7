package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"presswork/internal/fault"
	"presswork/internal/markdown/diagram"
	"presswork/storage"
	"presswork/tasks"
)

// Preview handles tasks.RenderPreview. It stores the sample of a theme under the task's key, as a PDF or
// as a PNG of the first page. The answer is empty. Errors: QueueUnavailable when this worker's theme of
// that name differs from the API's, so that another worker tries.
func (w *Worker) Preview(ctx context.Context, task tasks.Preview) (any, error) {
	return nil, w.preview(ctx, task)
}

// preview prints the preview of a theme and stores it under the key of the task.
func (w *Worker) preview(ctx context.Context, task tasks.Preview) error {
	composed, err := w.Converter.Preview(ctx, task.Theme)
	if err != nil {
		return err
	}

	if key := storage.PreviewKey(composed.Key, task.Format); key != task.Key {
		// This worker and the API have different themes or releases. The retry may reach a worker with the
		// API's version, or this one after its update.
		return fault.Errorf(fault.QueueUnavailable,
			"the workers do not have this version of theme %q yet; try again", task.Theme).
			WithCause(fmt.Errorf("the key of its preview is %s here, not %s", key, task.Key))
	}

	var data []byte
	var contentType string

	switch task.Format {
	case "pdf":
		printed, err := w.Converter.Print(ctx, composed)
		if err != nil {
			return err
		}
		data, contentType = printed.PDF, "application/pdf"
	case "png":
		page, err := w.Converter.PreviewSheet(ctx, task.Theme)
		if err != nil {
			return err
		}

		if data, err = w.Picture(ctx, page); err != nil {
			return err
		}
		contentType = "image/png"
	default:
		return fault.Errorf(fault.InvalidRequest, "a preview is pdf or png, not %q", task.Format)
	}

	attrs := storage.Attrs{ContentType: contentType}
	info, err := w.Store.Put(ctx, task.Key, bytes.NewReader(data), int64(len(data)), attrs)

	switch {
	case errors.Is(err, storage.ErrExists):
		return nil // another run has stored the same preview
	case err != nil:
		return storeError(err)
	}

	if err := w.Keeper.Record(ctx, info.Key, info.Size); err != nil {
		w.notCounted(ctx, info.Key, err)
	}

	return nil
}

// Draw handles tasks.DrawDiagrams. It returns the pictures of a document's diagrams, in their order. A diagram
// that cannot be drawn has its problem instead of a picture. Diagrams without a language are Mermaid's.
func (w *Worker) Draw(ctx context.Context, task tasks.Drawing) (any, error) {
	sources := make([]diagram.Source, len(task.Sources))
	for i, text := range task.Sources {
		sources[i] = diagram.Source{Language: diagram.Mermaid, Text: text}
		if i < len(task.Languages) {
			sources[i].Language = task.Languages[i]
		}
	}

	return w.Diagrams.Draw(ctx, sources, diagram.Style(task.Style))
}
