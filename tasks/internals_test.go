package tasks

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/asynqext"
	"presswork/tasks/record"
)

// Internals for the tests of package tasks_test.
var (
	IdempotencyKey = idempotencyKey
	JobKey         = record.JobKey
	LogKey         = record.LogKey
	PackedKey      = record.PackedKey
	OwnerKey       = record.OwnerKey
	WebhookTask    = webhookTask
	PublishScript  = publishScript
	Unpack         = record.Unpack
)

const (
	LedgerKey     = record.LedgerKey
	CancelChannel = record.CancelChannel
	WorkersKey    = workersKey
	PackAfter     = record.PackAfter
)

// Accept writes the record of a job without its task, as if the process died in the middle of Submit.
func (c *Client) Accept(ctx context.Context, s Submission) error {
	_, _, err := c.accept(ctx, s)
	return err
}

// Begin begins a run that never ends, as if its process died.
func (c *Client) Begin(t testing.TB, id string) {
	t.Helper()

	if _, err := c.records.Begin(t.Context(), id, ConvertPDF.Name, "w"); err != nil {
		t.Fatal(err)
	}
}

// Enqueue puts a task that belongs to no job on its queue.
func (c *Client) Enqueue(ctx context.Context, id string, t Task) error {
	return c.outbox.enqueue(ctx, asynqext.Turn{Owner: plainOwner}, id, t)
}

// Requeue puts the task of a small conversion on the queue again.
func (c *Client) Requeue(ctx context.Context, id string) error {
	task, err := ConvertPDF.Task(Convert{})
	if err != nil {
		return err
	}

	return c.Enqueue(ctx, id, task)
}

// LastPoll returns when a queue was last polled.
func (s *Server) LastPoll(q Queue) time.Time { return s.dequeuer.LastPolls()[q] }

// ProgressAt is Progress at this time instead of now.
func (s *Server) ProgressAt(at time.Time) error { return s.progressAt(at) }

// Running returns the number of running handlers.
func (s *Server) Running() int { return len(s.active.allRuns()) }

// SweepLedger checks the open jobs that are due by now plus ahead.
func (s *Server) SweepLedger(ctx context.Context, ahead time.Duration) error {
	return s.sweepLedger(ctx, ahead)
}

// Pack packs the records of ended jobs that are due by now plus ahead.
func (s *Server) Pack(ctx context.Context, ahead time.Duration) error { return s.pack(ctx, ahead) }

// SweepGhosts compares the lists of a queue. before are the suspects of the previous sweep.
func (s *Server) SweepGhosts(ctx context.Context, q Queue, before []string) ([]string, error) {
	return asynqext.Reconcile(ctx, s.rdb, q, before)
}

// Watchers returns the number of open watches.
func (c *Client) Watchers() int { return int(c.relay.Stats().Watchers) }

// Taking reports whether the server still takes tasks.
func (s *Server) Taking() bool { return s.taking.Err() == nil }

// StopsTaking returns a channel that is closed when the server stops taking tasks.
func (s *Server) StopsTaking() <-chan struct{} { return s.taking.Done() }

// AddHook adds a hook after those of the server.
func (s *Server) AddHook(h redis.Hook) { s.rdb.AddHook(h) }

// AddHook adds a hook after those of the client.
func (c *Client) AddHook(h redis.Hook) { c.rdb.AddHook(h) }

// Keys of Asynq v0.26.
func AsynqKey(q Queue, part string) string { return "asynq:{" + string(q) + "}:" + part }
func AsynqTask(q Queue, id string) string  { return AsynqKey(q, "t:") + id }
func AsynqPending(q Queue) string          { return AsynqKey(q, "pending") }
func AsynqActive(q Queue) string           { return AsynqKey(q, "active") }
func AsynqLease(q Queue) string            { return AsynqKey(q, "lease") }
