package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/record"
)

// Failed jobs are dead letters, unless their caller caused the failure, until an operator retries or dismisses them. A
// dead letter keeps its task, and its sources stay in the store (see Client.Needed). It takes up to InlineLimit bytes
// and an index entry of about 100 bytes. Completed jobs take nothing.

// maxDeadLetters is the largest number of dead letters. The oldest are dropped first. With tasks of InlineLimit bytes
// they take 32 MB of Redis.
const maxDeadLetters = 2000

// deadTask is the stored form of a dead letter's Task.
type deadTask struct {
	// The fields are those of Task.
	Kind    string          `json:"kind"`
	Queue   Queue           `json:"queue"`
	Retries int             `json:"retries"`
	Timeout time.Duration   `json:"timeout"` // ns
	Payload json.RawMessage `json:"payload"`
}

// addDeadLetter makes a failed job a dead letter, and drops the oldest dead letters beyond maxDeadLetters. It may
// be repeated. A job that was already retried does not become a dead letter again, because its payload is gone.
func (o *outbox) addDeadLetter(ctx context.Context, id string) error {
	task, err := o.records.Task(ctx, id)
	if err != nil || task.Kind == "" {
		return err
	}

	b, err := json.Marshal(deadTask{task.Kind, task.Queue, task.Retries, task.Timeout, task.Payload})
	if err != nil {
		return err
	}
	var count *redis.IntCmd

	_, err = o.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Set(ctx, deadTaskKey(id), b, o.deadTTL)
		p.ZAdd(ctx, deadKey, redis.Z{Member: id})
		count = p.ZCard(ctx, deadKey)

		return nil
	})
	if err != nil {
		return record.Unavailable(err)
	}
	// Delete the payload last: a repeated call needs it.
	if err := o.rdb.Del(ctx, record.PayloadKey(id)).Err(); err != nil {
		return record.Unavailable(err)
	}

	if count.Val() <= maxDeadLetters {
		return nil
	}

	oldest, err := o.rdb.ZRange(ctx, deadKey, 0, count.Val()-maxDeadLetters-1).Result()
	if err != nil {
		return record.Unavailable(err)
	}

	return removeDeadLetters(ctx, o.rdb, oldest...)
}

// removeDeadLetters removes jobs from the dead letters.
func removeDeadLetters(ctx context.Context, rdb redis.UniversalClient, ids ...string) error {
	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, id := range ids {
			p.Del(ctx, deadTaskKey(id))
			p.ZRem(ctx, deadKey, id)
		}

		return nil
	})
	if err != nil {
		return record.Unavailable(err)
	}

	return nil
}

// Retry runs a job at once that waits for its next attempt. From a failed job it creates a new job, because the
// end of a job never changes. The new job has the owner, webhook and task of the old one. A dead letter becomes
// one job, however often Retry is called. Retry returns the job that runs then.
//
// Errors:
//   - NotFound, QueueFull, QueueUnavailable
//   - JobFinished: the job has completed or was cancelled
//   - InvalidOption: the job runs or waits for its turn
func (c *Client) Retry(ctx context.Context, id string) (Record, error) {
	rec, _, err := c.retry(ctx, id, Changes{})

	return rec, err
}

// Changes are what a retry changes of a dead letter.
type Changes struct {
	// Theme and ContentType are those of the new job.
	Theme, ContentType string
	// Task replaces the task.
	Task Task
}

// RetryChanged retries a dead letter with another task. Errors: those of Retry, and JobFinished when the job was
// retried already.
func (c *Client) RetryChanged(ctx context.Context, id string, changes Changes) (Record, error) {
	rec, created, err := c.retry(ctx, id, changes)
	if err == nil && !created {
		err = fault.Errorf(fault.JobFinished,
			"the job runs already, or it was retried as %s without these changes", rec.ID)
	}

	return rec, err
}

