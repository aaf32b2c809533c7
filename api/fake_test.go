package api_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks"
)

// fakeQueue is a queue in memory that keeps the promises of tasks.Client. Tests play the worker.
type fakeQueue struct {
	mu          sync.Mutex
	jobs        map[string]*fakeJob
	order       []string
	keys        map[string]string
	submissions []tasks.Submission
	deliveries  []tasks.Delivery
	// submitErr is the error of every Submit, unless nil.
	submitErr error
	// watches counts the open watches, opened all watches so far.
	watches, opened int
	// racing makes Replay and Reserve miss a job that Submit then finds, like two simultaneous requests.
	racing bool
	// pending holds the tasks of Ask that wait for an answer, by key. If answer is set, it answers each in the
	// background. asks counts the calls of Ask, runs the tasks.
	pending    map[string]*fakeAnswer
	answer     func(tasks.Task) (any, error)
	asks, runs atomic.Int64
	background sync.WaitGroup
	// workers is the number of live workers that Workers reports.
	workers int
	// searches are the arguments of Search.
	searches []tasks.Search
	// next are called with the job of the next watch, before the watch sends events.
	next []func(id string)
	// slow is the number of events after which a watch ends with ErrSlow; 0 for never.
	slow int
}

// fakeAnswer is the answer that all callers of Ask with one key share.
type fakeAnswer struct {
	done chan struct{}
	data json.RawMessage
	err  error
}

type fakeJob struct {
	rec         tasks.Record
	fingerprint string
	events      []presswork.Event
	grown       chan struct{} // closed when events has grown
}

func newFakeQueue() *fakeQueue {
	return &fakeQueue{jobs: map[string]*fakeJob{}, keys: map[string]string{}, pending: map[string]*fakeAnswer{}}
}

// nowMillis returns the time in the precision of a record.
func nowMillis() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Reserve refuses a full queue, and returns the earlier job of an idempotency key.
func (q *fakeQueue) Reserve(_ context.Context, s *tasks.Submission) (tasks.Record, bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if fault.CodeOf(q.submitErr) == fault.QueueFull {
		return tasks.Record{}, false, q.submitErr
	}

	if id, ok := q.keys[s.Owner+"\x00"+s.IdempotencyKey]; ok && s.IdempotencyKey != "" {
		if f := q.jobs[id].fingerprint; f != s.Fingerprint && f != s.AltFingerprint {
			return tasks.Record{}, false, fault.Errorf(
				fault.IdempotencyConflict,
				"this Idempotency-Key was used for another submission",
			)
		}

		s.ID = id
		if !q.racing {
			return q.jobs[id].rec, true, nil
		}
	}

	return tasks.Record{}, false, nil
}

// Submit adds a job, or returns the earlier job of its idempotency key.
func (q *fakeQueue) Submit(_ context.Context, s tasks.Submission) (tasks.Record, bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.submitErr != nil {
		return tasks.Record{}, false, q.submitErr
	}

	if s.IdempotencyKey != "" {
		if id, ok := q.keys[s.Owner+"\x00"+s.IdempotencyKey]; ok {
			job := q.jobs[id]
			if job.fingerprint != s.Fingerprint && job.fingerprint != s.AltFingerprint {
				return tasks.Record{}, false, fault.Errorf(
					fault.IdempotencyConflict,
					"this Idempotency-Key was used for another submission",
				)
			}

			return job.rec, true, nil
		}
		q.keys[s.Owner+"\x00"+s.IdempotencyKey] = s.ID
	}
	ahead := 0
	job := &fakeJob{fingerprint: s.Fingerprint, grown: make(chan struct{}), rec: tasks.Record{
		Job: presswork.Job{
			ID: s.ID, Kind: s.Kind, Status: presswork.Queued, Stage: presswork.StageQueued,
			Seq: 1, Theme: s.Theme, QueuePosition: &ahead, CreatedAt: nowMillis(),
		},
		Owner:       s.Owner,
		Filename:    s.Filename,
		WebhookURL:  s.WebhookURL,
		RequestID:   s.RequestID,
		TraceParent: s.TraceParent,
	}}
	job.events = []presswork.Event{
		{
			Type:   presswork.EventProgress,
			JobID:  s.ID,
			Seq:    1,
			Status: presswork.Queued,
			Stage:  presswork.StageQueued,
			At:     nowMillis(),
		},
	}
	q.jobs[s.ID] = job
	q.order = append(q.order, s.ID)
	q.submissions = append(q.submissions, s)

	return job.rec, false, nil
}

