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
	OfferScript    = offerScript
	Unpack         = record.Unpack
)

const (
	LedgerKey     = record.LedgerKey
	CancelChannel = record.CancelChannel
	WorkersKey    = workersKey
	PackAfter     = record.PackAfter
)

// Accept is the first half of Submit, as when the process dies after it.
func (c *Client) Accept(ctx context.Context, s Submission) error {
	_, _, err := c.accept(ctx, s)
	return err
}

// Begin is the beginning of a run, as when its process dies after it.
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

// LastLook returns when a queue was last polled.
func (s *Server) LastLook(q Queue) time.Time { return s.dequeuer.LastPolls()[q] }

// ProgressAt is Progress at another time.
func (s *Server) ProgressAt(at time.Time) error { return s.progress(at) }

// Running counts the handlers at work.
func (s *Server) Running() int { return len(s.active.allRuns()) }

// SweepLedger is the sweeper's look at the open jobs, at a time from now.
func (s *Server) SweepLedger(ctx context.Context, ahead time.Duration) error {
	return s.sweepLedger(ctx, ahead)
}

// Pack packs the records of ended jobs that are due by now plus ahead.
func (s *Server) Pack(ctx context.Context, ahead time.Duration) error { return s.pack(ctx, ahead) }

// SweepGhosts is the sweeper's comparison of a queue's lists.
func (s *Server) SweepGhosts(ctx context.Context, q Queue, before []string) ([]string, error) {
	return asynqext.Reconcile(ctx, s.rdb, q, before)
}

// Watchers counts the open watches.
func (c *Client) Watchers() int { return int(c.relay.Stats().Watchers) }

// Taking reports whether the server still takes tasks.
func (s *Server) Taking() bool { return s.taking.Err() == nil }

// StopsTaking returns a channel that is closed when the server stops taking tasks.
func (s *Server) StopsTaking() <-chan struct{} { return s.taking.Done() }

// Active counts the runs of this process.
func (s *Server) Active() int { return len(s.active.allRuns()) }

// AddHook adds a hook behind all hooks of the server.
func (s *Server) AddHook(h redis.Hook) { s.rdb.AddHook(h) }

// AddHook adds a hook behind all hooks of the client.
func (c *Client) AddHook(h redis.Hook) { c.rdb.AddHook(h) }

// Asynq's keys, by their names of v0.26.
func AsynqKey(q Queue, part string) string { return "asynq:{" + string(q) + "}:" + part }
func AsynqTask(q Queue, id string) string  { return AsynqKey(q, "t:") + id }
func AsynqPending(q Queue) string          { return AsynqKey(q, "pending") }
func AsynqActive(q Queue) string           { return AsynqKey(q, "active") }
func AsynqLease(q Queue) string            { return AsynqKey(q, "lease") }