// retry is Retry with changes, if changes has a task. created reports that rec is a new job. An open job is run as
// it is, so it cannot be changed.
func (c *Client) retry(ctx context.Context, id string, changes Changes) (rec Record, created bool, err error) {
	job, err := c.records.Find(ctx, id)
	if err != nil {
		return Record{}, false, err
	}

	switch {
	case !job.Status.Terminal() && changes.Task.Kind != "":
		return job.Record, false, nil
	case !job.Status.Terminal():
		return job.Record, false, c.runNow(job)
	case job.Status != presswork.Failed:
		return job.Record, false, fault.Errorf(
			fault.JobFinished,
			"the job is %s: there is nothing to retry",
			job.Status,
		)
	}

	// Every retry of the same dead letter gets the same id, so that it becomes one job.
	newID, _, err := c.setOnce(ctx, retriedKey(id), NewID(), c.records.TTL())
	if err != nil {
		return Record{}, false, err
	}

	if existing, err := c.records.Find(ctx, newID); err == nil {
		return existing.Record, false, nil
	} else if fault.CodeOf(err) != fault.NotFound {
		return Record{}, false, err
	}

	task, err := c.DeadTask(ctx, id)
	if err != nil {
		return job.Record, false, err
	}

	if changes.Task.Kind == "" {
		changes = Changes{Theme: job.Theme, ContentType: job.ContentType, Task: task}
	}

	newJob, replayed, err := c.Submit(ctx, Submission{
		ID:          newID,
		Kind:        job.Kind,
		Theme:       changes.Theme,
		Owner:       job.Owner,
		Filename:    job.Filename,
		ContentType: changes.ContentType,
		WebhookURL:  job.WebhookURL,
		RequestID:   job.RequestID,
		TraceParent: job.TraceParent,
		Task:        changes.Task,
	})
	if err != nil {
		return job.Record, false, err
	}

	if err := removeDeadLetters(ctx, c.rdb, id); err != nil {
		c.log.Warn("a retried job is still a dead letter", "job_id", id, "err", err)
	}

	return newJob, !replayed, nil
}

// DeadTask returns the task of a dead letter. Errors: JobFinished when the job has no task, QueueUnavailable, a
// task that cannot be decoded.
func (c *Client) DeadTask(ctx context.Context, id string) (task Task, err error) {
	b, err := c.rdb.Get(ctx, deadTaskKey(id)).Bytes()
	if errors.Is(err, redis.Nil) {
		return Task{}, fault.Errorf(fault.JobFinished,
			"the task of this job is not kept: it was dismissed, or the caller caused the failure; submit it again")
	}

	if err != nil {
		return Task{}, record.Unavailable(err)
	}

	var t deadTask
	if err := json.Unmarshal(b, &t); err != nil {
		return Task{}, fmt.Errorf("task of dead letter %s: %w", id, err)
	}

	return Task{Kind: t.Kind, Queue: t.Queue, Payload: t.Payload, Retries: t.Retries, Timeout: t.Timeout}, nil
}

// runNow queues the task of an open job that waits for its next try. Errors: InvalidOption when the task runs,
// waits for its turn or is not on the queue, QueueUnavailable.
func (c *Client) runNow(job *record.Stored) error {
	err := c.inspector.RunTask(string(job.Queue), job.ID)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, asynq.ErrTaskNotFound), errors.Is(err, asynq.ErrQueueNotFound):
		return fault.Errorf(
			fault.InvalidOption,
			"the job has no task on its queue; the sweeper queues it within a minute",
		)
	}

	info, ierr := c.inspector.GetTaskInfo(string(job.Queue), job.ID)
	if ierr == nil && (info.State == asynq.TaskStateActive || info.State == asynq.TaskStatePending) {
		return fault.Errorf(fault.InvalidOption, "the job is %s already", map[asynq.TaskState]string{
			asynq.TaskStateActive: "running", asynq.TaskStatePending: "waiting its turn",
		}[info.State])
	}

	return record.Unavailable(fmt.Errorf("run task %s now: %w", job.ID, err))
}

// Dismiss removes a failed job from the dead letters. The job stays failed and its task is deleted. Errors:
// NotFound when it is not a dead letter, QueueUnavailable.
func (c *Client) Dismiss(ctx context.Context, id string) error {
	if _, err := c.rdb.ZScore(ctx, deadKey, id).Result(); errors.Is(err, redis.Nil) {
		return fault.Errorf(fault.NotFound, "job %q is not a dead letter", id)
	} else if err != nil {
		return record.Unavailable(err)
	}

	return removeDeadLetters(ctx, c.rdb, id)
}

// Needed reports whether the sources of a job may still be read. The job reads them while it is open, and a retry reads
// them again. Errors: QueueUnavailable.
func (c *Client) Needed(ctx context.Context, id string) (bool, error) {
	// A retried job may fail and be retried again: follow at most 16 retries.
	for range 16 {
		job, err := c.records.Read(ctx, id)
		if err != nil || job == nil {
			return false, err
		}

		dead, retriedAs, err := c.deadLetter(ctx, id)
		if err != nil {
			return false, err
		}

		switch {
		case !job.Status.Terminal(), dead:
			return true, nil
		case retriedAs == "":
			return false, nil
		}
		id = retriedAs
	}

	return false, nil
}

// deadLetter reports whether a job is a dead letter, and returns the id of the job that a retry made of it, "" for
// none.
func (c *Client) deadLetter(ctx context.Context, id string) (dead bool, retriedAs string, err error) {
	var score *redis.FloatCmd
	var retried *redis.StringCmd

	_, err = c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		score, retried = p.ZScore(ctx, deadKey, id), p.Get(ctx, retriedKey(id))
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, "", record.Unavailable(err)
	}

	return score.Err() == nil, retried.Val(), nil
}
