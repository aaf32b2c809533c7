package worker

import (
	"context"
	"strings"
	"unicode"

	"presswork"
	"presswork/internal/analysis/recommend"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
	"presswork/themes"
)

// Convert handles tasks.ConvertPDF. It renders a Markdown document and stores the PDF or the other
// requested output. A document whose page is in the render cache is not printed again. Errors: those of
// Converter.Compose and Make (ThemeNotFound, InvalidOption, StrictFindings, RenderFailed,
// BrowserUnavailable), RenderTimeout, StoreUnavailable, StoreFull and QueueUnavailable.
func (w *Worker) Convert(ctx context.Context, run *tasks.Run, task tasks.Convert) error {
	return w.attempt(ctx, run, func(ctx context.Context) (cached bool, err error) { return w.convert(ctx, run, task) })
}

// convert stores the artifact and completes the job. cached reports whether the artifact came from the render
// cache. The steps may be repeated by another run: the artifact's key belongs to the job, and only one run
// completes it.
func (w *Worker) convert(ctx context.Context, run *tasks.Run, task tasks.Convert) (cached bool, err error) {
	made, err := w.makeArtifact(ctx, run, task)
	if err != nil {
		// An earlier run may have stored the result and deleted the sources.
		if made, err = w.earlierResult(ctx, run, task, err); err != nil {
			return false, err
		}
	}

	return made.cached, w.complete(ctx, run, task, made)
}

// complete ends the job with its artifact, and deletes its sources. It deletes them last: until the job has ended,
// another run may need them.
func (w *Worker) complete(ctx context.Context, run *tasks.Run, task tasks.Convert, made result) error {
	artifact := made.artifact
	artifact.Filename = strings.TrimSuffix(filename(task.Filename, made.title), ".pdf") + task.Output.Extension()
	artifact.ExpiresAt = w.expiry(0)

	// Count the artifact while the job ends, because the caller waits for the end. If this run dies, the next run
	// counts the artifact.
	err := inParallel(func() error {
		if made.counted {
			return nil
		}
		w.countResult(ctx,
			storage.Info{Key: storage.ArtifactKeyOf(run.ID, artifact.ContentType), Size: artifact.Size}, 0)

		return nil
	}, func() error { return run.Complete(ctx, artifact, made.cached) })
	if err != nil {
		return err
	}

	w.deleteKeys(ctx, run.ID, task.Keys())

	return nil
}

// result is a stored artifact with the values that complete its job.
type result struct {
	artifact presswork.Artifact
	// title is the document's, for the name of the download.
	title string
	// cached is set when the artifact comes from the render cache.
	cached bool
	// counted is set when the keeper has counted the artifact.
	counted bool
}

// makeArtifact renders the document and stores its artifact, or takes both from the render cache.
func (w *Worker) makeArtifact(ctx context.Context, run *tasks.Run, task tasks.Convert) (made result, err error) {
	var composed document.Composed

	err = w.withRenderTimeout(ctx, func(ctx context.Context) error {
		doc, err := w.document(ctx, run, task)
		if err != nil {
			return err
		}

		if composed, err = w.compose(ctx, run, doc); err == nil {
			made.artifact, made.cached, err = w.fromCache(ctx, run, composed)
		}

		return err
	})
	if err != nil {
		return result{}, err
	}

	made.title = composed.Meta.Title
	if made.artifact.ID != "" {
		return made, nil
	}

	printed, err := w.print(ctx, run, composed)
	if err != nil {
		return result{}, err
	}
	made.artifact, made.counted, err = w.storePrint(ctx, run, composed, printed)

	return made, err
}

// withRenderTimeout bounds the steps before printing. The browser bounds printing itself from the moment it has a
// tab, so that waiting for other documents does not count. Every error after the deadline becomes
// RenderTimeout, so that it does not look like an outage of the store.
func (w *Worker) withRenderTimeout(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, w.RenderTimeout,
		fault.Errorf(fault.RenderTimeout, "the document took longer than %s to render", w.RenderTimeout))
	defer cancel()

	err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return err
}

