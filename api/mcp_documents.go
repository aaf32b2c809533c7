package api

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"time"

	"presswork"
	"presswork/api/exchange"
	"presswork/api/limits"
	"presswork/api/upload"
	"presswork/internal/analysis/finding"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/inference/meter"
	"presswork/internal/mcp"
	"presswork/storage"
	"presswork/tasks"
	"presswork/themes"
)

// mcpTools does the work of MCP tools for one request, with the jobs, limits and rules of the other routes.
type mcpTools struct {
	*Server

	// meta belongs to the request. client is its name for limits, base the address of the server as it knows it.
	meta         *exchange.Meta
	client, base string
}

var _ mcp.Backend = (*mcpTools)(nil)

// admitCall counts a call against the limits of its key. The caller must call the function that it returns at the
// end of the call. During an outage of Redis it admits every call. Errors: RateLimited.
func (t *mcpTools) admitCall(of func(meter.Limits) meter.Limits) (func(), error) {
	limits := of(t.limiter.Of(t.meta.Caller))
	if limits == (meter.Limits{}) || t.Meter == nil {
		return func() {}, nil
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	grant, err := t.Meter.Reserve(ctx, t.client, tasks.NewID(), limits, 0)
	if e, refused := errors.AsType[*meter.Exceeded](err); refused {
		return nil, fault.Errorf(fault.RateLimited, "this key may make %d requests; try again in %s", e.Limit,
			e.After.Round(time.Millisecond))
	}

	if err != nil {
		t.Log.Warn("cannot enforce the limits of a key: Redis did not answer", "error", err)
	}

	return func() { t.limiter.Release(grant) }, nil
}

// submission returns the submission of a job for the caller, without its task.
func (t *mcpTools) submission(kind presswork.Kind) tasks.Submission {
	return tasks.Submission{
		ID: tasks.NewID(), Kind: kind, Owner: t.meta.Caller.Name, RequestID: t.meta.ID, TraceParent: t.meta.Trace,
	}
}

// awaitJob waits for a job and returns it when it has completed. It cancels the job when ctx ends, because the
// client of a tool cannot fetch a result later.
func (t *mcpTools) awaitJob(ctx context.Context, rec tasks.Record, report mcp.Progress) (tasks.Record, error) {
	ended, err := t.awaitEnd(ctx, rec, func(e presswork.Event) { report(e.Progress, e.Stage) })
	switch {
	case err != nil && ctx.Err() != nil:
		t.cancelAbandoned(rec.ID)
		return ended, err
	case err != nil:
		return ended, err
	case ended.Error != nil:
		return ended, ended.Error
	case ended.Status != presswork.Completed:
		return ended, fault.Errorf(fault.JobFinished, "the job was cancelled")
	}

	ask, cancel := exchange.CallContext()
	defer cancel()

	// The events have no warnings and no analysis.
	return t.Queue.Job(ask, rec.ID)
}

// file returns the file of a completed job.
func (t *mcpTools) file(rec tasks.Record) mcp.File {
	a := t.views.Artifact(rec.ID, rec.Artifact)

	f := mcp.File{
		Name: a.Filename, URI: t.base + a.URL, ContentType: a.ContentType, Size: a.Size, Pages: a.Pages,
		Theme: rec.Theme, Warnings: rec.Warnings, ExpiresAt: a.ExpiresAt, Job: rec.ID,
	}
	if rec.Analysis != nil {
		f.Reasons = rec.Analysis.Recommendation.Reasons
	}

	return f
}

// printDocument submits a conversion and waits for it. Errors: those of the submission, and that of the job.
func (t *mcpTools) printDocument(
	ctx context.Context, req upload.Conversion, report mcp.Progress,
) (rec tasks.Record, err error) {
	done, err := t.admitCall(limits.Jobs)
	if err != nil {
		return rec, err
	}
	defer done()

	theme, err := t.checkConversion(&req)
	if err != nil {
		return rec, err
	}

	sub := t.submission(presswork.KindConversion)
	sub.Theme, sub.Filename, sub.ContentType = theme, req.Filename, req.Output.ContentType()

	if rec, _, err = t.acceptConversion(req, sub); err != nil {
		return rec, err
	}

	return t.awaitJob(ctx, rec, report)
}

// conversion returns the request for a document.
func conversion(d mcp.Document, output presswork.Output, filename string) upload.Conversion {
	return upload.Conversion{
		Content:  d.Markdown,
		Theme:    d.Theme,
		Options:  d.Options,
		Output:   output,
		Filename: upload.CleanFilename(filename),
	}
}

// Convert implements mcp.Backend.
func (t *mcpTools) Convert(ctx context.Context, c mcp.Conversion, report mcp.Progress) (f mcp.File, err error) {
	format, err := mcp.FormatOf(c)
	if err != nil {
		return f, err
	}

	rec, err := t.printDocument(ctx, conversion(c.Document, format, c.Output), report)
	if err != nil {
		return f, err
	}

	return t.file(rec), nil
}

// Preview implements mcp.Backend.
func (t *mcpTools) Preview(
	ctx context.Context, d mcp.Document, page int, report mcp.Progress,
) (p mcp.Picture, err error) {
	d.Options = mcp.OnlyPage(d.Options, page)

	rec, err := t.printDocument(ctx, conversion(d, presswork.PNG, ""), report)
	if err != nil {
		return p, err
	}

	data, err := t.readArtifact(ctx, rec)
	if err != nil {
		return p, err
	}
	picture, err := firstFile(data)

	return mcp.Picture{PNG: picture, Theme: rec.Theme, Warnings: rec.Warnings}, err
}

// firstFile returns the first file of an archive that a worker has made.
func firstFile(data []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}

	if len(z.File) == 0 {
		return nil, errors.New("api: an archive of pictures is empty")
	}

	f, err := z.File[0].Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()

	return io.ReadAll(f)
}

