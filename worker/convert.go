package worker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"presswork"
	"presswork/internal/analysis/recommend"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
	"presswork/themes"
)

// discardTimeout bounds the deletion of a cancelled job's artifact, and of a completed job's sources.
const discardTimeout = 30 * time.Second

// Convert handles tasks.ConvertPDF: Markdown to a stored PDF or what else was asked
// for. A document whose
// page is in the render cache is not printed again. Errors, besides those of a
// store or a queue that does not answer: those of Converter.Compose and Make
// (ThemeNotFound, InvalidOption, StrictFindings, RenderFailed,
// BrowserUnavailable), and RenderTimeout.
func (w *Worker) Convert(ctx context.Context, run *tasks.Run, task tasks.Convert) error {
	ctx, ended := w.observe(ctx, run)
	var cached bool

	err := w.throughOutages(ctx, run, func() (err error) {
		cached, err = w.convert(ctx, run, task)
		return err
	})
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}

	if errors.Is(err, tasks.ErrCancelled) {
		w.discard(ctx, run.Record)
	}
	ended(cached, err)

	return err
}

func (w *Worker) convert(ctx context.Context, run *tasks.Run, task tasks.Convert) (cached bool, err error) {
	made, err := w.make(ctx, run, task)
	if err != nil {
		if made, err = w.earlier(ctx, run, task, err); err != nil {
			return false, err
		}
	}

	return made.cached, w.complete(ctx, run, task, made)
}

// complete ends the job with its artifact, and deletes its sources.
func (w *Worker) complete(ctx context.Context, run *tasks.Run, task tasks.Convert, made result) error {
	artifact := made.artifact
	artifact.Filename = strings.TrimSuffix(filename(task.Filename, made.title), ".pdf") + task.Output.Extension()
	artifact.ExpiresAt = w.Keeper.Now().UTC().Add(w.Retention).Truncate(time.Millisecond)

	// The caller waits for the end, so the counting runs at the same time. If this run dies, the next one counts.
	err := meanwhile(func() error {
		if made.counted {
			return nil
		}
		w.countKept(ctx, storage.Info{Key: storage.ArtifactKeyOf(run.ID, artifact.ContentType), Size: artifact.Size}, 0)

		return nil
	}, func() error { return run.Complete(ctx, artifact, made.cached) })
	if err != nil {
		return err
	}

	w.tidy(ctx, run.ID, task)

	return nil
}

// result is a stored artifact and what the end of its job says about it.
type result struct {
	artifact presswork.Artifact
	// title is the document's, for the name of the download.
	title string
	// cached is set when the artifact comes from the render cache.
	cached bool
	// counted is set when the keeper has counted the artifact.
	counted bool
}

// make renders the document and stores its artifact, or takes both from the render cache.
func (w *Worker) make(ctx context.Context, run *tasks.Run, task tasks.Convert) (made result, err error) {
	var composed document.Composed

	err = w.within(ctx, func(ctx context.Context) error {
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
	made.artifact, made.counted, err = w.store(ctx, run, composed, printed)

	return made, err
}

// within bounds what happens before and after the printing, which the browser
// bounds itself from the moment it has a tab: waiting for other documents is
// nobody's fault. Whatever fails on the way out of a deadline, the deadline is
// why: it must not look like an outage of the store.
func (w *Worker) within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, w.RenderTimeout,
		fault.Errorf(fault.RenderTimeout, "the document took longer than %s to render", w.RenderTimeout))
	defer cancel()

	err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return err
}

// choose finds the theme that suits a document, and reports on the job why.
func (w *Worker) choose(ctx context.Context, run *tasks.Run, content []byte) (string, error) {
	ctx, ended := w.stage(ctx, presswork.StageAnalyzing)
	defer ended()

	if err := run.Progress(ctx, presswork.StageAnalyzing, 10, "reading the document"); err != nil {
		return "", err
	}

	advice, err := w.Recommender.Recommend(ctx, run.Record.Owner, content, w.Themes.List(), recommend.Preference{})
	if err != nil {
		return "", err
	}

	return advice.Recommendation.Primary, run.SetAnalysis(advice.Analysis)
}

