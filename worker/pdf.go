package worker

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/pdfops"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
)

// EditPDF handles tasks.EditPDF. It stores the result of an operation on PDF files. Errors: those of pdfops.Run,
// RenderTimeout, StoreUnavailable, StoreFull and QueueUnavailable.
func (w *Worker) EditPDF(ctx context.Context, run *tasks.Run, task tasks.PDFEdit) error {
	return w.attempt(ctx, run, func(ctx context.Context) (cached bool, err error) {
		return false, w.editPDF(ctx, run, task)
	})
}

// editPDF stores the result, unless an earlier run has, and completes the job.
func (w *Worker) editPDF(ctx context.Context, run *tasks.Run, task tasks.PDFEdit) error {
	key := storage.ArtifactKeyOf(run.ID, task.ContentType())

	info, err := w.Store.Stat(ctx, key)
	if errors.Is(err, storage.ErrNotFound) {
		if info, err = w.makePDF(ctx, run, task, key); errors.Is(err, storage.ErrExists) {
			// A parallel run has stored the result.
			info, err = w.Store.Stat(ctx, key)
		}
	}

	if err != nil {
		return pdfError(err)
	}
	w.countResult(ctx, info, task.Keep)
	artifact := artifactOf(run, info)
	artifact.Filename = pdfResultName(run.Record.Filename, task)
	artifact.ExpiresAt = w.expiry(task.Keep)

	if err := run.Complete(ctx, artifact, false); err != nil {
		return err
	}
	// Delete the sources last: until the job has ended, another run may need them.
	w.deleteKeys(ctx, run.ID, task.Keys())

	return nil
}

// pdfError is storeError, except that it returns the error of a cancelled context unchanged.
func pdfError(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}

	return storeError(err)
}

// makePDF performs the operation and stores its result. All files of a task are in memory at the same time. The API
// limits their size by MAX_UPLOAD_BYTES, and the render slots limit how many tasks run. Errors: those of pdfops.Run
// and of the store, storage.ErrExists among them.
func (w *Worker) makePDF(ctx context.Context, run *tasks.Run, task tasks.PDFEdit, key string) (storage.Info, error) {
	if err := run.Progress(ctx, presswork.StageRendering, 20, "reading the PDF files"); err != nil {
		return storage.Info{}, err
	}
	var result pdfops.Result

	err := w.withRenderTimeout(ctx, func(ctx context.Context) error {
		var inputs []pdfops.File

		for _, f := range task.Files {
			data, err := w.read(ctx, f.Key)
			if err != nil {
				return err
			}
			inputs = append(inputs, pdfops.File{Name: f.Name, Data: data})
		}
		mark := pdfops.File{}

		if task.Mark != nil {
			data, err := w.read(ctx, task.Mark.Key)
			if err != nil {
				return err
			}
			mark = pdfops.File{Name: task.Mark.Name, Data: data}
		}

		var err error
		result, err = pdfops.Run(ctx, task.Operation, task.Options, inputs, mark)

		return err
	})
	if err != nil {
		return storage.Info{}, err
	}

	for _, text := range result.Warnings {
		if err := run.Warn(fault.Warning{Code: fault.PDFChanged, Message: text}); err != nil {
			return storage.Info{}, err
		}
	}

	data, err := resultData(result, task.ContentType())
	if err != nil {
		return storage.Info{}, err
	}

	if err := run.Progress(ctx, presswork.StageStoring, 90, "storing the result"); err != nil {
		return storage.Info{}, err
	}
	attrs := storage.Attrs{
		ContentType: task.ContentType(),
		Meta:        map[string]string{"pages": strconv.Itoa(result.Pages)},
	}

	// The object names its own end, so that the sweeper deletes it even if Redis loses the index of objects.
	if task.Keep > 0 {
		attrs.Meta[retention.MetaUntil] = w.expiry(task.Keep).Format(time.RFC3339)
	}

	return w.put(ctx, run, key, data, attrs)
}

// resultData returns the only file of a result, or an archive of its files.
func resultData(result pdfops.Result, contentType string) ([]byte, error) {
	if contentType != "application/zip" {
		return result.Files[0].Data, nil
	}
	const header = 512 // for each file, with room for its name
	size := 0

	for _, f := range result.Files {
		size += len(f.Data) + header
	}
	b := bytes.NewBuffer(make([]byte, 0, size)) // growing would take several times the memory
	archive := zip.NewWriter(b)

	for _, f := range result.Files {
		// The streams of a PDF are compressed already.
		entry, err := archive.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store})
		if err != nil {
			return nil, err
		}

		if _, err := entry.Write(f.Data); err != nil {
			return nil, err
		}
	}

	err := archive.Close()

	return b.Bytes(), err
}

// pdfResultName returns the file name of a result: the requested name, or one made from the first file's, with the
// extension of the content type.
func pdfResultName(requested string, task tasks.PDFEdit) string {
	extensions := map[string]string{"application/zip": ".zip", "application/json": ".json", "application/pdf": ".pdf"}

	name := requested
	switch {
	case name != "":
	case task.Operation == pdfops.Merge || len(task.Files) == 0:
		name = "merged"
	default:
		name = task.Files[0].Name
	}

	extension := cmp.Or(extensions[task.ContentType()], ".txt")

	for _, old := range []string{".pdf", extension} {
		if stem := len(name) - len(old); stem > 0 && strings.EqualFold(name[stem:], old) {
			name = name[:stem]
		}
	}

	return name + extension
}
