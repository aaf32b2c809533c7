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

// Preview handles tasks.RenderPreview: the sample of a theme, as a PDF or as a
// PNG of its first page, to the store under the task's key. It fails, for another
// try elsewhere, when the theme of that name is not the one the API has seen.
func (w *Worker) Preview(ctx context.Context, task tasks.Preview) error {
	composed, err := w.Converter.Preview(ctx, task.Theme)
	if err != nil {
		return err
	}

	if key := storage.PreviewKey(composed.Key, task.Format); key != task.Key {
		// A folder of themes or a release that is not the API's: another worker,
		// or this one a little later, may have the same.
		return fmt.Errorf("theme %q is another one here: its preview is %s and not %s", task.Theme, key, task.Key)
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

	return w.leave(ctx, task.Key, data, contentType)
}

// leave stores what the API waits for.
func (w *Worker) leave(ctx context.Context, key string, data []byte, contentType string) error {
	info, err := w.Store.Put(ctx, key, bytes.NewReader(data), int64(len(data)), storage.Attrs{ContentType: contentType})
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