// maxRead is the largest artifact that is read into memory, in bytes.
const maxRead = 64 << 20

// readArtifact returns the content of a job's artifact, of at most maxRead bytes. Errors: NotFound,
// ContentTooLarge, ArtifactExpired, StoreUnavailable.
func (t *mcpTools) readArtifact(ctx context.Context, rec tasks.Record) ([]byte, error) {
	if rec.Artifact == nil {
		return nil, fault.Errorf(fault.NotFound, "the job has no file")
	}

	if rec.Artifact.Size > maxRead {
		return nil, fault.Errorf(fault.ContentTooLarge,
			"the file has %d bytes, and at most %d are read; download it instead", rec.Artifact.Size, maxRead)
	}

	r, _, err := t.Store.Get(ctx, storage.ArtifactKeyOf(rec.ID, rec.Artifact.ContentType), storage.Range{})
	if err != nil {
		return nil, artifactError(err, rec)
	}
	defer r.Close()

	return io.ReadAll(r)
}

// Check implements mcp.Backend.
func (t *mcpTools) Check(ctx context.Context, d mcp.Document, report mcp.Progress) (c mcp.Checked, err error) {
	d.Options.Strict = new(false)

	rec, err := t.printDocument(ctx, conversion(d, presswork.PDF, ""), report)
	if err != nil {
		return c, err
	}

	return mcp.Checked{Pages: rec.Artifact.Pages, Theme: rec.Theme, Warnings: rec.Warnings}, nil
}

// Themes implements mcp.Backend.
func (t *mcpTools) Themes() []themes.Theme { return t.Server.Themes.List() }

// Analyze implements mcp.Backend.
func (t *mcpTools) Analyze(ctx context.Context, d mcp.Document) (finding.Analysis, error) {
	done, err := t.admitCall(limits.Jobs)
	if err != nil {
		return finding.Analysis{}, err
	}
	defer done()

	if err := t.checkLength(d.Markdown); err != nil {
		return finding.Analysis{}, err
	}

	if _, err := document.Check([]byte(d.Markdown), presswork.Options{}); err != nil {
		return finding.Analysis{}, err
	}

	return t.composer.Recommend(ctx, t.meta.Caller.Name, []byte(d.Markdown))
}

// Open implements mcp.Backend.
func (t *mcpTools) Open(ctx context.Context, uri string) (c mcp.Content, err error) {
	id := path.Base(uri)
	if !tasks.ValidID(id) || !strings.HasPrefix(uri, mcp.ArtifactPrefix) {
		return c, unknownJob(id)
	}

	rec, err := t.Queue.Job(ctx, id)
	if err != nil {
		return c, err
	}

	if rec.Owner != t.meta.Caller.Name || rec.Artifact == nil {
		return c, unknownJob(id)
	}
	data, err := t.readArtifact(ctx, rec)

	return mcp.Content{Data: data, ContentType: cmp.Or(rec.Artifact.ContentType, "application/octet-stream")}, err
}