// compose typesets a document, and reports that it does, and what came of it: warnings,
// and the theme in force where the request named another or none. Strict findings
// come with the warnings that they are.
func (w *Worker) compose(ctx context.Context, run *tasks.Run, doc document.Document) (document.Composed, error) {
	ctx, ended := w.stage(ctx, presswork.StageRendering)
	defer ended()
	run.Step(presswork.StageRendering, 20, "typesetting the Markdown")

	composed, err := w.Converter.Compose(ctx, doc)
	if werr := run.Warn(composed.Warnings...); err == nil {
		err = werr
	}

	if err != nil || composed.Theme == run.Record.Theme {
		return composed, err
	}

	return composed, run.SetTheme(composed.Theme)
}

// meanwhile reports on a job while work goes on, and returns when both are done: a
// report takes as long as Redis' disk. The report's error comes first, for it may
// be that the run has ended.
func meanwhile(report, work func() error) error {
	told := make(chan error, 1)
	go func() { told <- report() }()
	err := work()

	if ended := <-told; ended != nil {
		return ended
	}

	return err
}

// document reads what a task is about, and chooses its theme where that was left to us.
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

func (w *Worker) content(ctx context.Context, task tasks.Convert) ([]byte, error) {
	if task.ContentKey == "" {
		return []byte(task.Content), nil
	}

	return w.read(ctx, task.ContentKey)
}

// assets opens the files that came with a document, by name.
func (w *Worker) assets(ctx context.Context, list []tasks.Asset) func(string) ([]byte, error) {
	keys := make(map[string]string, len(list))
	for _, a := range list {
		keys[a.Name] = a.Key
	}

	return func(name string) ([]byte, error) {
		key, ok := keys[name]
		if !ok {
			return nil, fmt.Errorf("no file %q came with the document", name)
		}

		return w.read(ctx, key)
	}
}

func (w *Worker) read(ctx context.Context, key string) ([]byte, error) {
	r, info, err := w.Store.Get(ctx, key, storage.Range{})
	if err != nil {
		return nil, storeError(err)
	}
	defer r.Close()

	b := bytes.NewBuffer(make([]byte, 0, info.Size+bytes.MinRead))
	if _, err := io.Copy(b, r); err != nil {
		return nil, storeError(err)
	}

	return b.Bytes(), nil
}

// artifactKey is where the result of a composed document is to lie.
func artifactKey(run *tasks.Run, c document.Composed) string {
	return storage.ArtifactKeyOf(run.ID, c.Output.ContentType())
}

// fromCache links the result of an equal page, made before, to this job; the
// artifact is the zero one when there is none.
func (w *Worker) fromCache(ctx context.Context, run *tasks.Run, c document.Composed) (presswork.Artifact, bool, error) {
	render := w.renderKey(run, c.Key)

	info, err := w.Store.Copy(ctx, render, artifactKey(run, c))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return presswork.Artifact{}, false, nil
	case errors.Is(err, storage.ErrCorrupt):
		w.Log.ErrorContext(
			ctx,
			"a page of the render cache is damaged; it is printed again",
			"key",
			render,
			"error",
			errors.Join(err, w.Keeper.Delete(ctx, render)),
		)

		return presswork.Artifact{}, false, nil
	case errors.Is(err, storage.ErrExists):
		// An earlier run of this job stored its result and died before it
		// could report it.
		return w.adopt(ctx, run, c)
	case err != nil:
		return presswork.Artifact{}, false, storeError(err)
	}
	w.Keeper.Touch(render)

	return artifactOf(run, info), true, nil
}

// ownerOf is for whom what the job makes is remembered, "" for everybody.
func (w *Worker) ownerOf(run *tasks.Run) string {
	if w.SharedRenders {
		return ""
	}

	return run.Record.Owner
}

// renderKey is where the print of a page is remembered.
func (w *Worker) renderKey(run *tasks.Run, page string) string {
	owner := w.ownerOf(run)
	if owner == "" {
		return storage.RenderKey(page)
	}
	sum := sha256.Sum256([]byte(page + " " + owner))

	return storage.RenderKey(hex.EncodeToString(sum[:]))
}

func (w *Worker) print(ctx context.Context, run *tasks.Run, c document.Composed) (document.Made, error) {
	run.Step(presswork.StagePrinting, printingFrom, "printing")

	printed, err := w.printPaced(ctx, run, c)
	if err != nil {
		return document.Made{}, err
	}

	found := printed.Warnings[len(c.Warnings):]
	if err := run.Printed(found...); err != nil {
		return document.Made{}, err
	}

	if len(found)+len(run.Record.Printed) > 0 {
		return printed, run.Progress(ctx, presswork.StageStoring, printingTo, "storing the result")
	}
	run.Step(presswork.StageStoring, printingTo, "storing the result")

	return printed, nil
}

