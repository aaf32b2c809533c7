package worker

import (
	"context"
	"errors"
	"io"
	"os"

	"presswork/internal/fault"
	"presswork/storage"
)

// fetch copies the recording to a file without a name.
func (h *hearing) fetch(ctx context.Context) (tempFile, error) {
	if h.task.Key == "" {
		return h.aside(func(w io.Writer) error { return h.download(ctx, w) })
	}

	r, _, err := h.Store.Get(ctx, h.task.Key, storage.Range{})
	if err != nil {
		return tempFile{}, storeError(err)
	}
	defer r.Close()

	return h.aside(func(w io.Writer) error {
		if _, err := io.Copy(w, r); err != nil {
			return storeError(err)
		}

		return nil
	})
}

// aside is what fill writes, in a file that goes with its last reader.
func (h *hearing) aside(fill func(io.Writer) error) (tempFile, error) {
	file, err := os.CreateTemp("", "presswork-audio-*")
	if err != nil {
		return tempFile{}, err
	}

	if err = os.Remove(file.Name()); err == nil {
		err = fill(file)
	}

	var size int64
	if err == nil {
		size, err = file.Seek(0, io.SeekCurrent)
	}

	if err != nil {
		file.Close()
		return tempFile{}, err
	}

	return tempFile{file, size}, nil
}

// tempFile is a file with its size in bytes.
type tempFile struct {
	*os.File
	size int64
}

func (h *hearing) download(ctx context.Context, w io.Writer) error {
	err := h.Download(ctx, h.task.URL, w)

	e, coined := errors.AsType[*fault.Error](err)
	if !coined {
		return err
	}

	if e.Code == fault.NotFound {
		// Nothing is missing here: the address is wrong.
		e = fault.Errorf(fault.InvalidURL, "the recording cannot be fetched: %s", e.Message).WithCause(err)
	}

	return e.WithParam("url")
}
