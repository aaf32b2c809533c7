// Package admin serves the API of the operators' page at /admin. The API takes the key in a header only: a page of
// another site cannot send that header. Writes from other sites are rejected as well.
//
// Handlers return errors of the packages fault and inference; the error handler of package api writes them as the
// answer.
package admin

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/exchange"
	"presswork/api/objects"
	"presswork/api/upload"
	"presswork/api/views"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/tasks"
)

const (
	// maxBatch is how many jobs one request may name, batchCalls how many of them are changed at the same time.
	maxBatch   = 500
	batchCalls = 16
	// maxAdminBody is the largest body of a request that acts on jobs, in bytes.
	maxAdminBody = 64 << 10
)

// Queue is the task queue as operators need it. *tasks.Client implements it.
type Queue interface {
	// Job returns a job with its position in the queue. Errors: NotFound, QueueUnavailable.
	Job(ctx context.Context, id string) (tasks.Record, error)
	// Cancel ends a job that has not ended. Errors: NotFound, JobFinished (with the unchanged record),
	// QueueUnavailable.
	Cancel(ctx context.Context, id string) (tasks.Record, error)
	// Fleet returns the state of workers and queues. Errors: QueueUnavailable.
	Fleet(ctx context.Context) (tasks.Fleet, error)
	// Search lists jobs of every owner, newest first. Errors: as Jobs.
	Search(ctx context.Context, q tasks.Search) (tasks.Page, error)
	// Inspect returns a job of any owner with its events. Errors: NotFound, QueueUnavailable.
	Inspect(ctx context.Context, id string) (tasks.Inspection, error)
	// Retry runs a failed job again. It returns the job that runs now, which may be a new one; see tasks.Client.
	// Errors: NotFound, JobFinished, InvalidOption, QueueFull, QueueUnavailable.
	Retry(ctx context.Context, id string) (tasks.Record, error)
	// DeadTask returns the task of a dead letter. Errors: JobFinished when it has none, QueueUnavailable.
	DeadTask(ctx context.Context, id string) (tasks.Task, error)
	// RetryChanged retries a dead letter with another task. Errors: those of Retry.
	RetryChanged(ctx context.Context, id string, changes tasks.Changes) (tasks.Record, error)
	// Dismiss removes a failed job from the list of dead letters. Errors: NotFound, QueueUnavailable.
	Dismiss(ctx context.Context, id string) error
	// Deliveries returns the last tries to deliver webhooks, newest first, of one job or, for "", of all. Errors:
	// QueueUnavailable.
	Deliveries(ctx context.Context, job string) ([]tasks.Delivery, error)
	// Redeliver sends the webhook of an ended job again. Errors: NotFound, InvalidOption, QueueUnavailable.
	Redeliver(ctx context.Context, id string) (tasks.Record, error)
}

// Options configure an Admin. All fields are mandatory, unless stated.
type Options struct {
	// Queue has the jobs, Objects their sources.
	Queue   Queue
	Objects objects.Objects
	// Views turns jobs into JSON.
	Views views.Views
	// Bodies reads the requests. MaxContentBytes is the largest document of a retry, in bytes.
	Bodies          exchange.Bodies
	MaxContentBytes int64
	// Check rejects a conversion that cannot succeed, and returns its theme.
	Check func(r *upload.Conversion) (theme string, err error)
	// TaskOf returns the first task of a conversion on a queue.
	TaskOf func(queue tasks.Queue, payload tasks.Convert) (tasks.Task, error)
	// TraceURL is the page of a trace, with {trace} for its id. "": traces have no page.
	TraceURL string
	// Log receives what operators do.
	Log *slog.Logger
}

// Admin answers the requests of the operators' page.
type Admin struct{ Options }

// New returns an Admin.
func New(o Options) *Admin { return &Admin{o} }

