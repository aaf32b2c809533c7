package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"mime/multipart"
	"net/url"

	"presswork"
	"presswork/api/exchange"
	"presswork/api/limits"
	"presswork/api/openai"
	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/input"
	"presswork/internal/mcp"
	"presswork/tasks"
)

// ExportPage implements mcp.Backend.
func (t *mcpTools) ExportPage(ctx context.Context, p mcp.Page, report mcp.Progress) (f mcp.File, err error) {
	done, err := t.admitCall(limits.Jobs)
	if err != nil {
		return f, err
	}
	defer done()

	r, err := pageRequest(p)
	if err != nil {
		return f, err
	}

	if err := t.checkExport(r); err != nil {
		return f, err
	}

	sub := t.submission(presswork.KindExport)
	sub.Filename, sub.ContentType = pageFilename(p.Output, r.extension), r.task.ContentType()

	if sub.Task, err = tasks.ExportPage.Task(r.task); err != nil {
		return f, err
	}

	rec, err := t.submitJob(sub)
	if err == nil {
		rec, err = t.awaitJob(ctx, rec, report)
	}

	if err != nil {
		return f, err
	}

	return t.file(rec), nil
}

// submitJob submits a job. An AI client sends no idempotency key, so each call makes a new job.
func (t *mcpTools) submitJob(sub tasks.Submission) (tasks.Record, error) {
	if rec, _, err := t.reserveJob(&sub); err != nil {
		return rec, err
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	rec, _, err := t.Queue.Submit(ctx, sub)

	return rec, err
}

// pageRequest returns the request for an export. It encodes the arguments as JSON and reads them as a request, so that
// the checks and messages are those of the API.
func pageRequest(p mcp.Page) (r exportRequest, err error) {
	kind, err := mcp.PictureType(p)
	if err != nil {
		return r, err
	}

	options, err := json.Marshal(mcp.PageOptions(p))
	if err != nil {
		return r, err
	}
	r.task.URL, r.extension = p.URL, ".pdf"

	if kind == "" {
		pdf := &export.PDFOptions{}
		err = input.DecodeJSON(options, pdf, "")
		r.task.PDF, r.visit = pdf, &pdf.VisitOptions
		r.check = func(page *url.URL) error { return export.CheckPDF(page, *pdf) }

		return r, err
	}
	picture := &export.ScreenshotOptions{}
	err = input.DecodeJSON(options, picture, "")
	picture.Type, r.extension = kind, "."+kind
	r.task.Screenshot, r.visit = picture, &picture.VisitOptions
	r.check = func(page *url.URL) error { return export.CheckScreenshot(page, *picture) }

	return r, err
}

// FetchPage implements mcp.Backend.
func (t *mcpTools) FetchPage(ctx context.Context, v mcp.View) (string, error) {
	return t.browse(ctx, inference.OpenFunction, map[string]any{"id": v.URL, "loc": v.Line, "num_lines": v.Lines})
}

// SearchWeb implements mcp.Backend.
func (t *mcpTools) SearchWeb(ctx context.Context, s mcp.Search) (string, error) {
	return t.browse(ctx, inference.SearchFunction, map[string]any{"query": s.Query, "topn": cmp.Or(s.Results, 10)})
}

// browse calls a function of browser_search on a worker and returns the text that a model reads. It counts as a job of
// the key. Each call has its own session, so pages that were opened before cannot be referred to.
func (t *mcpTools) browse(ctx context.Context, function string, arguments map[string]any) (string, error) {
	if t.Toolbox == nil {
		return "", fault.Errorf(fault.QueueUnavailable, "this server cannot reach the web")
	}

	done, err := t.admitCall(limits.Jobs)
	if err != nil {
		return "", err
	}
	defer done()

	raw, err := json.Marshal(arguments)
	if err != nil {
		return "", err
	}

	request := &inference.Request{Owner: t.meta.Caller.Name}

	session, err := t.Toolbox.Open(ctx, request, []string{inference.BrowserSearch})
	if err != nil {
		return "", err
	}

	defer session.Close()

	result, err := session.Call(ctx, inference.BuiltinCall{Name: function, Arguments: string(raw)})
	if err == nil && result.Failed {
		err = fault.Errorf(fault.InvalidRequest, "%s", result.Output)
	}

	return result.Output, err
}

// Transcribe implements mcp.Backend.
func (t *mcpTools) Transcribe(
	ctx context.Context, r mcp.Recording, report mcp.Progress,
) (text mcp.Transcript, err error) {
	if t.v1 == nil {
		return text, fault.Errorf(fault.InvalidRequest, "this server has no models")
	}

	model, err := t.v1.FirstModel(t.meta.Caller, inference.CanTranscribe)
	if err != nil {
		return text, err
	}

	done, err := t.admitCall(limits.Audio)
	if err != nil {
		return text, err
	}
	defer done()

	sub := t.submission(presswork.KindTranscription)
	sub.Task = tasks.Task{Queue: tasks.TranscribeAudio.Queue}

	source := &recording{server: t.Server, sub: &sub, limit: t.MaxAudioBytes}
	defer source.close()

	job, err := t.recordingAt(r, model, source)
	if err != nil {
		return text, err
	}

	rec, _, err := t.submitTranscription(job)
	if err == nil {
		rec, err = t.awaitJob(ctx, rec, report)
	}

	if err != nil {
		return text, err
	}
	data, err := t.readArtifact(ctx, rec)

	return mcp.Transcript{Text: string(data), Warnings: rec.Warnings}, err
}

// recordingAt returns the request for the transcript of a recording at an address. It fills the form of
// /v1/audio/transcriptions, so that the same checks apply.
func (t *mcpTools) recordingAt(r mcp.Recording, model string, source *recording) (q transcriptionRequest, err error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)

	for name, value := range map[string]string{
		"url": r.URL, "model": model, "language": r.Language, "response_format": cmp.Or(r.Format, "text"),
	} {
		if value != "" {
			err = cmp.Or(err, form.WriteField(name, value))
		}
	}

	if err = cmp.Or(err, form.Close()); err != nil {
		return q, err
	}

	hold := t.bodies.Intake.Hold(t.client)
	defer hold.Release()

	source.held = &hold

	fields, err := openai.ReadTranscription(&body, form.Boundary(), source.held, source)
	if err != nil {
		return q, err
	}

	q = transcriptionRequest{recording: source, filename: "transcript.txt"}
	if q.payload, err = t.v1.Transcription(fields, t.meta.Caller, inference.Transcribe); err != nil || source.arrived {
		return q, err
	}

	address, err := t.Recordings.CheckURL(fields.URL)
	if err != nil {
		return q, err
	}
	q.payload.URL, q.filename = address.String(), transcriptName(address.Path, q.payload.Format)

	return q, nil
}