// choose returns the theme that suits a document, and reports the analysis on the job. Errors: those of
// Run.Progress, the cause of ctx.
func (w *Worker) choose(ctx context.Context, run *tasks.Run, content []byte) (string, error) {
	ctx, endStage := w.stage(ctx, presswork.StageAnalyzing)
	defer endStage()

	if err := run.Progress(ctx, presswork.StageAnalyzing, 10, "reading the document"); err != nil {
		return "", err
	}

	advice, err := w.Recommender.Recommend(ctx, run.Record.Owner, content, w.Themes.List(), recommend.Preference{})
	if err != nil {
		return "", err
	}

	return advice.Recommendation.Primary, run.SetAnalysis(advice.Analysis)
}

// compose typesets a document. It reports the warnings, including strict findings, and the theme when it
// differs from the requested one.
func (w *Worker) compose(ctx context.Context, run *tasks.Run, doc document.Document) (document.Composed, error) {
	ctx, endStage := w.stage(ctx, presswork.StageRendering)
	defer endStage()
	run.Step(presswork.StageRendering, 20, "typesetting the Markdown")

	composed, err := w.Converter.Compose(ctx, doc)
	// Report the warnings also after an error: strict findings are among them.
	if warnErr := run.Warn(composed.Warnings...); err == nil {
		err = warnErr
	}

	if err != nil || composed.Theme == run.Record.Theme {
		return composed, err
	}

	return composed, run.SetTheme(composed.Theme)
}

// inParallel runs report and work at the same time, because a report may take as long as a disk write of
// Redis. If both fail it returns the error of report, because that may mean that the run has ended.
func inParallel(report, work func() error) error {
	reported := make(chan error, 1)
	go func() { reported <- report() }()
	err := work()

	if reportErr := <-reported; reportErr != nil {
		return reportErr
	}

	return err
}

// document reads the document of a task, and chooses its theme when the caller asked for that.
func (w *Worker) document(ctx context.Context, run *tasks.Run, task tasks.Convert) (document.Document, error) {
	content, err := w.content(ctx, task)
	if err != nil {
		return document.Document{}, err
	}

	d := document.Document{
		Owner:    w.ownerOf(run),
		Output:   task.Output,
		Content:  content,
		Theme:    task.Theme,
		Options:  task.Options,
		Filename: task.Filename,
	}
	if err := d.FromFolder(task.Path, task.Parts, w.assets(ctx, task.Assets)); err != nil || d.Theme != themes.Auto {
		return d, err
	}
	d.Theme, err = w.choose(ctx, run, d.Text())

	return d, err
}

// print prints a composed document and reports the warnings of the print.
func (w *Worker) print(ctx context.Context, run *tasks.Run, c document.Composed) (document.Made, error) {
	run.Step(presswork.StagePrinting, printingFrom, "printing")

	printed, err := w.printPaced(ctx, run, c)
	if err != nil {
		return document.Made{}, err
	}

	printWarnings := printed.Warnings[len(c.Warnings):] // after those of the composition
	if err := run.Printed(printWarnings...); err != nil {
		return document.Made{}, err
	}

	if len(printWarnings)+len(run.Record.Printed) > 0 {
		// The warnings must be written before the result is stored: see tasks.Run.Printed.
		return printed, run.Progress(ctx, presswork.StageStoring, printingTo, "storing the result")
	}
	run.Step(presswork.StageStoring, printingTo, "storing the result")

	return printed, nil
}

// filename returns the name of a download: the requested name, or a name made from the title with the extension
// .pdf. A made name has lower-case letters, digits and dashes, and about 80 bytes at most.
func filename(requested, title string) string {
	if requested != "" {
		return requested
	}
	var b strings.Builder

	for _, r := range title {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(unicode.ToLower(r))
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}

		if b.Len() >= 80 {
			break
		}
	}

	name := strings.Trim(b.String(), "-")
	if name == "" {
		name = "document"
	}

	return name + ".pdf"
}
