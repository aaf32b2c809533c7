package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
)

// Preview handles tasks.RenderPreview. It stores the sample of a theme, as a PDF or as a PNG
// of its first page, under the task's key. The answer is empty. Errors: QueueUnavailable
// where the theme of that name is not the one that the API has read, so that another worker
// tries.
func (w *Worker) Preview(ctx context.Context, task tasks.Preview) (any, error) {
	return nil, w.preview(ctx, task)
}

func (w *Worker) preview(ctx context.Context, task tasks.Preview) error {
	composed, err := w.Converter.Preview(ctx, task.Theme)
	if err != nil {
		return err
	}

	if key := storage.PreviewKey(composed.Key, task.Format); key != task.Key {
		// A folder of themes or a release that is not the API's: another worker,
		// or this one a little later, may have the same.
		return fault.Errorf(fault.QueueUnavailable,
			"the workers do not have this version of theme %q yet; try again", task.Theme).
			WithCause(fmt.Errorf("its preview is %s here, and not %s", key, task.Key))
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
		return nil // made twice, the same
	case err != nil:
		return storeError(err)
	}

	if err := w.Keeper.Record(ctx, info.Key, info.Size); err != nil {
		w.notCounted(ctx, info.Key, err)
	}

	return nil
}