// Ask waits until the test answers the call.
func (q *fakeQueue) Ask(ctx context.Context, key string, t tasks.Task) (json.RawMessage, error) {
	a, err := q.ask(key, t)
	if err != nil {
		return nil, err
	}

	select {
	case <-a.done:
		return a.data, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ask returns the pending answer for the key, or a new one.
func (q *fakeQueue) ask(key string, t tasks.Task) (*fakeAnswer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.submitErr != nil {
		return nil, q.submitErr
	}
	q.asks.Add(1)

	if a := q.pending[key]; a != nil && key != "" {
		return a, nil
	}
	q.runs.Add(1)
	a := &fakeAnswer{done: make(chan struct{})}
	q.pending[key] = a

	if answer := q.answer; answer != nil {
		q.background.Go(func() {
			defer close(a.done)
			var value any

			if value, a.err = answer(t); a.err == nil {
				a.data, a.err = json.Marshal(value)
			}

			q.mu.Lock()
			defer q.mu.Unlock()
			delete(q.pending, key)
		})
	}

	return a, nil
}

func (q *fakeQueue) Workers(context.Context) (int, error) { return q.workers, nil }

// Replay returns the earlier job of an idempotency key. While racing is set it finds none.
func (q *fakeQueue) Replay(_ context.Context, owner, key, fingerprint string) (tasks.Record, bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	id, ok := q.keys[owner+"\x00"+key]
	if !ok || q.racing {
		return tasks.Record{}, false, nil
	}

	if q.jobs[id].fingerprint != fingerprint {
		return tasks.Record{}, false, fault.Errorf(
			fault.IdempotencyConflict,
			"this Idempotency-Key was used for another submission",
		)
	}

	return q.jobs[id].rec, true, nil
}

func (q *fakeQueue) Job(_ context.Context, id string) (tasks.Record, error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	job, ok := q.jobs[id]
	if !ok {
		return tasks.Record{}, fault.Errorf(fault.NotFound, "there is no job %q", id)
	}

	return job.rec, nil
}

// Jobs returns a page of the owner's jobs. Its cursor is the number of jobs before the page.
func (q *fakeQueue) Jobs(_ context.Context, owner string, query tasks.Query) (tasks.Page, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var page tasks.Page
	skip := 0

	if query.Cursor != "" {
		var err error
		if skip, err = strconv.Atoi(query.Cursor); err != nil {
			return page, fault.Errorf(fault.InvalidOption, "cursor is not one this server gave").WithParam("cursor")
		}
	}

	for n, id := range slices.Backward(q.order) {
		rec := q.jobs[id].rec
		if rec.Owner != owner || len(query.Statuses) > 0 && !slices.Contains(query.Statuses, rec.Status) {
			continue
		}

		if at := len(q.order) - n; at <= skip {
			continue
		}

		if len(page.Records) == query.Limit {
			page.HasMore = true
			return page, nil
		}
		page.Records = append(page.Records, rec)
		page.NextCursor = strconv.Itoa(len(q.order) - n)
	}

	return page, nil
}

func (q *fakeQueue) Fleet(context.Context) (tasks.Fleet, error) {
	return tasks.Fleet{
		At:      nowMillis(),
		Open:    1,
		Dead:    2,
		Queues:  []tasks.QueueStats{{Queue: tasks.Render, Pending: 3, Oldest: time.Second}},
		Workers: []tasks.Worker{},
	}, q.submitErr
}

// Search records the search and returns the jobs of the owner, newest first.
func (q *fakeQueue) Search(_ context.Context, s tasks.Search) (tasks.Page, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.searches = append(q.searches, s)
	var page tasks.Page

	for _, id := range slices.Backward(q.order) {
		if rec := q.jobs[id].rec; s.Owner == nil || *s.Owner == rec.Owner {
			page.Records = append(page.Records, rec)
		}
	}

	return page, nil
}

func (q *fakeQueue) Inspect(ctx context.Context, id string) (tasks.Inspection, error) {
	rec, err := q.Job(ctx, id)
	if err != nil {
		return tasks.Inspection{}, err
	}

	return tasks.Inspection{Record: rec, Queue: tasks.Render, Events: q.jobs[id].events}, nil
}

func (q *fakeQueue) Retry(ctx context.Context, id string) (tasks.Record, error) {
	return q.Job(ctx, id)
}

func (q *fakeQueue) DeadTask(_ context.Context, id string) (tasks.Task, error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	for _, s := range q.submissions {
		if s.ID == id && q.jobs[id].rec.Status == presswork.Failed {
			return s.Task, nil
		}
	}

	return tasks.Task{}, fault.Errorf(fault.JobFinished, "the task of this job is not kept")
}

func (q *fakeQueue) RetryChanged(ctx context.Context, id string, changes tasks.Changes) (tasks.Record, error) {
	rec, err := q.Job(ctx, id)
	if err != nil {
		return rec, err
	}
	rec, _, err = q.Submit(ctx, tasks.Submission{
		ID: tasks.NewID(), Kind: rec.Kind, Theme: changes.Theme, Owner: rec.Owner, ContentType: changes.ContentType,
		Task: changes.Task,
	})

	return rec, err
}

func (q *fakeQueue) Dismiss(ctx context.Context, id string) error {
	_, err := q.Job(ctx, id)
	return err
}

func (q *fakeQueue) Deliveries(_ context.Context, job string) ([]tasks.Delivery, error) {
	return slices.DeleteFunc(
		slices.Clone(q.deliveries),
		func(d tasks.Delivery) bool { return job != "" && d.JobID != job },
	), nil
}

func (q *fakeQueue) Redeliver(ctx context.Context, id string) (tasks.Record, error) {
	return q.Job(ctx, id)
}

// Cancel ends a job with the event that the real queue sends.
func (q *fakeQueue) Cancel(_ context.Context, id string) (tasks.Record, error) {
	rec, err := q.Job(context.Background(), id)
	if err != nil {
		return rec, err
	}

	if rec.Status.Terminal() {
		return rec, fault.Errorf(fault.JobFinished, "the job is %s", rec.Status)
	}
	q.emit(
		id,
		presswork.Event{
			Type:     presswork.EventCancelled,
			Status:   presswork.Cancelled,
			Stage:    presswork.StageDone,
			Progress: rec.Progress,
		},
	)

	return q.Job(context.Background(), id)
}

// last returns the last submission.
func (q *fakeQueue) last() tasks.Submission {
	q.mu.Lock()
	defer q.mu.Unlock()

	return q.submissions[len(q.submissions)-1]
}

// count returns the number of submissions.
func (q *fakeQueue) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()

	return len(q.submissions)
}