// store stores what was made, and reports whether it is counted.
func (w *Worker) store(
	ctx context.Context,
	run *tasks.Run,
	c document.Composed,
	made document.Made,
) (artifact presswork.Artifact, counted bool, err error) {
	ctx, ended := w.stage(ctx, presswork.StageStoring)
	defer ended()
	attrs := storage.Attrs{
		ContentType: c.Output.ContentType(),
		Meta:        map[string]string{"pages": strconv.Itoa(made.Pages), metaJob: run.ID},
	}

	info, err := w.put(ctx, run, artifactKey(run, c), made.Data, attrs)
	if errors.Is(err, storage.ErrExists) {
		artifact, _, err := w.adopt(ctx, run, c)
		return artifact, false, err
	}

	if err != nil {
		return presswork.Artifact{}, false, storeError(err)
	}

	return artifactOf(run, info), w.remember(ctx, info, w.renderKey(run, c.Key)), nil
}

// remember keeps a printed page for the next equal one, and reports whether it and the
// artifact are counted. The page is counted before it
// is there, because nobody comes back for it after a crash. The job does not
// depend on it, so a failure is only logged.
func (w *Worker) remember(ctx context.Context, artifact storage.Info, render string) (counted bool) {
	err := w.Keeper.Record(ctx, artifact.Key, artifact.Size, render)
	if err != nil {
		w.notCounted(ctx, render, err)
	}

	if _, err := w.Store.Copy(ctx, artifact.Key, render); err != nil && !errors.Is(err, storage.ErrExists) {
		w.Log.WarnContext(
			ctx,
			"the render cache did not take a page",
			"error",
			errors.Join(err, w.Keeper.Delete(ctx, render)),
		)
	}

	return err == nil
}

func (w *Worker) notCounted(ctx context.Context, key string, err error) {
	w.Log.WarnContext(ctx, "an object was stored but not counted; the next sweep finds it", "key", key, "error", err)
}

// discard deletes what a run stored before it learned that its job is
// cancelled. A superseded run deletes nothing: the artifact is its successor's.
func (w *Worker) discard(ctx context.Context, job tasks.Record) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()

	if err := w.Keeper.Delete(ctx, storage.ArtifactKeyOf(job.ID, job.ContentType)); err != nil {
		w.Log.WarnContext(ctx, "the artifact of a cancelled job was not deleted", "job_id", job.ID, "error", err)
	}
}

// tidy deletes the sources of a completed job.
func (w *Worker) tidy(ctx context.Context, jobID string, task tasks.Convert) {
	keys := make([]string, 0, len(task.Assets)+1)
	if task.ContentKey != "" {
		keys = append(keys, task.ContentKey)
	}

	for _, a := range task.Assets {
		keys = append(keys, a.Key)
	}
	w.dropSources(ctx, jobID, keys)
}

// dropSources deletes what a completed job needs no more.
func (w *Worker) dropSources(ctx context.Context, jobID string, keys []string) {
	// The worker may be stopping.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()

	for _, key := range keys {
		if err := w.Keeper.Delete(ctx, key); err != nil {
			w.Log.WarnContext(
				ctx,
				"a source was not deleted; the next sweep does it",
				"job_id",
				jobID,
				"key",
				key,
				"error",
				err,
			)
		}
	}
}

// storeError is the public form of an error of the store: a missing source is final, all else is
// an outage that may heal.
func storeError(err error) error {
	if _, coined := errors.AsType[*fault.Error](err); coined {
		return err
	}

	if errors.Is(err, storage.ErrNotFound) {
		return fault.Errorf(fault.RenderFailed, "the document of this job is no longer stored").WithCause(err)
	}

	if errors.Is(err, storage.ErrCorrupt) {
		// It may have been the way, so it is read again, a few times.
		return fault.Errorf(fault.Internal, "the document of this job is damaged in the object store").WithCause(err)
	}

	if errors.Is(err, storage.ErrFull) {
		return fault.Errorf(fault.StoreFull, "the object store is full").WithCause(err)
	}

	return fault.Errorf(fault.StoreUnavailable, "the object store did not answer").WithCause(err)
}

// filename is what a download is called: the caller's name, else the
// document's title as a file name.
func filename(asked, title string) string {
	if asked != "" {
		return asked
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
