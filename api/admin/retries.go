package admin

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/exchange"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
)

// deadInput is the input of a failed conversion that an operator may change for a retry. It has no password.
type deadInput struct {
	Content string            `json:"content"`
	Theme   string            `json:"theme"`
	Output  presswork.Output  `json:"output"`
	Options presswork.Options `json:"options"`
	// Files are the names of the files that came with the content; a retry keeps them.
	Files []string `json:"files"`
}

// changedInput is the body of a retry with changes. A field that is missing keeps its value. Options replace all
// options, apart from the password.
type changedInput struct {
	Content *string            `json:"content"`
	Theme   *string            `json:"theme"`
	Output  *presswork.Output  `json:"output"`
	Options *presswork.Options `json:"options"`
}

// Input answers GET /admin/api/jobs/{id}/input with the input of a dead letter.
func (a *Admin) Input(c *fiber.Ctx) error {
	ctx, cancel := exchange.CallContext()
	defer cancel()

	p, _, err := a.deadConversion(ctx, c.Params("id"))
	if err != nil {
		return err
	}

	view := deadInput{Theme: p.Theme, Output: p.Output, Options: p.Options, Files: []string{}}
	view.Options.Password = ""

	if view.Output == "" {
		view.Output = presswork.PDF
	}

	for _, a := range p.Assets {
		view.Files = append(view.Files, a.Name)
	}

	if view.Content, err = a.deadContent(ctx, p); err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	exchange.WriteJSON(c.Context(), http.StatusOK, view)

	return nil
}

// RetryChanged answers POST /admin/api/jobs/{id}/retry: it retries a dead letter with other input, for the same
// owner.
func (a *Admin) RetryChanged(c *fiber.Ctx) error {
	var change changedInput
	if err := a.Bodies.Decode(c, exchange.JSONLimit(a.MaxContentBytes), "a retry", &change); err != nil {
		return err
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	id := c.Params("id")

	p, queue, err := a.deadConversion(ctx, id)
	if err != nil {
		return err
	}

	content, err := a.deadContent(ctx, p)
	if err != nil {
		return err
	}

	r := change.apply(p, content)
	if p.Theme, err = a.Check(&r); err != nil {
		return err
	}
	p.Output, p.Options = r.Output, r.Options

	var stored []string
	if r.Content != content {
		if stored, err = a.replaceContent(ctx, id, &p, r.Content); err != nil {
			a.Objects.RemoveSources(stored, err)
			return err
		}
	}

	task, err := a.TaskOf(queue, p)
	if err != nil {
		a.Objects.RemoveSources(stored, nil)
		return err
	}

	rec, err := a.Queue.RetryChanged(ctx, id,
		tasks.Changes{Theme: p.Theme, ContentType: p.Output.ContentType(), Task: task})
	if err != nil {
		// The job may exist all the same. If it does not, the sweeper deletes the content with the first job's.
		return err
	}
	a.Log.Info("an operator retried a job with changes", "job_id", id, "new_job_id", rec.ID,
		"key", exchange.Of(c.Context()).Caller.Name, "request_id", exchange.Of(c.Context()).ID)
	exchange.WriteJSON(c.Context(), http.StatusAccepted, outcome{ID: id, JobID: rec.ID, Status: rec.Status})

	return nil
}

// apply returns a conversion with the changes. Its assets stay with p. The password stays unless the change sets
// one, because Input does not show it.
func (change changedInput) apply(p tasks.Convert, content string) upload.Conversion {
	r := upload.Conversion{
		Content:  content,
		Theme:    p.Theme,
		Output:   p.Output,
		Options:  p.Options,
		Filename: p.Filename,
		Path:     p.Path,
	}

	if change.Content != nil {
		r.Content = *change.Content
	}

	if change.Theme != nil {
		r.Theme = *change.Theme
	}

	if change.Output != nil {
		r.Output = *change.Output
	}

	if change.Options != nil {
		r.Options = *change.Options
		if r.Options.Password == "" {
			r.Options.Password = p.Options.Password
		}
	}

	return r
}

// deadConversion returns the conversion of a dead letter and its queue. Errors: NotFound, JobFinished when its task is
// not kept, InvalidOption for another kind of job, QueueUnavailable.
func (a *Admin) deadConversion(ctx context.Context, id string) (p tasks.Convert, queue tasks.Queue, err error) {
	rec, err := a.Queue.Job(ctx, id)
	if err != nil {
		return p, "", err
	}

	if rec.Kind != presswork.KindConversion {
		return p, "", fault.Errorf(fault.InvalidOption,
			"the job is of the kind %s; only the input of a conversion can be changed", rec.Kind)
	}

	task, err := a.Queue.DeadTask(ctx, id)
	if err != nil {
		return p, "", err
	}
	queue = task.Queue

	if task.Kind == tasks.ChooseTheme.Name {
		var choice tasks.Choice
		err = json.Unmarshal(task.Payload, &choice)
		p, queue = choice.Convert, choice.Queue
	} else {
		err = json.Unmarshal(task.Payload, &p)
	}

	return p, queue, err
}

// deadContent returns the content of a dead letter. Errors: StoreUnavailable.
func (a *Admin) deadContent(ctx context.Context, p tasks.Convert) (string, error) {
	if p.ContentKey == "" {
		return p.Content, nil
	}

	r, _, err := a.Objects.Store.Get(ctx, p.ContentKey, storage.Range{})
	if err != nil {
		return "", exchange.StoreError(err)
	}
	defer r.Close()

	b, err := io.ReadAll(r)
	if err != nil {
		return "", exchange.StoreError(err)
	}

	return string(b), nil
}

// replaceContent puts new content into a payload. Long content is stored among the sources of the first job, which are
// kept as long as a retry needs them. It returns the keys that it has written, also after an error.
func (a *Admin) replaceContent(
	ctx context.Context, id string, p *tasks.Convert, content string,
) (stored []string, err error) {
	p.Content, p.ContentKey = content, ""
	if len(content) <= tasks.InlineLimit {
		return nil, nil
	}

	p.Content, p.ContentKey = "", storage.SourceKey(id, tasks.NewID())
	size := int64(len(content))

	return []string{p.ContentKey}, a.Objects.Put(ctx, p.ContentKey, strings.NewReader(content), size, "text/markdown")
}
