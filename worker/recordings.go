package worker

import (
	"context"
	"errors"
	"io"
	"os"

	"presswork/internal/fault"
	"presswork/storage"
)

// fetch copies the recording to a temporary file: from the store, or from the address in the task. The caller must
// close the file. Errors: StoreUnavailable, those of Download, and those of the disk.
func (h *transcription) fetch(ctx context.Context) (tempFile, error) {
	if h.task.Key == "" {
		return h.tempFile(func(w io.Writer) error { return h.download(ctx, w) })
	}

	r, _, err := h.Store.Get(ctx, h.task.Key, storage.Range{})
	if err != nil {
		return tempFile{}, storeError(err)
	}
	defer r.Close()

	return h.tempFile(func(w io.Writer) error {
		if _, err := io.Copy(w, r); err != nil {
			return storeError(err)
		}

		return nil
	})
}

// tempFile returns an unlinked file with what fill writes. The system frees the file when it is closed, also when
// the process dies.
func (h *transcription) tempFile(fill func(io.Writer) error) (tempFile, error) {
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

// download writes the recording at the task's address to w. Its errors name the field "url".
func (h *transcription) download(ctx context.Context, w io.Writer) error {
	err := h.Download(ctx, h.task.URL, w)

	e, public := errors.AsType[*fault.Error](err)
	if !public {
		return err
	}

	if e.Code == fault.NotFound {
		// The missing resource is the caller's address, not one of ours.
		e = fault.Errorf(fault.InvalidURL, "the recording cannot be fetched: %s", e.Message).WithCause(err)
	}

	return e.WithParam("url")
}
