package api

import (
	"context"
	"encoding/json"

	"presswork/tasks"
)

// Queue is the wall between HTTP and the task queue. tasks.Client is the one
// in production.
type Queue interface {
	// Reserve is the first half of Submit, for what is stored under the job's id
	// before it is submitted; see tasks.Client. Errors: as Submit.
	Reserve(ctx context.Context, s *tasks.Submission) (rec tasks.Record, replayed bool, err error)
	// Submit accepts a job for good: once it returns nil the job survives any
	// crash. Replayed reports whether the idempotency key was known and rec is the
	// earlier job. Errors: IdempotencyConflict, QueueFull, QueueUnavailable.
	Submit(ctx context.Context, s tasks.Submission) (rec tasks.Record, replayed bool, err error)
	// Replay looks an idempotency key up before the work of a submission is
	// done. Errors: IdempotencyConflict, QueueUnavailable.
	Replay(ctx context.Context, owner, key, fingerprint string) (rec tasks.Record, found bool, err error)
	// Ask has a worker run a task that belongs to no job, and waits for its answer. Callers
	// that ask with the same key at the same time share one task; "" shares with none.
	// Errors: the worker's, QueueFull, QueueUnavailable, the cause of ctx.
	Ask(ctx context.Context, key string, t tasks.Task) (json.RawMessage, error)
	// Workers counts the worker processes that are alive. Errors: QueueUnavailable.
	Workers(ctx context.Context) (int, error)
	// Job returns a job, with its queue position. Errors: NotFound, QueueUnavailable.
	Job(ctx context.Context, id string) (tasks.Record, error)
	// Jobs lists an owner's jobs, newest first. Errors: InvalidOption (a bad
	// cursor), QueueUnavailable.
	Jobs(ctx context.Context, owner string, q tasks.Query) (tasks.Page, error)
	// Cancel ends a job that is not terminal. Errors: NotFound, JobFinished
	// (with the record as it is), QueueUnavailable.
	Cancel(ctx context.Context, id string) (tasks.Record, error)
	// Watch follows a job's events; see tasks.Watch. since < 0 means from now.
	// Errors: NotFound, QueueUnavailable.
	Watch(ctx context.Context, id string, since int64) (*tasks.Watch, error)

	// Fleet returns how workers and queues are. Errors: QueueUnavailable.
	Fleet(ctx context.Context) (tasks.Fleet, error)
	// Search lists jobs of every owner, newest first. Errors: as Jobs.
	Search(ctx context.Context, q tasks.Search) (tasks.Page, error)
	// Inspect returns a job of any owner with its history. Errors: NotFound,
	// QueueUnavailable.
	Inspect(ctx context.Context, id string) (tasks.Inspection, error)
	// Retry tries a job again, and returns the job that runs then; see tasks.Client.
	// Errors: NotFound, JobFinished, InvalidOption, QueueFull, QueueUnavailable.
	Retry(ctx context.Context, id string) (tasks.Record, error)
	// Dismiss takes a failed job from the dead letters. Errors: NotFound,
	// QueueUnavailable.
	Dismiss(ctx context.Context, id string) error
}
