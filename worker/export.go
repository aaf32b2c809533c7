package worker

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"presswork"
	"presswork/internal/chromium"
	"presswork/internal/export"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
)

// Export handles tasks.ExportPage. It stores the page at an address as a PDF or a picture. Errors: those
// of Exporter.PDF, StoreUnavailable, StoreFull and QueueUnavailable.
func (w *Worker) Export(ctx context.Context, run *tasks.Run, task tasks.PageExport) error {
	return w.attempt(ctx, run, func(ctx context.Context) (cached bool, err error) {
		return false, w.export(ctx, run, task)
	})
}

// export visits the page, stores the result and completes the job.
func (w *Worker) export(ctx context.Context, run *tasks.Run, task tasks.PageExport) error {
	// Look for the result of an earlier run first. A second visit may get another answer, or change something on the
	// server.
	artifact, stored, err := w.adoptExport(ctx, run, task)
	if err != nil {
		return err
	}

	visit := visitOf(task)
	if !stored {
		exported, err := w.visit(ctx, run, task, visit)
		if err != nil {
			return err
		}

		if err := run.Progress(ctx, presswork.StageStoring, 90, "storing the result"); err != nil {
			return err
		}

		if artifact, err = w.storeExport(ctx, run, task, exported); err != nil {
			return err
		}
		artifact.Filename = exported.filename
	}

	// The name is that of the options, else the page's title, else the host of its address.
	if visit.Filename != "" {
		artifact.Filename = visit.Filename
	}

	if artifact.Filename == "" {
		artifact.Filename = pageName(task.URL, task.ContentType())
	}
	artifact.ExpiresAt = w.expiry(task.Keep)

	return run.Complete(ctx, artifact, false)
}

// expiry returns when a result that is stored now expires. keep is the task's Keep, in seconds; 0 means the retention
// of artifacts, which is also the limit.
func (w *Worker) expiry(keep int64) time.Time {
	kept := w.Retention
	if keep > 0 {
		kept = min(time.Duration(keep)*time.Second, kept)
	}

	return w.Keeper.Now().UTC().Add(kept).Truncate(time.Millisecond)
}

// visitResult is the result of a visit, ready to be stored.
type visitResult struct {
	data        []byte
	contentType string
	// pages is 0 for a picture. filename is made from the title; "" without one.
	pages    int
	filename string
}

// visit opens the page and returns the requested output. A PDF is also packed, as PDF/A if the options ask for it.
func (w *Worker) visit(
	ctx context.Context, run *tasks.Run, task tasks.PageExport, o export.VisitOptions,
) (visitResult, error) {
	if err := run.Progress(ctx, presswork.StageRendering, 20, "loading the page"); err != nil {
		return visitResult{}, err
	}
	visit := chromium.Visit{URL: task.URL}

	if o.Theme != "" {
		theme, err := w.Themes.Get(o.Theme)
		if err != nil {
			return visitResult{}, err
		}
		visit.ThemeCSS = theme.Tokens()
	}
	// Loaded cannot return an error, so keep it until the visit has ended.
	var reportErr error
	visit.Loaded = func() { reportErr = run.Progress(ctx, presswork.StagePrinting, 60, "printing the page") }
	stageCtx, endStage := w.stage(ctx, presswork.StagePrinting)
	began, output := time.Now(), "pdf"
	var exported chromium.Exported
	var err error

	if task.Screenshot != nil {
		output = "picture"
		exported, err = w.Exporter.Screenshot(stageCtx, visit, *task.Screenshot)
	} else {
		exported, err = w.Exporter.PDF(stageCtx, visit, *task.PDF)
	}
	endStage()
	w.metrics.recordVisit(output, began, err)

	if err := errors.Join(err, reportErr); err != nil {
		return visitResult{}, err
	}

	d := visitResult{
		data:        exported.Data,
		contentType: exported.ContentType,
		filename:    titleName(exported.Title, exported.ContentType),
	}
	if task.PDF == nil {
		return d, nil
	}

	packed, err := w.Converter.Pack(ctx, exported.Data, exported.Title, task.PDF.PDFA)
	if err != nil {
		return d, err
	}
	d.data, d.pages = packed.PDF, packed.Pages

	return d, run.Warn(packed.Warnings...)
}

// storeExport stores the result, or returns the artifact that an earlier run has stored.
func (w *Worker) storeExport(
	ctx context.Context, run *tasks.Run, task tasks.PageExport, d visitResult,
) (presswork.Artifact, error) {
	ctx, endStage := w.stage(ctx, presswork.StageStoring)
	defer endStage()

	attrs := storage.Attrs{ContentType: d.contentType, Meta: map[string]string{"pages": strconv.Itoa(d.pages)}}
	if task.Keep > 0 {
		attrs.Meta[retention.MetaUntil] = w.expiry(task.Keep).Format(time.RFC3339)
	}

	info, err := w.put(ctx, run, storage.ArtifactKeyOf(run.ID, d.contentType), d.data, attrs)
	// A run that was taken for dead has stored its result meanwhile. A job has one artifact, so use that one.
	if errors.Is(err, storage.ErrExists) {
		artifact, _, err := w.adoptExport(ctx, run, task)
		return artifact, err
	}

	if err != nil {
		return presswork.Artifact{}, storeError(err)
	}
	w.countResult(ctx, info, task.Keep)

	return artifactOf(run, info), nil
}

// countTimeout is how long countResult tries to count a result during an outage of Redis. It is as long as
// Run.Complete tries to end the job.
const countTimeout = 20 * time.Second

// countResult records the result of a job with the keeper, which deletes it after keep seconds; 0 means the retention
// of artifacts.
func (w *Worker) countResult(ctx context.Context, info storage.Info, keep int64) {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()

	err := retry(ctx, func() error {
		if keep == 0 {
			return w.Keeper.Record(ctx, info.Key, info.Size)
		}

		return w.Keeper.RecordUntil(ctx, info.Key, info.Size, w.expiry(keep))
	})
	if err != nil {
		w.notCounted(ctx, info.Key, err)
	}
}

// adoptExport returns the artifact that an earlier run of this job has stored, and whether there is one. The
// earlier run may have died before it counted the artifact, so adoptExport counts it again.
func (w *Worker) adoptExport(
	ctx context.Context, run *tasks.Run, task tasks.PageExport,
) (presswork.Artifact, bool, error) {
	info, err := w.Store.Stat(ctx, storage.ArtifactKeyOf(run.ID, task.ContentType()))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return presswork.Artifact{}, false, nil
	case err != nil:
		return presswork.Artifact{}, false, storeError(err)
	}
	w.countResult(ctx, info, task.Keep)

	return artifactOf(run, info), true, nil
}

// visitOf returns the options of a visit that PDFs and pictures share.
func visitOf(task tasks.PageExport) export.VisitOptions {
	if task.Screenshot != nil {
		return task.Screenshot.VisitOptions
	}

	return task.PDF.VisitOptions
}

// extension returns the file extension of a content type: that of a picture, else .pdf.
func extension(contentType string) string {
	if kind, ok := strings.CutPrefix(contentType, "image/"); ok {
		return "." + kind
	}

	return ".pdf"
}

// titleName returns a file name made from a page's title; "" without a title.
func titleName(title, contentType string) string {
	if strings.TrimSpace(title) == "" {
		return ""
	}

	return strings.TrimSuffix(filename("", title), ".pdf") + extension(contentType)
}

// pageName returns a file name made from the host of a page's address.
func pageName(address, contentType string) string {
	host := "page"
	if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}

	return strings.TrimSuffix(filename("", host), ".pdf") + extension(contentType)
}