// fleetView answers GET /admin/api/fleet.
type fleetView struct {
	At time.Time `json:"at"`
	// Open counts the jobs that have not ended, Dead the failed jobs that an operator may retry.
	Open    int64          `json:"open"`
	Dead    int64          `json:"dead"`
	Queues  []queueView    `json:"queues"`
	Workers []tasks.Worker `json:"workers"`
}

// queueView is the state of one queue. Its counters are tasks; ages are in seconds, 0 when no task waits or is
// open.
type queueView struct {
	Name              tasks.Queue `json:"name"`
	Waiting           int64       `json:"waiting"`
	Running           int64       `json:"running"`
	Retrying          int64       `json:"retrying"`
	Archived          int64       `json:"archived"`
	Paused            bool        `json:"paused"`
	OldestSeconds     float64     `json:"oldest_seconds"`
	OldestOpenSeconds float64     `json:"oldest_open_seconds"`
	// DoneToday counts the runs that ended since midnight UTC, FailedToday the failed ones among them.
	DoneToday   int64 `json:"done_today"`
	FailedToday int64 `json:"failed_today"`
}

// Fleet answers GET /admin/api/fleet with the state of queues and workers.
func (a *Admin) Fleet(c *fiber.Ctx) error {
	ctx, cancel := exchange.CallContext()
	defer cancel()

	f, err := a.Queue.Fleet(ctx)
	if err != nil {
		return err
	}

	view := fleetView{
		At:      f.At,
		Open:    f.Open,
		Dead:    f.Dead,
		Queues:  make([]queueView, len(f.Queues)),
		Workers: f.Workers,
	}
	for i, q := range f.Queues {
		view.Queues[i] = queueView{
			Name:              q.Queue,
			Waiting:           q.Pending,
			Running:           q.Active,
			Retrying:          q.Retry,
			Archived:          q.Archived,
			Paused:            q.Paused,
			OldestSeconds:     q.Oldest.Seconds(),
			OldestOpenSeconds: q.OldestOpen.Seconds(),
			DoneToday:         q.Processed,
			FailedToday:       q.Failed,
		}
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	exchange.WriteJSON(c.Context(), http.StatusOK, view)

	return nil
}

// job is a job with the fields that only operators see.
type job struct {
	presswork.Job
	// Key is the owner, "" when keys are off. Workers began an attempt, in order.
	Key       string   `json:"key"`
	Filename  string   `json:"filename"`
	RequestID string   `json:"request_id"`
	Workers   []string `json:"workers"`
}

// view returns the form of a job that operators see.
func (a *Admin) view(rec tasks.Record) job {
	workers := rec.Workers
	if workers == nil {
		workers = []string{}
	}

	return job{
		Job:       a.Views.Job(rec),
		Key:       rec.Owner,
		Filename:  rec.Filename,
		RequestID: rec.RequestID,
		Workers:   workers,
	}
}

// jobList is a page of jobs. NextCursor is null on the last page.
type jobList struct {
	Object     string  `json:"object"`
	Data       []job   `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
}

// Jobs answers GET /admin/api/jobs with the jobs of all owners that match the query.
func (a *Admin) Jobs(c *fiber.Ctx) error {
	filters := append([]string{"key", "worker", "since", "before", "text", "dead", "cause"}, views.ListFilters()...)
	if err := exchange.OnlyQuery(c, filters...); err != nil {
		return err
	}

	q, err := searchOf(c)
	if err != nil {
		return err
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	page, err := a.Queue.Search(ctx, q)
	if err != nil {
		return err
	}

	list := jobList{Object: "list", Data: make([]job, 0, len(page.Records)), HasMore: page.HasMore}
	for _, rec := range page.Records {
		list.Data = append(list.Data, a.view(rec))
	}

	if page.HasMore {
		list.NextCursor = &page.NextCursor
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	exchange.WriteJSON(c.Context(), http.StatusOK, list)

	return nil
}

// searchOf returns the search that the query asks for: the filters of views.ListFilters, and those that only operators
// have. An empty key means jobs without an owner; a missing one means jobs of every owner. Errors: InvalidOption.
func searchOf(c *fiber.Ctx) (tasks.Search, error) {
	base, err := views.QueryOf(c)
	if err != nil {
		return tasks.Search{}, err
	}

	q := tasks.Search{Query: base, Worker: c.Query("worker"), Text: c.Query("text")}
	if c.Context().QueryArgs().Has("key") {
		q.Owner = new(c.Query("key"))
	}

	for name, into := range map[string]*time.Time{"since": &q.Since, "before": &q.Before} {
		text := c.Query(name)
		if text == "" {
			continue
		}

		if *into, err = time.Parse(time.RFC3339, text); err != nil {
			return q, fault.Errorf(fault.InvalidOption, "%s is %s; allowed: a time such as 2026-11-20T10:00:00Z",
				name, input.Quote(text)).WithParam(name)
		}
	}

	switch q.Cause = tasks.Cause(c.Query("cause")); q.Cause {
	case "", tasks.ByCaller, tasks.ByServer:
	default:
		return q, fault.Errorf(fault.InvalidOption, "cause is %s; allowed: caller, server",
			input.Quote(c.Query("cause"))).WithParam("cause")
	}
	q.Dead, err = exchange.QueryBool(c, "dead")

	return q, err
}

// inspectedJob answers GET /admin/api/jobs/{id}.
type inspectedJob struct {
	job
	Queue       tasks.Queue `json:"queue"`
	TraceParent string      `json:"traceparent"`
	// TraceURL is the page of the job's trace, "" without one.
	TraceURL   string            `json:"trace_url"`
	WebhookURL string            `json:"webhook_url"`
	Events     []presswork.Event `json:"events"`
	// Task is null when the job has no task on its queue.
	Task *tasks.TaskState `json:"task"`
	// Dead reports whether the job can be retried. RetriedAs is the id of the job that a retry made.
	Dead      bool   `json:"dead"`
	RetriedAs string `json:"retried_as"`
}

// Job answers GET /admin/api/jobs/{id} with a job, its events and the state of its task.
func (a *Admin) Job(c *fiber.Ctx) error {
	ctx, cancel := exchange.CallContext()
	defer cancel()

	seen, err := a.Queue.Inspect(ctx, c.Params("id"))
	if err != nil {
		return err
	}

	view := inspectedJob{
		job:         a.view(seen.Record),
		Queue:       seen.Queue,
		TraceParent: seen.TraceParent,
		TraceURL:    a.traceURL(seen.TraceParent),
		WebhookURL:  seen.WebhookURL,
		Events:      seen.Events,
		Task:        seen.Task,
		Dead:        seen.Dead,
		RetriedAs:   seen.RetriedAs,
	}
	for i, e := range view.Events {
		view.Events[i].Artifact = a.Views.Artifact(seen.ID, e.Artifact)
	}

	if view.Events == nil {
		view.Events = []presswork.Event{}
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	exchange.WriteJSON(c.Context(), http.StatusOK, view)

	return nil
}

// traceURL returns the page of a trace, "" if traces have no page.
func (a *Admin) traceURL(traceParent string) string {
	// A traceparent is version-trace-span-flags.
	parts := strings.Split(traceParent, "-")
	if a.TraceURL == "" || len(parts) < 2 {
		return ""
	}

	return strings.ReplaceAll(a.TraceURL, "{trace}", parts[1])
}

// Webhooks answers GET /admin/api/webhooks with the last tries to deliver webhooks.
func (a *Admin) Webhooks(c *fiber.Ctx) error {
	if err := exchange.OnlyQuery(c, "job"); err != nil {
		return err
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	tries, err := a.Queue.Deliveries(ctx, c.Query("job"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	exchange.WriteJSON(c.Context(), http.StatusOK, struct {
		Object string           `json:"object"`
		Data   []tasks.Delivery `json:"data"`
	}{"list", tries})

	return nil
}
